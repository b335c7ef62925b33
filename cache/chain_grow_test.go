package cache

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestChainSavesWorkOnly lets a line of prompts grow, shrink, change and fork:
// its hashes are those of Extend, and those that were handed out stay.
func TestChainSavesWorkOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := []Chain{{}}
		ids := [][]uint32{nil}
		type out struct{ got, want []uint64 }
		var outs []out
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "which")
			if rapid.IntRange(0, 5).Draw(t, "fork") == 0 {
				line, ids = append(line, line[at].Clone()), append(ids, ids[at])
				at = len(line) - 1
			}
			same := len(ids[at])
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				same = rapid.IntRange(0, same).Draw(t, "same")
			}
			next := append(slices.Clone(ids[at][:same]), rapid.SliceOfN(rapid.Uint32(), 0, 40).Draw(t, "new")...)
			seed := rapid.SampledFrom([]uint64{Seed, Seed, Seed, 7}).Draw(t, "seed")
			block := rapid.SampledFrom([]int{4, 4, 4, 3}).Draw(t, "block")
			outs = append(outs, out{line[at].Of(seed, next, block, same), Extend(nil, seed, next, block)})
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
	if got := c.Of(Seed, []uint32{1, 2}, 0, 0); got != nil {
		t.Fatalf("block 0: %v", got)
	}
	if c.Of(Seed, []uint32{1, 2}, 2, 0); c.Bytes() < 8 {
		t.Fatalf("one hash in %d bytes", c.Bytes())
	}
}

// TestChainAllocatesWhatIsNew grows a chain of 100,000 ids by 512 at a time:
// most calls allocate nothing.
func TestChainAllocatesWhatIsNew(t *testing.T) {
	ids := make([]uint32, 100_000+200*512)
	var c Chain
	c.Of(Seed, ids[:100_000], 16, 0)
	n := 100_000
	got := testing.AllocsPerRun(100, func() {
		c.Of(Seed, ids[:n+512], 16, n)
		n += 512
	})
	if got > 0.1 {
		t.Errorf("%v allocations a call", got)
	}
}
