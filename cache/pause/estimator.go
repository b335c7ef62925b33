package pause

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Class is what an agent is away for.
type Class string

// The classes.
const (
	Tool     Class = "tool"
	Human    Class = "human"
	Subagent Class = "subagent"
)

// Never is the pause of an agent that did not come back.
const Never time.Duration = -1

// Key is what pauses are alike by. A wider kind leaves Tenant empty, then Tool.
type Key struct {
	Class  Class  `json:"class"`
	Tool   string `json:"tool,omitempty"`
	Tenant string `json:"tenant,omitempty"`
}

// The bounds, and how fast a key's own pauses count more than the wider kind's.
const (
	mostKeys  = 1024
	shrink    = 20
	rankMost  = 400 // ranks of each class that are remembered
	rankLeast = 20  // below so many they say nothing
)

// Estimator learns pauses. New makes it.
type Estimator struct {
	kinds map[Key]*kind
	ranks map[Class]*ring
	clock uint64 // calls so far, for what was used last
}

type kind struct {
	spread
	used uint64
}

// New returns an estimator that has learnt nothing.
func New() *Estimator {
	return &Estimator{kinds: map[Key]*kind{}, ranks: map[Class]*ring{}}
}

// ways are a key and the wider kinds that it belongs to, the widest first.
func ways(k Key) (all [3]Key, n int) {
	add := func(one Key) {
		if n == 0 || all[n-1] != one {
			all[n] = one
			n++
		}
	}
	add(Key{Class: k.Class})
	add(Key{Class: k.Class, Tool: k.Tool})
	add(k)
	return all, n
}

// Observe learns one pause: how long it was, or Never.
func (e *Estimator) Observe(k Key, d time.Duration) {
	r := e.ranks[k.Class]
	if r == nil {
		r = &ring{}
		e.ranks[k.Class] = r
	}
	if d >= 0 {
		r.add(1 - e.beyond(k, at(d)))
	} else {
		r.add(1)
	}
	all, n := ways(k)
	for _, one := range all[:n] {
		e.kind(one).add(d)
	}
}

// kind is what is known of a key, which is nothing where it is new.
func (e *Estimator) kind(k Key) *kind {
	e.clock++
	x := e.kinds[k]
	if x == nil {
		if len(e.kinds) >= mostKeys {
			e.forget()
		}
		x = &kind{}
		e.kinds[k] = x
	}
	x.used = e.clock
	return x
}

// forget lets go of the sixteenth of the keys that was used longest ago.
func (e *Estimator) forget() {
	keys := make([]Key, 0, len(e.kinds))
	for k := range e.kinds {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(e.kinds[a].used, e.kinds[b].used) })
	for _, k := range keys[:max(len(keys)/16, 1)] {
		delete(e.kinds, k)
	}
}

// beyond is the probability that a pause is not over at a place on the steps.
func (e *Estimator) beyond(k Key, place float64) float64 {
	p := guess(k.Class, until(place))
	all, n := ways(k)
	for _, one := range all[:n] {
		if x := e.kinds[one]; x != nil {
			own := x.N / (x.N + shrink)
			p = own*x.beyond(place) + (1-own)*p
		}
	}
	return p
}

// Returns is the probability that an agent is back within some time from now
// that has been away for so long.
func (e *Estimator) Returns(k Key, elapsed, within time.Duration) float64 {
	elapsed = max(elapsed, 0)
	still := e.beyond(k, at(elapsed))
	if still <= 1e-9 || within <= 0 {
		return 0
	}
	return min(max(1-e.beyond(k, at(elapsed+within))/still, 0), 1)
}

// By is how long after its beginning a pause is over with a probability, of one
// that is not over after elapsed. It is until the last step where the pause may
// well never end.
func (e *Estimator) By(k Key, elapsed time.Duration, share float64) time.Duration {
	share = min(max(share, 0), 1)
	if math.IsNaN(share) {
		share = 1
	}
	if r := e.ranks[k.Class]; r != nil {
		share = r.share(share)
	}
	low := at(max(elapsed, 0))
	left := e.beyond(k, low) * (1 - share)
	high := float64(bins)
	if e.beyond(k, high) > left {
		return max(until(high), elapsed)
	}
	for range 30 { // to a ten-millionth of a step
		if mid := (low + high) / 2; e.beyond(k, mid) > left {
			low = mid
		} else {
			high = mid
		}
	}
	return max(until(high), elapsed)
}

