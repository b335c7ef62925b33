package sched

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/engine/sim/kv"
)

// TestProperties drives a small cache at random and checks, after every step,
// that no block is lost or given out twice, that the budget and the slots
// hold, and that the last token of a prompt is never a hit; and at the end
// that the events describe the cache and that everything ends.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(rapid.IntRange(12, 20).Draw(t, "blocks"), Config{
			Budget:   rapid.IntRange(1, 40).Draw(t, "budget"),
			Slots:    rapid.IntRange(1, 4).Draw(t, "slots"),
			Priority: rapid.Bool().Draw(t, "priority"),
		})
		var open []*Request
		seen := world{}
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			switch rapid.IntRange(0, 5).Draw(t, "move") {
			case 0, 1:
				r := b.add("r", uint32(rapid.IntRange(0, 1).Draw(t, "token")),
					rapid.IntRange(1, 24).Draw(t, "prompt"), rapid.IntRange(1, 16).Draw(t, "out"),
					rapid.IntRange(0, 2).Draw(t, "priority"))
				open = append(open, r)
			case 2:
				if len(open) > 0 {
					b.Drop(open[rapid.IntRange(0, len(open)-1).Draw(t, "dropped")])
				}
			default:
				b.checked(t, seen)
			}
		}
		for n := 0; b.Running()+b.Waiting() > 0; n++ {
			if n > 5000 {
				t.Fatal("some request never ends")
			}
			b.checked(t, seen)
		}
		if b.pool.Free() != b.pool.Usable() {
			t.Fatalf("%d of %d blocks are free", b.pool.Free(), b.pool.Usable())
		}
		if b.pool.Cached() != len(seen) {
			t.Fatalf("the events tell %d hashes, the pool holds %d", len(seen), b.pool.Cached())
		}
	})
}

// world is what a reader of the events believes: copies of each hash.
type world map[kv.Hash]int

func (w world) apply(t *rapid.T, events []kv.Event) {
	for _, e := range events {
		for _, h := range e.Hashes {
			switch e.Kind {
			case kv.Stored:
				if e.HasParent && w[e.Parent] == 0 {
					t.Fatal("a block is stored whose parent is not held")
				}
				w[h]++
			case kv.Removed:
				if w[h]--; w[h] < 0 {
					t.Fatal("a block is removed that was not stored")
				}
				if w[h] == 0 {
					delete(w, h)
				}
			}
		}
	}
}

// checked does one step and checks what must always hold.
func (b *bench) checked(t *rapid.T, seen world) {
	p := b.Plan()
	sum := 0
	for _, c := range p.Chunks {
		sum += c.Tokens
		if c.Tokens < 1 || c.Request.Cached > c.Request.prompt-1 {
			t.Fatalf("chunk of %d tokens, %d cached of %d", c.Tokens, c.Request.Cached, c.Request.prompt)
		}
	}
	if sum > b.cfg.Budget || b.Running() > b.cfg.Slots {
		t.Fatalf("%d tokens in a step, %d requests run", sum, b.Running())
	}
	seen.apply(t, p.Events)
	b.Commit(func(r *Request) (uint32, Verdict) {
		if b.left[r]--; b.left[r] > 0 {
			return 9, More
		}
		return 9, Last
	})
	uses := map[kv.Block]int{}
	for _, r := range b.running {
		if need := b.blocks(r.done); len(r.blocks) < need {
			t.Fatalf("%d blocks hold %d tokens", len(r.blocks), r.done)
		}
		for i, at := range r.blocks {
			if uses[at]++; uses[at] > 1 && i >= r.told {
				t.Fatalf("block %d is written by two requests", at)
			}
		}
	}
	if b.pool.Free()+len(uses) != b.pool.Usable() {
		t.Fatalf("%d free and %d used blocks of %d", b.pool.Free(), len(uses), b.pool.Usable())
	}
}
