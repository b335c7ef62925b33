package cache

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// TestChainSavesWorkOnly lets a line of prompts grow, shrink, change and fork:
// its hashes are those of Extend, and those that were handed out stay.
func TestChainSavesWorkOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := []Chain{{}}
		ids := []turn.IDs{{}}
		type out struct{ got, want []uint64 }
		var outs []out
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "which")
			if rapid.IntRange(0, 5).Draw(t, "fork") == 0 {
				line, ids = append(line, line[at].Clone()), append(ids, ids[at])
				at = len(line) - 1
			}
			same := ids[at].Len()
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				same = rapid.IntRange(0, same).Draw(t, "same")
			}
			some := rapid.SliceOfN(rapid.Uint32(), 0, 40).Draw(t, "new")
			for range rapid.SampledFrom([]int{0, 0, 0, 3000}).Draw(t, "long") {
				some = append(some, uint32(len(some)))
			}
			next := ids[at].Cut(same).Append(some)
			seed := rapid.SampledFrom([]uint64{Seed, Seed, Seed, 7}).Draw(t, "seed")
			block := rapid.SampledFrom([]int{4, 4, 4, 3, 100}).Draw(t, "block")
			outs = append(outs, out{line[at].Of(seed, next, block, same), Extend(nil, seed, next.Flat(), block)})
			ids[at] = next
		}
		for i, o := range outs {
			if !slices.Equal(o.got, o.want) {
				t.Fatalf("call %d: %x, want %x", i, o.got, o.want)
			}
		}
	})
}

func TestChainOfNothing(t *testing.T) {
	var c Chain
	if got := c.Of(Seed, turn.IDsOf(1, 2), 0, 0); got != nil {
		t.Fatalf("block 0: %v", got)
	}
	if c.Of(Seed, turn.IDsOf(1, 2), 2, 0); c.Bytes() < 8 {
		t.Fatalf("one hash in %d bytes", c.Bytes())
	}
}

// TestChainAllocatesWhatIsNew grows a chain of 100,000 ids by 512 at a time:
// most calls allocate nothing.
func TestChainAllocatesWhatIsNew(t *testing.T) {
	ids := turn.IDsOf(make([]uint32, 100_000+200*512)...)
	var c Chain
	c.Of(Seed, ids.Cut(100_000), 16, 0)
	var all []turn.IDs
	for n := 100_000; n < ids.Len(); n += 512 {
		all = append(all, ids.Cut(n+512))
	}
	i := 0
	got := testing.AllocsPerRun(100, func() {
		c.Of(Seed, all[i], 16, all[i].Len()-512)
		i++
	})
	if got > 0.1 {
		t.Errorf("%v allocations a call", got)
	}
}
