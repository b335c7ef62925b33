package cache

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// naive is the index as one would write it without a thought for speed: each
// block is the string of all tokens up to its end, and every question is
// answered by looking everywhere.
type naive struct {
	copies map[uint64]*[tierCount]int // by engine hash
	blocks map[uint64]string          // what an engine hash stands for
	soon   map[string]time.Time
	parked []orphan
	lost   int
}

func newNaive() *naive {
	return &naive{copies: map[uint64]*[tierCount]int{}, blocks: map[uint64]string{}, soon: map[string]time.Time{}}
}

func (m *naive) apply(ev turn.KVEvent) {
	for len(m.parked) > 0 && !m.parked[0].until.After(time.Now()) {
		m.parked = m.parked[1:]
		m.lost++
	}
	switch ev.Kind {
	case turn.KVStored:
		m.store(ev)
	case turn.KVRemoved:
		for _, h := range ev.Hashes {
			m.remove(h, tierOf(ev.Tier))
		}
	default:
		soon := m.soon
		lost := m.lost
		*m = *newNaive()
		m.lost = lost
		if ev.Kind == turn.KVCleared {
			m.soon = soon
		}
	}
}

func (m *naive) store(ev turn.KVEvent) {
	at := ev.Salt + "|"
	if ev.HasParent {
		if m.copies[ev.Parent] == nil {
			m.parked = append(m.parked, orphan{ev, time.Now().Add(5 * time.Second)})
			return
		}
		at = m.blocks[ev.Parent]
	}
	for i, h := range ev.Hashes {
		at += fmt.Sprint(ev.Tokens[i*size])
		if m.copies[h] == nil {
			m.copies[h] = &[tierCount]int{}
		}
		m.copies[h][tierOf(ev.Tier)]++
		m.blocks[h] = at
		delete(m.soon, at)
	}
	for i, p := range m.parked {
		if m.copies[p.ev.Parent] != nil {
			m.parked = slices.Delete(slices.Clone(m.parked), i, i+1)
			m.store(p.ev)
			return
		}
	}
}

func (m *naive) remove(h uint64, tier int) {
	c := m.copies[h]
	if c == nil || c[tier] == 0 {
		p := parked{wait: m.parked}
		if _, lost := p.cut(h); lost {
			m.lost++
		}
		m.parked = p.wait
		return
	}
	c[tier]--
	if *c == [tierCount]int{} {
		delete(m.copies, h)
	}
}

// depth is how far a chain reaches, in the GPU tier and in all.
func (m *naive) depth(salt string, vs []uint32) (gpu, all int) {
	at := salt + "|"
	for i, v := range vs {
		at += fmt.Sprint(v)
		inGPU, held := false, m.soon[at].After(time.Now())
		for h, c := range m.copies {
			if m.blocks[h] == at {
				inGPU = inGPU || c[0] > 0
				held = true
			}
		}
		if inGPU && gpu == i {
			gpu++
		}
		if !held {
			return gpu, all
		}
		all++
	}
	return gpu, all
}

// engineHash is what this test's engine calls a block; variants make aliases. One hash never stands for two blocks here.
func engineHash(salt, path string, variant int) uint64 {
	return next(new([]byte), uint64(variant), toks([]uint32(chars(salt+"|"+path))...))
}

func chars(s string) (out []uint32) {
	for _, r := range s {
		out = append(out, uint32(r))
	}
	return out
}

// drawStore is a store of one to three blocks somewhere in a small tree.
func drawStore(t *rapid.T) turn.KVEvent {
	salt := rapid.SampledFrom([]string{"", "", "s"}).Draw(t, "salt")
	path := rapid.SliceOfN(rapid.Uint32Range(0, 1), 1, 6).Draw(t, "path")
	n := rapid.IntRange(1, min(3, len(path))).Draw(t, "blocks")
	variant := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "variant")
	name := strings.Trim(fmt.Sprint(path), "[]")
	at := func(k int) uint64 { return engineHash(salt, name[:max(0, 2*k-1)], variant) }
	ev := turn.KVEvent{
		Kind: turn.KVStored, BlockSize: size, Tokens: toks(path[len(path)-n:]...),
		Tier: rapid.SampledFrom([]string{"gpu", "gpu", "gpu", "host", "disk"}).Draw(t, "tier"),
	}
	for k := len(path) - n + 1; k <= len(path); k++ {
		ev.Hashes = append(ev.Hashes, at(k))
	}
	if len(path) > n {
		ev.Parent, ev.HasParent = at(len(path)-n), true
	} else {
		ev.Salt = salt
	}
	return ev
}

