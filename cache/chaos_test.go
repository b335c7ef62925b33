package cache

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// drawEvent is any event, sense or not: few hashes and tokens, so that they
// collide, change their meaning, name themselves as parents and are removed
// more often than stored.
func drawEvent(t *rapid.T) turn.KVEvent {
	ev := turn.KVEvent{
		Kind:      rapid.SampledFrom([]turn.KVKind{turn.KVStored, turn.KVStored, turn.KVStored, turn.KVRemoved, turn.KVCleared, turn.KVRestart}).Draw(t, "kind"),
		Hashes:    rapid.SliceOfN(rapid.Uint64Range(0, 9), 0, 4).Draw(t, "hashes"),
		Parent:    rapid.Uint64Range(0, 9).Draw(t, "parent"),
		HasParent: rapid.Bool().Draw(t, "has parent"),
		BlockSize: rapid.SampledFrom([]int{size, size, size, 0, 3}).Draw(t, "block size"),
		Tier:      rapid.SampledFrom([]string{"", "gpu", "host", "disk", "moon"}).Draw(t, "tier"),
		Salt:      rapid.SampledFrom([]string{"", "s"}).Draw(t, "salt"),
	}
	n := len(ev.Hashes)
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		n = rapid.IntRange(0, 5).Draw(t, "blocks")
	}
	ev.Tokens = toks(rapid.SliceOfN(rapid.Uint32Range(0, 1), n, n).Draw(t, "tokens")...)
	return ev
}

// TestChaos lets engines say anything, to a small index: the index keeps its
// rules, and forgets everything when told.
func TestChaos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(timeless{t}, func(t *rapid.T) {
			x := NewIndex(size, Options{
				MaxBlocks: rapid.SampledFrom([]int{5, 12, 1000}).Draw(t, "room"),
				Orphans:   rapid.IntRange(1, 4).Draw(t, "orphans"),
			})
			hs := make([]Holder, 2)
			for i := range hs {
				hs[i], _ = x.Join(fmt.Sprint("w", i))
			}
			for range rapid.IntRange(1, 80).Draw(t, "steps") {
				i := rapid.IntRange(0, 1).Draw(t, "worker")
				chain := chainOf(x, rapid.SliceOfN(rapid.Uint32Range(0, 1), 0, 5).Draw(t, "chain")...)
				switch rapid.IntRange(0, 12).Draw(t, "what") {
				case 0:
					time.Sleep(2 * time.Second)
				case 1:
					x.Expect(hs[i], chain, ExpectTTL)
				case 2:
					x.Assume(hs[i], chain, rapid.IntRange(0, 6).Draw(t, "cap"))
				case 3:
					x.Drop(hs[i])
					hs[i], _ = x.Join(fmt.Sprint("w", i))
				default:
					x.Apply(hs[i], drawEvent(t))
				}
				verify(t, x)
				for _, o := range x.Overlap(nil, chain) {
					if o.GPU > o.Blocks || o.Blocks < 1 || o.Blocks > len(chain) {
						t.Fatalf("%+v of %d", o, len(chain))
					}
				}
			}
			x.Drop(hs[0])
			x.Drop(hs[1])
			if s := x.Stats(); s.Blocks != 0 || s.Held != 0 || s.Holders != 0 {
				t.Fatalf("after all: %+v", s)
			}
		})
	})
}
