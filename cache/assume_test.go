package cache

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAssumeDropsTheOldest holds what is assumed to a plain reckoning: a block
// is as young as the last turn that went through it, and of those with none
// behind them the oldest goes.
func TestAssumeDropsTheOldest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := NewIndex(size, Options{})
		h := join(t, x, "w")
		room := rapid.IntRange(1, 8).Draw(rt, "room")
		used := map[string]int{} // by the block's prefix
		for clock := range rapid.IntRange(1, 30).Draw(rt, "turns") {
			sent := rapid.SliceOfN(rapid.Uint32Range(1, 3), 1, 6).Draw(rt, "sent")
			x.Assume(h, chainOf(x, sent...), room)
			for i := range min(len(sent), room) {
				used[fmt.Sprint(sent[:i+1])] = clock
			}
			for len(used) > room {
				delete(used, oldestLeaf(used))
			}
			verify(t, x)
			deep := 0
			for deep < len(sent) && has(used, sent[:deep+1]) {
				deep++
			}
			if got := x.Overlap(nil, chainOf(x, sent...)); len(got) != 1 || got[0].Blocks != deep {
				rt.Fatalf("%v: %+v, want %d blocks", sent, got, deep)
			}
			if n := x.holders[h.place()].cached[0]; n != len(used) {
				rt.Fatalf("%d blocks, want %d", n, len(used))
			}
		}
	})
}

func has(used map[string]int, prefix []uint32) bool {
	_, ok := used[fmt.Sprint(prefix)]
	return ok
}

// oldestLeaf is the prefix that goes first.
func oldestLeaf(used map[string]int) (oldest string) {
	for p := range used {
		inner := false
		for q := range used {
			inner = inner || strings.HasPrefix(q, strings.TrimSuffix(p, "]")+" ")
		}
		if !inner && (oldest == "" || used[p] < used[oldest]) {
			oldest = p
		}
	}
	return oldest
}
