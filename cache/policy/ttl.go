package policy

import "time"

// keepFor is how long the caches of public APIs keep what is not used, unless
// told otherwise.
const keepFor = 5 * time.Minute

// ttl is LRU that keeps nothing longer.
type ttl struct{ scored }

// Lapsed reports whether a run's time is over.
func (ttl) Lapsed(r *Run, now time.Duration) bool { return now-r.Last > keepFor }
