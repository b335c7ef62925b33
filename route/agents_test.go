package route

import (
	"fmt"
	"testing"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/turn"
)

const block = 16

// fleet is three workers with boundless caches, fed with the events that
// engines would send.
type fleet struct {
	x       *cache.Index
	names   []string
	holders map[string]cache.Holder
	running []string // workers of the turns in flight, oldest first
	hash    uint64
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{x: cache.NewIndex(block, cache.Options{}), holders: map[string]cache.Holder{}}
	for i := range 3 {
		name := fmt.Sprint("w", i)
		h, err := f.x.Join(name)
		if err != nil {
			t.Fatal(err)
		}
		f.names, f.holders[name] = append(f.names, name), h
	}
	return f
}

// candidates asks the index for a prompt.
func (f *fleet) candidates(prompt []uint32) []Candidate {
	held := map[string]int{}
	for _, o := range f.x.Overlap(nil, cache.Extend(nil, f.x.Seed(""), prompt[:len(prompt)-1], block)) {
		held[o.Worker] = o.Tokens
	}
	var cs []Candidate
	for _, name := range f.names {
		c := Candidate{Worker: name, Overlap: held[name], Slots: 8}
		for _, r := range f.running {
			if r == name {
				c.InFlight++
			}
		}
		cs = append(cs, c)
	}
	return cs
}

// serve lets a worker compute a prompt and its answer, up to three turns being
// in flight at a time.
func (f *fleet) serve(worker string, all []uint32) {
	n := len(all) / block
	ev := turn.KVEvent{Kind: turn.KVStored, BlockSize: block, Tokens: all[:n*block]}
	for range n {
		f.hash++
		ev.Hashes = append(ev.Hashes, f.hash)
	}
	f.x.Apply(f.holders[worker], ev)
	f.running = append(f.running, worker)
	if len(f.running) > 3 {
		f.running = f.running[1:]
	}
}

// converse runs six agents with ten turns each, one after another, and counts
// the turns that recompute more than what is new and two blocks.
func converse(t *testing.T, p Strategy) (over int) {
	f := newFleet(t)
	history := make([][]uint32, 6)
	for i := range 60 {
		a := i % len(history)
		known := len(history[a])
		for k := range 700 {
			history[a] = append(history[a], uint32(a*1_000_000+i*1_000+k))
		}
		d := p.Pick(Need{Turn: fmt.Sprint("t", i), Prompt: len(history[a]), Seq: uint64(i + i/6)}, f.candidates(history[a]))
		if d.Worker == "" {
			t.Fatalf("turn %d: %+v", i, d)
		}
		if fresh := len(history[a]) - known; known > 0 && len(history[a])-d.Overlap > fresh+2*block {
			over++
		}
		for k := range 50 {
			history[a] = append(history[a], uint32(a*1_000_000+i*1_000+800+k))
		}
		f.serve(d.Worker, history[a])
	}
	return over
}

// The bar of the main job: an agent's next turn computes what is new and
// little more. The rule keeps it, round robin does not.
func TestAgentsStayWhereTheirBlocksAre(t *testing.T) {
	if over := converse(t, Func(Pick)); over != 0 {
		t.Errorf("kv: %d turns computed too much", over)
	}
	if over := converse(t, Func(pickNext)); over < 20 {
		t.Errorf("round robin: only %d turns computed too much", over)
	}
}
