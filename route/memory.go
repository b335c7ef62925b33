package route

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// memory is what a bandit has learnt, as JSON.
type memory struct {
	Version int                `json:"version"`
	Clock   uint64             `json:"outcomes"`
	Arms    []armMemory        `json:"arms"`
	Lines   map[string]*linear `json:"workers"`
	Usual   map[string]float64 `json:"ms_per_token"`
}

type armMemory struct {
	Worker string  `json:"worker"`
	Prefix uint64  `json:"prefix,string"`
	Won    float64 `json:"won"`
	Lost   float64 `json:"lost"`
	Used   uint64  `json:"used"`
}

// MarshalJSON is what the bandit has learnt. What it waits to hear about is
// left out.
func (t *thompson) MarshalJSON() ([]byte, error) {
	m := memory{Version: 1, Clock: t.clock, Lines: t.lines, Usual: t.usual, Arms: []armMemory{}}
	for key, a := range t.arms {
		m.Arms = append(m.Arms, armMemory{key.worker, key.prefix, a.won, a.lost, a.used})
	}
	slices.SortFunc(m.Arms, func(a, b armMemory) int {
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Prefix, b.Prefix))
	})
	return json.Marshal(m)
}

// UnmarshalJSON takes what another one has learnt in the place of what this
// one has. It is left as it was when the text is not such a memory.
func (t *thompson) UnmarshalJSON(b []byte) error {
	var m memory
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("memory of thompson: %w", err)
	}
	if m.Version != 1 || len(m.Arms) > mostArms {
		return fmt.Errorf("memory of thompson: version %d with %d arms; this is for version 1 and up to %d", m.Version, len(m.Arms), mostArms)
	}
	arms := map[armKey]*arm{}
	for _, a := range m.Arms {
		if !count(a.Won) || !count(a.Lost) {
			return fmt.Errorf("memory of thompson: an arm of %q won %v and lost %v", a.Worker, a.Won, a.Lost)
		}
		arms[armKey{a.Worker, a.Prefix}] = &arm{a.Won, a.Lost, a.Used}
	}
	for worker, l := range m.Lines {
		if l == nil {
			return fmt.Errorf("memory of thompson: nothing about %q", worker)
		}
		if _, _, ok := l.guess([features]float64{1}); !ok {
			return fmt.Errorf("memory of thompson: what is said of %q is no regression", worker)
		}
	}
	for key, ms := range m.Usual {
		if !count(ms) {
			return fmt.Errorf("memory of thompson: %v ms per token at %q", ms, key)
		}
	}
	t.arms, t.lines, t.usual, t.clock = arms, m.Lines, m.Usual, m.Clock
	if t.lines == nil {
		t.lines = map[string]*linear{}
	}
	if t.usual == nil {
		t.usual = map[string]float64{}
	}
	return nil
}

// count reports whether a number can be how often something was.
func count(x float64) bool { return x >= 0 && x < math.MaxFloat64/2 }
