package cache

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

const (
	deep  = 16 << 10 // blocks of a long chain
	fleet = 64
)

// events are stores of 128 blocks each; the engine calls block i name+i+1.
func events(block int, ids []uint32, name uint64) (out []turn.KVEvent) {
	n := len(ids) / block
	for from := 0; from < n; from += 128 {
		to := min(from+128, n)
		ev := turn.KVEvent{Kind: turn.KVStored, BlockSize: block, Tokens: ids[from*block : to*block], Tier: "gpu"}
		for i := from; i < to; i++ {
			ev.Hashes = append(ev.Hashes, name+uint64(i)+1)
		}
		if from > 0 {
			ev.Parent, ev.HasParent = name+uint64(from), true
		}
		out = append(out, ev)
	}
	return out
}

// holdChain makes a holder store n blocks of a chain.
func holdChain(x *Index, h Holder, ids []uint32, n int) {
	for _, ev := range events(x.Block(), ids[:n*x.Block()], 7919) {
		x.Apply(h, ev)
	}
}

// long is an index of 16-token blocks where every holder has a chain of 16 Ki
// blocks, each to a depth of its own choosing.
func long(t testing.TB, depth func(holder int) int) (*Index, []uint64) {
	t.Helper()
	x := NewIndex(16, Options{})
	ids := make([]uint32, deep*16)
	for i := range ids {
		ids[i] = uint32(i * 7)
	}
	for i := range fleet {
		h, err := x.Join(fmt.Sprint("w", i))
		if err != nil {
			t.Fatal(err)
		}
		holdChain(x, h, ids, depth(i))
	}
	return x, Extend(nil, x.Seed(""), ids, 16)
}

func TestOverlapAllocatesNothing(t *testing.T) {
	x, chain := long(t, func(i int) int { return i * deep / fleet })
	dst := make([]Overlap, 0, fleet)
	if n := testing.AllocsPerRun(20, func() { dst = x.Overlap(dst[:0], chain) }); n > 0 {
		t.Fatalf("%v allocations", n)
	}
	if len(dst) != fleet-1 || dst[62].Blocks != 63*deep/fleet {
		t.Fatalf("%d holders, the last %+v", len(dst), dst[len(dst)-1])
	}
}

func TestOverlapOfEqualHolders(t *testing.T) {
	x, chain := long(t, func(int) int { return deep })
	dst := x.Overlap(nil, chain)
	if len(dst) != fleet || dst[0].Blocks != deep {
		t.Fatalf("%d holders, %+v", len(dst), dst[0])
	}
}

// BenchmarkDepths is a long chain that 64 holders have to so many depths.
func BenchmarkDepths(b *testing.B) {
	for name, depth := range map[string]func(int) int{
		"all held":      func(int) int { return deep },
		"64 depths":     func(i int) int { return i * deep / fleet },
		"one at home":   func(i int) int { return []int{deep - 20, 400}[min(i, 1)] },
		"nothing known": func(int) int { return 0 },
	} {
		x, chain := long(b, depth)
		dst := make([]Overlap, 0, fleet)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = x.Overlap(dst[:0], chain)
			}
		})
	}
}

func BenchmarkStoredBlock(b *testing.B) {
	ids := make([]uint32, deep*16)
	for i := range ids {
		ids[i] = uint32(i * 7)
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += deep {
		b.StopTimer()
		x := NewIndex(16, Options{})
		h, _ := x.Join("w")
		b.StartTimer()
		holdChain(x, h, ids, deep)
	}
}

func BenchmarkExtendBlock(b *testing.B) {
	ids := make([]uint32, deep*16)
	var dst []uint64
	for n := 0; n < b.N; n += deep {
		dst = Extend(dst[:0], Seed, ids, 16)
	}
}

func BenchmarkExpectNewSuffix(b *testing.B) {
	x, chain := long(b, func(int) int { return deep - 200 })
	h, _ := x.Join("w3")
	for b.Loop() {
		x.Expect(h, chain, time.Nanosecond)
	}
}

// BenchmarkAssumeFull is a prompt of 2,000 new tokens at a worker without
// events whose cache is full: each block drives another one out.
func BenchmarkAssumeFull(b *testing.B) {
	const blocks, room = 128, 24 << 10
	x := NewIndex(16, Options{})
	h, _ := x.Join("w")
	chain := make([]uint64, blocks)
	next := uint64(1)
	turn := func() {
		for i := range chain {
			chain[i] = next * 0x9e3779b97f4a7c15
			next++
		}
		x.Assume(h, chain, room)
	}
	for range room/blocks + 1 {
		turn()
	}
	b.ReportAllocs()
	for b.Loop() {
		turn()
	}
}
