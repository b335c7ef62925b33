package cache

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// Memory never passes its cap, the oldest conversations go, and the newest is
// known whole.
func TestMemoryCap(t *testing.T) {
	const most = 4 << 20
	x := NewIndex(64, Options{MaxBytes: most})
	hs := joined(t, x, 3)
	all := talks(150, 32)
	for i, c := range all {
		tell(x, hs[i%3], c)
		if s := x.Stats(); s.Bytes > most {
			t.Fatalf("conversation %d: %d bytes", i, s.Bytes)
		}
		if got := x.Overlap(nil, c); len(got) == 0 || got[len(got)-1].GPU != len(c) && got[0].GPU != len(c) && got[len(got)/2].GPU != len(c) {
			t.Fatalf("conversation %d is not known: %+v", i, got)
		}
	}
	verify(t, x)
	s := x.Stats()
	if s.Evicted == 0 || s.Refused > 0 || s.Bytes < most*3/4 || s.Blocks < 50_000 {
		t.Fatalf("%+v", s)
	}
	if got := x.Overlap(nil, all[0]); len(got) == 0 || got[0].Blocks < 32 || got[0].Blocks == talkBlocks {
		t.Fatalf("of the first only the shared beginning should be left: %+v", got)
	}
}

// What a dropped holder left goes before what living ones hold.
func TestMemoryOfTheDroppedGoesFirst(t *testing.T) {
	x := NewIndex(64, Options{MaxBytes: 4 << 20})
	hs := joined(t, x, 2)
	all := talks(70, 0)
	for i, c := range all[:30] {
		tell(x, hs[i%2], c)
	}
	x.Drop(hs[0])
	for _, c := range all[30:50] {
		tell(x, hs[1], c)
	}
	for i := 1; i < 30; i += 2 {
		if got := x.Overlap(nil, all[i]); len(got) != 1 || got[0].GPU != talkBlocks {
			t.Fatalf("conversation %d: %+v", i, got)
		}
	}
	if s := x.Stats(); s.Evicted != 0 {
		t.Fatalf("%+v", s)
	}
	verify(t, x)
}

// Anything may happen to an index that is always full.
func TestChaosWhenFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := NewIndex(size, Options{MaxBytes: smallestCap, AssumeTTL: time.Hour})
		x.mem.limit = x.mem.taken + int64(rapid.IntRange(0, 200_000).Draw(t, "room"))
		x.opt.MaxBytes = int(x.mem.limit) + 150_000
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		hs := make([]Holder, 3)
		for i := range hs {
			hs[i], _ = x.Join(fmt.Sprint("w", i))
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := r.IntN(len(hs))
			chain := make([]uint64, 1+r.IntN(300))
			for k := range chain {
				chain[k] = uint64(k+1)<<32 | uint64(r.IntN(1+k/40))
			}
			switch r.IntN(9) {
			case 0:
				x.Expect(hs[i], chain, ExpectTTL)
			case 1:
				x.Assume(hs[i], chain, 100)
			case 2:
				x.Apply(hs[i], turn.KVEvent{Kind: turn.KVRemoved, Hashes: chain[len(chain)/2:]})
			case 3:
				x.Drop(hs[i])
				hs[i], _ = x.Join(fmt.Sprint("w", i))
			default:
				x.Stored(hs[i], chain, 0, []string{"gpu", "host"}[r.IntN(2)])
			}
			if s := x.Stats(); s.Bytes > int64(x.opt.MaxBytes)+8192 {
				t.Fatalf("%+v of %d", s, x.opt.MaxBytes)
			}
		}
		verify(t, x)
	})
}

// Readers ask while tables grow, holders come and go and memory is full. What
// they are told was so at some time: nobody has more than was ever stored for
// him, and the depths fit each other.
func TestReadersDuringGrowth(t *testing.T) {
	x := NewIndex(64, Options{MaxBytes: 6 << 20})
	hs := joined(t, x, 80)
	all := talks(60, 16)
	most := make([]atomic.Int64, 80) // by worker: the deepest it ever was told
	var wg sync.WaitGroup
	var done atomic.Bool
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < 120; i += 2 {
				o := i % 80
				c := all[i%len(all)]
				most[o].Store(max(most[o].Load(), int64(len(c))))
				tell(x, hs[o], c)
				if i%7 == 0 {
					x.Apply(hs[o], turn.KVEvent{Kind: turn.KVCleared})
				}
			}
		})
	}
	for r := range 2 {
		go func() {
			var dst []Overlap
			for i := r; !done.Load(); i++ {
				dst = x.Overlap(dst[:0], all[i%len(all)])
				for _, o := range dst {
					var w int
					fmt.Sscanf(o.Worker, "w%d", &w)
					if o.Blocks != o.GPU || int64(o.GPU) > most[w].Load() {
						t.Errorf("%+v, at most %d", o, most[w].Load())
						return
					}
				}
			}
		}()
	}
	wg.Wait()
	done.Store(true)
	verify(t, x)
}

