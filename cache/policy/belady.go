package policy

import "time"

// belady goes by the next use, the furthest first. A run's next use is never
// after that of what lies behind it, so this is Belady's rule for blocks, of
// which no policy finds more (IBM Systems Journal 5, 1966).
func belady(r *Run, _ time.Duration) float64 { return -float64(r.Next) }
