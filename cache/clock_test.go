package cache

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/wall"
)

// TestClockJumps: an index whose clock on the wall is set by years, again and
// again, believes what one believes whose clock is not: what is expected runs
// out as late, and blocks whose parents come late are kept as long.
func TestClockJumps(t *testing.T) {
	now := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		var by time.Duration
		even := NewIndex(size, Options{Now: func() time.Time { return now }})
		jumps := NewIndex(size, Options{Now: func() time.Time { return wall.Step(now, by) }})
		both := []*Index{even, jumps}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			by = time.Duration(rapid.IntRange(-100_000, 1_000_000).Draw(t, "hours")) * time.Hour
			chain := chainOf(even, rapid.SliceOfN(rapid.Uint32Range(0, 1), 0, 5).Draw(t, "chain")...)
			what, ev, room := rapid.IntRange(0, 3).Draw(t, "what"), drawEvent(t), rapid.IntRange(1, 6).Draw(t, "room")
			seen := [2]string{}
			for i, x := range both {
				h, _ := x.Join("w")
				switch what {
				case 0:
					x.Expect(h, chain, ExpectTTL)
				case 1:
					x.Assume(h, chain, room)
				default:
					x.Apply(h, ev)
				}
				seen[i] = fmt.Sprint(x.Overlap(nil, chain), x.Stats().Held, x.Cached(h))
			}
			if seen[0] != seen[1] {
				t.Fatalf("the clock set by %v: %s, want %s", by, seen[1], seen[0])
			}
		}
	})
}