// both are an index and the naive models of its holders.
type both struct {
	x    *Index
	hs   []Holder
	ms   []*naive
	lost int // by holders that were dropped
}

func (b *both) event(t *rapid.T, i int) turn.KVEvent {
	known := slices.Sorted(maps.Keys(b.ms[i].copies))
	for _, p := range b.ms[i].parked {
		known = append(known, p.ev.Hashes...)
	}
	kind := rapid.SampledFrom([]string{"store", "store", "store", "remove", "remove", "clear", "restart"}).Draw(t, "kind")
	rare := rapid.IntRange(0, 9).Draw(t, "rare") == 0
	switch {
	case kind == "remove" && len(known) > 0:
		return removed(rapid.SampledFrom([]string{"gpu", "gpu", "host"}).Draw(t, "tier"), rapid.SampledFrom(known).Draw(t, "hash"))
	case kind == "clear" && rare:
		return turn.KVEvent{Kind: turn.KVCleared}
	case kind == "restart" && rare:
		return turn.KVEvent{Kind: turn.KVRestart}
	}
	return drawStore(t)
}

// expect tells index and model that a turn was routed.
func (b *both) expect(t *rapid.T, i int) {
	path := rapid.SliceOfN(rapid.Uint32Range(0, 1), 1, 6).Draw(t, "chain")
	m, at := b.ms[i], "|"
	gpu, _ := m.depth("", path)
	for k, v := range path {
		at += fmt.Sprint(v)
		held := false
		for h := range m.copies {
			held = held || m.blocks[h] == at
		}
		if k >= gpu && !held {
			m.soon[at] = time.Now().Add(ExpectTTL)
		}
	}
	b.x.Expect(b.hs[i], chainOf(b.x, path...), ExpectTTL)
}

// compare asks for every chain of the small tree.
func (b *both) compare(t *rapid.T) {
	for _, salt := range []string{"", "s"} {
		for bits := range uint32(1 << 6) {
			var path []uint32
			for k := range 6 {
				path = append(path, bits>>k&1)
			}
			want := ""
			for i, m := range b.ms {
				if gpu, all := m.depth(salt, path); all > 0 {
					want += fmt.Sprintf("w%d %d/%d ", i, gpu, all)
				}
			}
			if got := ask(b.x, salt, path...); got != want {
				t.Fatalf("%q %v: got %q, want %q", salt, path, got, want)
			}
		}
	}
	lost := b.lost
	for _, m := range b.ms {
		lost += m.lost
	}
	if s := b.x.Stats(); int(s.Orphans) != lost || s.Misfit+s.Refused != 0 {
		t.Fatalf("%+v, want %d orphans", s, lost)
	}
}

// timeless hides a test's deadline, which may not be asked for in a bubble of
// synctest.
type timeless struct{ testing.TB }

func TestAgainstNaiveModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(timeless{t}, func(t *rapid.T) {
			b := &both{x: NewIndex(size, Options{Model: "m"})}
			for i := range 3 {
				h, err := b.x.Join(fmt.Sprint("w", i))
				if err != nil {
					t.Fatal(err)
				}
				b.hs, b.ms = append(b.hs, h), append(b.ms, newNaive())
			}
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				i := rapid.IntRange(0, 2).Draw(t, "worker")
				switch rapid.IntRange(0, 19).Draw(t, "what") {
				case 0, 4:
					time.Sleep(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
					b.compare(t)
				case 1, 2:
					b.expect(t, i)
				case 3:
					b.x.Drop(b.hs[i])
					b.hs[i], _ = b.x.Join(fmt.Sprint("w", i))
					b.lost += b.ms[i].lost
					b.ms[i] = newNaive()
				default:
					ev := b.event(t, i)
					b.ms[i].apply(ev)
					b.x.Apply(b.hs[i], ev)
				}
				verify(t, b.x)
			}
			b.compare(t)
		})
	})
}