// guess is the share of pauses that are not over after a time, where nothing
// was seen: log-normal for tools (median 12 s, as seen through whole turns of
// agents), longer for people and for subagents.
func guess(c Class, d time.Duration) float64 {
	mu, sigma := 2.49, 1.21
	switch c {
	case Human:
		mu, sigma = 4.84, 1.95 // p50 127 s, p90 1,543 s
	case Subagent:
		mu, sigma = 4.1, 1.4
	}
	if d <= 0 {
		return 1
	}
	return math.Erfc((math.Log(d.Seconds())-mu)/(sigma*math.Sqrt2)) / 2
}

// ring is the shares at which the last pauses of a class were told before they
// were learnt.
type ring struct {
	Ranks []float64 `json:"ranks"`
	Next  int       `json:"next"`

	sorted []float64
}

func (r *ring) add(rank float64) {
	if len(r.Ranks) < rankMost {
		r.Ranks = append(r.Ranks, rank)
	} else {
		r.Next %= rankMost
		old, _ := slices.BinarySearch(r.sorted, r.Ranks[r.Next])
		r.sorted = slices.Delete(r.sorted, old, old+1)
		r.Ranks[r.Next] = rank
		r.Next++
	}
	i, _ := slices.BinarySearch(r.sorted, rank)
	r.sorted = slices.Insert(r.sorted, i, rank)
}

// share is the share to ask the histograms for so that as many of the last
// pauses were within it as is wanted.
func (r *ring) share(want float64) float64 {
	n := len(r.sorted)
	if n < rankLeast {
		return want
	}
	return r.sorted[min(max(int(math.Ceil(want*float64(n+1)))-1, 0), n-1)]
}

// memory is what an estimator has learnt, as JSON.
type memory struct {
	Version int             `json:"version"`
	Kinds   []kindMemory    `json:"kinds"`
	Ranks   map[Class]*ring `json:"ranks"`
}

type kindMemory struct {
	Key
	spread
	Used uint64 `json:"used"`
}

// MarshalJSON is what the estimator has learnt.
func (e *Estimator) MarshalJSON() ([]byte, error) {
	m := memory{Version: 1, Ranks: e.ranks, Kinds: []kindMemory{}}
	for k, x := range e.kinds {
		m.Kinds = append(m.Kinds, kindMemory{k, x.spread, x.used})
	}
	slices.SortFunc(m.Kinds, func(a, b kindMemory) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Tenant, b.Tenant))
	})
	return json.Marshal(m)
}

// UnmarshalJSON takes what another one has learnt in the place of what this one
// has. It is left as it was when the text is not such a memory.
func (e *Estimator) UnmarshalJSON(b []byte) error {
	var m memory
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("memory of pauses: %w", err)
	}
	if m.Version != 1 || len(m.Kinds) > mostKeys {
		return fmt.Errorf("memory of pauses: version %d with %d kinds; this is for version 1 and up to %d", m.Version, len(m.Kinds), mostKeys)
	}
	n := New()
	for i := range m.Kinds {
		x := &m.Kinds[i]
		if !x.sound() {
			return fmt.Errorf("memory of pauses: %v counts what cannot be counted", x.Key)
		}
		n.kinds[x.Key] = &kind{x.spread, x.Used}
		n.clock = max(n.clock, x.Used)
	}
	for c, r := range m.Ranks {
		if r == nil || len(r.Ranks) > rankMost || r.Next < 0 || slices.ContainsFunc(r.Ranks, func(x float64) bool { return !(x >= 0 && x <= 1) }) {
			return fmt.Errorf("memory of pauses: the ranks of %q are none", c)
		}
		r.sorted = slices.Sorted(slices.Values(r.Ranks))
		n.ranks[c] = r
	}
	*e = *n
	return nil
}

// sound reports whether a histogram can be one.
func (s *spread) sound() bool {
	sum := s.Never
	ok := s.Never >= 0
	for _, x := range s.Bins {
		ok = ok && x >= 0
		sum += x
	}
	return ok && s.N >= 0 && math.Abs(sum-s.N) <= 1e-6*(1+s.N) && s.N < 1e12
}
