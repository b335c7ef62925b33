package dialect

import (
	"math"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// Bounds and default of leases. The API's own values are 5m and 1h.
const (
	leaseDefault = 5 * time.Minute
	leaseMost    = 24 * time.Hour
	leasesMost   = 64 // in one turn; the API itself allows 4
)

// hints reads what all three dialects may carry beside their own fields: the
// nvext object, the salt, the latency class, and the headers that override
// the body's priorities field by field.
func (r *reader) hints(t *turn.Turn, root tape.Value, header func(string) string) {
	ext := r.field(root, "nvext", tape.Object)
	agent := r.field(ext, "agent_hints", tape.Object)
	t.Hints = turn.Hints{
		Priority: r.hint(agent, "priority", math.MinInt32),
		Strict:   r.hint(agent, "strict_priority", 0),
		Lease:    r.lease(ext),
	}
	for _, v := range []tape.Value{root, ext, agent} {
		if r.text(v, "latency_class") == "batch" {
			t.Hints.Batch = true
		}
	}
	override(&t.Hints.Priority, header("x-dynamo-request-priority"), math.MinInt32)
	override(&t.Hints.Strict, header("x-dynamo-request-strict-priority"), 0)
	if t.Salt = r.text(ext, "cache_salt"); t.Salt == "" {
		t.Salt = r.text(root, "cache_salt")
	}
}

func (r *reader) hint(v tape.Value, key string, low int64) int {
	if n := r.whole(v, key, low, math.MaxInt32); n != nil {
		return int(*n)
	}
	return 0
}

// override sets n to a header's number; a header that is none is ignored, as
// proxies add what they like.
func override(n *int, header string, low int) {
	if m, err := strconv.ParseInt(header, 10, 32); err == nil && int(m) >= low {
		*n = int(m)
	}
}

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
	d, ok := duration(ttl)
	if !ok {
		r.fail(ask.Key("ttl"), "must be a time such as 5m, 1h or 90s, not %s", cut(ttl))
	}
	return min(d, leaseMost)
}

// duration reads a whole number of seconds, minutes or hours.
func duration(s string) (time.Duration, bool) {
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour}[s[len(s)-1]]
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 31)
	if err != nil || unit == 0 || n == 0 {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// sampling reads the fields that the dialects share.
func (r *reader) sampling(root tape.Value) turn.Sampling {
	s := turn.Sampling{
		Temperature: r.number(root, "temperature", 0, 2),
		TopP:        r.number(root, "top_p", 0, 1),
		Seed:        r.whole(root, "seed", math.MinInt64, math.MaxInt64),
		Presence:    r.number(root, "presence_penalty", -2, 2),
		Frequency:   r.number(root, "frequency_penalty", -2, 2),
	}
	if k := r.whole(root, "top_k", -1, math.MaxInt32); k != nil {
		n := int(*k)
		s.TopK = &n
	}
	return s
}

// stops reads stop strings, a list or a single one; empty ones stop nothing
// and are left out.
func (r *reader) stops(root tape.Value, key string) []string {
	v := root.Key(key)
	if v.Kind() == tape.String {
		if s := v.Text(); s != "" {
			return []string{s}
		}
		return nil
	}
	var stops []string
	for _, e := range r.field(root, key, tape.Array).Elements() {
		if e.Kind() != tape.String {
			r.fail(e, "must be a string, not %s", kindName(e.Kind()))
			return nil
		}
		if s := e.Text(); s != "" {
			stops = append(stops, s)
		}
	}
	return stops
}