// Filling point and the worst of a whole doubling.
func TestBytesPerBlock(t *testing.T) {
	for _, c := range []struct {
		holders   int
		full, any float64
	}{{1, 45, 90}, {2, 45, 90}} {
		x := NewIndex(64, Options{})
		hs := joined(t, x, 64)
		least, worst := 1e9, 0.0
		for i, chain := range talks(110, 0) {
			for k := range c.holders {
				tell(x, hs[(i+k)%64], chain)
			}
			if s := x.Stats(); s.Blocks > 48*talkBlocks {
				b := float64(s.Bytes) / float64(s.Blocks)
				least, worst = min(least, b), max(worst, b)
			}
		}
		if least > c.full || worst > c.any {
			t.Errorf("%d holders: %.1f bytes a block at the filling point, %.1f at the worst", c.holders, least, worst)
		}
	}
}

// Names that differ by worker cost at most 24 bytes for each further holder.
func TestBytesOfOwnNames(t *testing.T) {
	x := NewIndex(64, Options{})
	hs := joined(t, x, 2)
	ids := make([]uint32, 64*talkBlocks)
	least := 1e9
	for c := range uint32(24) {
		ids[0] = c
		for i, h := range hs {
			for _, ev := range events(64, ids, uint64(i+1)<<56|uint64(c)<<32) {
				x.Apply(h, ev)
			}
		}
		one := 0
		for _, o := range x.holders[:2] {
			one += len(o.refs.keys) * refSize
		}
		if c > 12 {
			least = min(least, float64(one)/float64(x.Stats().Blocks))
		}
	}
	if least > 24 || least < 20 {
		t.Fatalf("%.1f bytes for a holder and block", least)
	}
	verify(t, x)
}

func TestSince(t *testing.T) {
	x := NewIndex(size, Options{})
	a, b := join(t, x, "a"), join(t, x, "b")
	x.Apply(a, stored(0, "", "gpu", []uint32{1, 2, 3, 4}, 11, 12, 13, 14))
	x.Apply(b, stored(0, "", "gpu", []uint32{1, 2}, 11, 12))
	x.Apply(b, stored(12, "", "disk", []uint32{3}, 13))
	chain := chainOf(x, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		known int
		want  string
	}{
		{0, "[{a 4 0 0 0 4} {b 2 0 1 0 3}]"},
		{2, "[{a 4 0 0 0 4} {b 2 0 1 0 3}]"},
		{3, "[{a 4 0 0 0 4} {b 2 0 1 0 3}]"}, // b has 3 in part on disk: all are told
		{4, "[{a 4 0 0 0 4}]"},
		{5, "[{a 4 0 0 0 4} {b 2 0 1 0 3}]"}, // nobody has 5: all are told
		{99, "[{a 4 0 0 0 4} {b 2 0 1 0 3}]"},
	} {
		type line struct {
			w                       string
			gpu, host, disk, remote int
			all                     int
		}
		var got []line
		for _, o := range x.Since(nil, chain, c.known) {
			got = append(got, line{o.Worker, o.GPU, o.Host, o.Disk, o.Remote, o.Blocks})
		}
		check(t, fmt.Sprint("known ", c.known), fmt.Sprint(got), c.want)
	}
}

func TestStoredByOwnHash(t *testing.T) {
	x := NewIndex(size, Options{})
	h := join(t, x, "w")
	chain := chainOf(x, 1, 2, 3)
	x.Stored(h, chain, 1, "")
	check(t, "without what is before it", ask(x, "", 1, 2, 3), "")
	x.Stored(h, chain[:2], 0, "")
	x.Stored(h, chain, 2, "host")
	check(t, "stored", ask(x, "", 1, 2, 3), "w 2/3 ")
	x.Apply(h, removed("gpu", chain[1]))
	check(t, "removed", ask(x, "", 1, 2, 3), "w 1/1 ")
	if s := x.Stats(); s.Orphans != 1 {
		t.Fatalf("%+v", s)
	}
	verify(t, x)
}

func TestAssumedBlocksEnd(t *testing.T) {
	now := time.Unix(0, 0)
	x := NewIndex(size, Options{AssumeTTL: time.Minute, Now: func() time.Time { return now }})
	h := join(t, x, "w")
	x.Assume(h, chainOf(x, 1, 2, 3), 100)
	now = now.Add(40 * time.Second)
	x.Assume(h, chainOf(x, 1, 2), 100)
	now = now.Add(20 * time.Second)
	check(t, "not used for a minute", ask(x, "", 1, 2, 3), "w 2/2 ")
	now = now.Add(40 * time.Second)
	check(t, "nor these", ask(x, "", 1, 2, 3), "")
	verify(t, x)
	x.Apply(h, turn.KVEvent{Kind: turn.KVRestart})
	x.Assume(h, chainOf(x, 1), 100)
	check(t, "a new life is no event", ask(x, "", 1, 2, 3), "w 1/1 ")
}
