package dialect

import (
	"strconv"
	"time"

	"github.com/agentinfer/dyn/server/dialect/tape"
)

// Bounds and default of leases. The API's own values are 5m and 1h.
const (
	leaseDefault = 5 * time.Minute
	leaseMost    = 24 * time.Hour
	leasesMost   = 64 // in one turn; the API itself allows 4
)

// lease returns the time for which an object's cache_control asks, or 0.
func (r *reader) lease(object tape.Value) time.Duration {
	ask := r.field(object, "cache_control", tape.Object)
	if ask.Kind() == tape.None {
		return 0
	}
	if r.asks++; r.asks > leasesMost {
		r.fail(ask, "more than %d of them", leasesMost)
	}
	ttl := r.text(ask, "ttl")
	if ttl == "" {
		return leaseDefault
	}
	d, ok := Time(ttl)
	if !ok {
		r.fail(ask.Key("ttl"), "must be a time such as 5m, 1h or 90s, not %s", cut(ttl))
	}
	return d
}

// Time reads how long a lease is asked for: a whole number of seconds, minutes
// or hours, as 90s, 5m or 1h. A day is the most that there is.
func Time(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour}[s[len(s)-1]]
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 31)
	if err != nil || unit == 0 || n == 0 {
		return 0, false
	}
	return min(time.Duration(n)*unit, leaseMost), true
}
