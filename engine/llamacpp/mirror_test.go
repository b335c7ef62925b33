package llamacpp

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// pair is a request as the mirror and as the pretended server have it.
type pair struct {
	claim *claim
	task  *task
}

// both drives a mirror and a pretended server.
type both struct {
	mirror  *mirror
	server  *pretend
	running []pair
	told    map[block]bool // what the events so far add up to
	talks   [][]uint32
	next    uint32
	unheard bool    // a server goes on for a while when we hang up
	left    []*task // of a daemon before
	notes   string  // folder for what is noted
}

func newBoth(t *rapid.T) *both {
	slots := rapid.IntRange(1, 4).Draw(t, "slots")
	r := rules{
		similarity: rapid.SampledFrom([]float64{0, 0.1, 0.5, 0.9}).Draw(t, "similarity"),
		saving:     rapid.Bool().Draw(t, "saving"),
		room:       rapid.SampledFrom([]int64{0, 100, 400}).Draw(t, "room"),
		sweeping:   rapid.Bool().Draw(t, "sweeping"),
		perToken:   1,
	}
	b := &both{mirror: newMirror(slots, r), told: map[block]bool{}, next: 1}
	b.server = &pretend{
		similarity: r.similarity, ram: r.saving, room: int(r.room), sweeping: r.sweeping, slots: make([]place, slots),
	}
	b.mirror.report.listen(nil)
	return b
}

// fresh is n ids that were never there.
func (b *both) fresh(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		b.next++
		ids[i] = b.next
	}
	return ids
}

// prompt goes on from some talk, a part of one, or nothing.
func (b *both) prompt(t *rapid.T) []uint32 {
	var before []uint32
	if len(b.talks) > 0 && rapid.IntRange(0, 5).Draw(t, "new") > 0 {
		before = rapid.SampledFrom(b.talks).Draw(t, "talk")
		if rapid.IntRange(0, 2).Draw(t, "forks") == 0 {
			before = before[:rapid.IntRange(0, len(before)).Draw(t, "at")]
		}
	}
	return slices.Concat(before, b.fresh(rapid.IntRange(1, 40).Draw(t, "more")))
}

func (b *both) begin(t *rapid.T, c *claim) pair {
	if c.prompt.Len() == 0 {
		c.prompt = turn.IDsOf(b.prompt(t)...)
	}
	return b.send(c, c.prompt.Flat())
}

// send is begin where the mirror may not know the prompt.
func (b *both) send(c *claim, prompt []uint32) pair {
	b.mirror.begin(c)
	x := pair{c, &task{prompt: prompt, salt: c.salt, pin: c.pin, reuse: !c.fresh}}
	b.server.start(x.task)
	b.running = append(b.running, x)
	return x
}

// end ends some request, as it may end. sees tells whether the server's end
// reaches us.
func (b *both) end(t *rapid.T, seesSlot bool) {
	i := rapid.IntRange(0, len(b.running)-1).Draw(t, "which")
	x := b.running[i]
	b.running = slices.Delete(b.running, i, i+1)
	ids := x.task.prompt
	computed, made := len(ids), []uint32(nil)
	if x.task.slot >= 0 {
		if !seesSlot {
			computed = rapid.IntRange(x.task.cached, computed).Draw(t, "computed")
		}
		if computed == len(ids) {
			made = b.fresh(rapid.IntRange(0, 20).Draw(t, "made"))
		}
		b.talks = append(b.talks, slices.Concat(ids[:computed], made))
	}
	o := outcome{slot: -1, cached: -1, ids: turn.IDsOf(slices.Concat(ids[:computed], made)...)}
	o.size = o.ids.Len()
	if x.task.slot >= 0 {
		o.cached = x.task.cached
		if seesSlot {
			o.slot = x.task.slot
		}
	}
	if b.unheard && rapid.IntRange(0, 5).Draw(t, "unanswered") == 0 {
		b.server.abandon(x.task)
		b.mirror.undo(x.claim, true)
		return
	}
	if b.unheard && !seesSlot && computed == len(ids) {
		made = append(made, b.fresh(rapid.IntRange(0, 40).Draw(t, "unheard"))...)
	}
	b.server.finish(x.task, computed, made)
	if x.claim.prompt.Len() == 0 {
		o = outcome{slot: -1, cached: -1}
	}
	b.mirror.end(x.claim, o)
}

// listen applies the events and checks each against those before it.
func (b *both) listen(t *rapid.T) {
	for _, e := range b.mirror.report.events() {
		if e.Kind == turn.KVRestart {
			clear(b.told)
		}
		for i, h := range e.Hashes {
			k := block{e.Tier, h}
			switch e.Kind {
			case turn.KVStored:
				parent, has := e.Parent, e.HasParent
				if i > 0 {
					parent, has = e.Hashes[i-1], true
				}
				if has && !b.told[block{e.Tier, parent}] {
					t.Fatalf("a block was told before its parent")
				}
				if b.told[k] || len(e.Tokens) != len(e.Hashes)*blockTokens {
					t.Fatalf("told twice, or with %d tokens", len(e.Tokens))
				}
				b.told[k] = true
			case turn.KVRemoved:
				if !b.told[k] {
					t.Fatalf("a block was taken back that was not told")
				}
				delete(b.told, k)
			}
		}
	}
}

// held is what the server has for other turns.
func (b *both) held() map[block]bool {
	all := map[block]bool{}
	add := func(tier string, s state) {
		for _, h := range hold(turn.IDsOf(s.ids...), 0, s.salt, held{}).hash {
			all[block{tier, h}] = true
		}
	}
	for _, s := range b.server.slots {
		if s.task == nil {
			add(slotTier, s.state)
		}
	}
	for _, e := range b.server.saved {
		add(hostTier, e)
	}
	return all
}

// Against a server that does as described, the mirror knows where each request
// runs and what it finds, and its events add up to what the server holds.
func TestMirrorAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBoth(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(b.running) > 0 && rapid.Bool().Draw(t, "ends") {
				b.end(t, rapid.Bool().Draw(t, "told"))
			} else {
				pin := rapid.IntRange(-1, len(b.server.slots)-1).Draw(t, "pin")
				b.begin(t, &claim{pin: pin})
			}
			for _, x := range b.running {
				if x.claim.slot != x.task.slot || x.task.slot >= 0 && x.claim.reuse != x.task.cached {
					t.Fatalf("slot %d with %d, expected %d with %d", x.task.slot, x.task.cached, x.claim.slot, x.claim.reuse)
				}
			}
			b.listen(t)
			if want := b.held(); !maps.Equal(b.told, want) {
				t.Fatalf("%d blocks told, %d held", len(b.told), len(want))
			}
		}
	})
}

// Whatever the server does, the mirror's events stay in order, and the slot of
// an answer is known afterwards.
func TestMirrorSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBoth(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(b.running) == 0 || rapid.Bool().Draw(t, "begins") {
				b.begin(t, &claim{pin: rapid.IntRange(-1, len(b.server.slots)-1).Draw(t, "pin")})
				b.listen(t)
				continue
			}
			i := rapid.IntRange(0, len(b.running)-1).Draw(t, "which")
			x := b.running[i]
			b.running = slices.Delete(b.running, i, i+1)
			if rapid.IntRange(0, 3).Draw(t, "undone") == 0 {
				b.mirror.undo(x.claim, rapid.Bool().Draw(t, "begun"))
				b.listen(t)
				continue
			}
			o := outcome{
				slot: rapid.IntRange(-1, len(b.server.slots)).Draw(t, "slot"), cached: rapid.IntRange(-1, 100).Draw(t, "cached"),
				ids: turn.IDsOf(slices.Concat(x.task.prompt, b.fresh(5))...),
			}
			o.size = o.ids.Len() + rapid.IntRange(0, 9).Draw(t, "unknown")
			b.mirror.end(x.claim, o)
			b.listen(t)
			if k := o.slot; k >= 0 && k < len(b.mirror.slots) && !b.mirror.rules.sweeping {
				if s := b.mirror.slots[k]; s.busy == nil && common(s.ids, o.ids) != o.ids.Len() {
					t.Fatalf("slot %d is not what its answer left", k)
				}
			}
		}
		for _, x := range b.running {
			b.mirror.end(x.claim, outcome{slot: -1, cached: -1})
		}
		for i, s := range b.mirror.slots {
			if s.busy != nil {
				t.Fatalf("slot %d stays busy", i)
			}
		}
		if len(b.mirror.queue) > 0 {
			t.Fatal("somebody waits for ever")
		}
	})
}

// crash has another daemon go on with the server, which knows only what was
// noted. What runs goes on unheard.
func (b *both) crash(t *rapid.T) {
	file := b.notes + "/salts.json"
	note(file, b.mirror.noted())
	next := newMirror(len(b.mirror.slots), b.mirror.rules)
	known, traces := recall(file, true)
	next.salts = known
	next.follow(traces)
	next.report.listen(nil)
	b.mirror = next
	for _, x := range b.running {
		if rapid.Bool().Draw(t, "goes on") {
			b.left = append(b.left, x.task)
		} else {
			b.server.finish(x.task, len(x.task.prompt), b.fresh(rapid.IntRange(0, 40).Draw(t, "unheard")))
		}
	}
	b.running = nil
}

// A turn never uses what a turn of another salt left, whoever hangs up when,
// and through daemons that come and go.
func TestSaltsStayApart(t *testing.T) {
	found, notes := 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		b := newBoth(t)
		b.unheard, b.notes = true, notes
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.IntRange(0, 9).Draw(t, "crash") == 0 {
				b.crash(t)
			}
			if len(b.left) > 0 && rapid.Bool().Draw(t, "left ends") {
				b.server.finish(b.left[0], len(b.left[0].prompt), b.fresh(3))
				b.left = b.left[1:]
			}
			if len(b.running) > 0 && rapid.Bool().Draw(t, "ends") {
				b.end(t, rapid.Bool().Draw(t, "told"))
			} else {
				c, prompt := &claim{salt: strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "salt"))}, b.prompt(t)
				if rapid.IntRange(0, 5).Draw(t, "chat") > 0 {
					c.prompt = turn.IDsOf(prompt...)
				}
				b.mirror.plan(c)
				found += b.send(c, prompt).task.cached
			}
			if b.server.crossed {
				t.Fatal("a turn used what another salt's had left")
			}
		}
	})
	if found == 0 {
		t.Error("nothing was found at all")
	}
}

// After a hang-up a slot may hold more than we know, so that a saved state can
// be better than what all of the prompt seems to go on from.
func TestSaltsAfterHangUp(t *testing.T) {
	p := &pretend{similarity: 0.9, ram: true, slots: make([]place, 2)}
	m := newMirror(2, rules{similarity: 0.9, saving: true, perToken: 1})
	ask := func(salt string, n, unheard int, told bool) *task {
		c := &claim{salt: salt, prompt: said(0, n)}
		m.plan(c)
		m.begin(c)
		x := &task{salt: salt, prompt: c.prompt.Flat(), pin: c.pin, reuse: !c.fresh}
		p.start(x)
		o := outcome{slot: -1, cached: x.cached, ids: c.prompt, size: n}
		if told {
			o.slot = x.slot
		}
		p.finish(x, n, make([]uint32, unheard))
		m.end(c, o)
		return x
	}
	ask("b", 150, 0, true)
	ask("a", 10, 0, true)     // the second salt
	ask("c", 9, 0, true)      // saves what b had
	ask("a", 100, 100, false) // goes on unheard, in some slot
	if ask("a", 200, 0, true); p.crossed {
		t.Error("a saved state of another salt was loaded")
	}
}

// Where nothing is saved, several salts still find their own.
func TestSaltsFindTheirOwn(t *testing.T) {
	m := newMirror(3, rules{similarity: 0.9, perToken: 1})
	ask := func(salt string) int {
		c := &claim{salt: salt, prompt: said(0, 200)}
		m.plan(c)
		m.begin(c)
		if c.fresh {
			c.reuse = 0
		}
		m.end(c, outcome{slot: c.slot, cached: c.reuse, ids: c.prompt, size: 200})
		return c.reuse
	}
	for i, want := range []struct {
		salt string
		n    int
	}{{"a", 0}, {"a", 199}, {"b", 0}, {"b", 199}, {"a", 199}, {"", 0}, {"a", 199}, {"", 199}} {
		if n := ask(want.salt); n != want.n {
			t.Errorf("turn %d, salt %q: %d tokens, want %d", i, want.salt, n, want.n)
		}
	}
}

// Of a server that was adopted, conversations of several salts find what is
// their own, but for that of the slot in which it was probed.
func TestSaltsAfterAdoption(t *testing.T) {
	for _, saving := range []bool{false, true} {
		r := rules{similarity: 0.9, saving: saving, perToken: 1}
		p := &pretend{similarity: r.similarity, ram: saving, slots: make([]place, 3)}
		m := newMirror(3, r)
		ask := func(salt string, of, n int, probe bool) int {
			c := &claim{salt: salt, prompt: said(of, n), probe: probe}
			m.plan(c)
			m.begin(c)
			x := &task{salt: salt, prompt: c.prompt.Flat(), pin: c.pin, reuse: !c.fresh}
			p.start(x)
			p.finish(x, n, nil)
			m.end(c, outcome{slot: x.slot, cached: x.cached, ids: c.prompt, size: n})
			return x.cached
		}
		ask("alice", 0, 100, false)
		ask("bob", 1, 100, false)
		ask("", 2, 100, false)
		file := filepath.Join(t.TempDir(), "salts.json")
		note(file, m.noted())
		known, traces := recall(file, true)
		m = newMirror(3, r)
		m.salts = known
		m.follow(traces)
		ask("", 9, 4, true)
		for _, c := range []struct {
			salt       string
			of, n, hit int
		}{{"", 2, 120, 100}, {"bob", 1, 120, 100}, {"alice", 0, 120, 0}} {
			if n := ask(c.salt, c.of, c.n, false); n != c.hit {
				t.Errorf("saving %v: %q finds %d of %d, want %d", saving, c.salt, n, c.n, c.hit)
			}
		}
		if p.crossed {
			t.Error("a turn used what another salt's had left")
		}
	}
}

// A server that held something before we came may have had any salt's.
func TestForeignContent(t *testing.T) {
	for _, c := range []struct {
		foreign bool
		salt    string
		fresh   bool
	}{{false, "", false}, {false, "a", false}, {true, "", false}, {true, "a", true}} {
		m := newMirror(2, rules{similarity: 0.9, saving: true, perToken: 1})
		m.salts.foreign = c.foreign
		cl := &claim{salt: c.salt, prompt: said(0, 20)}
		if m.plan(cl); cl.fresh != c.fresh {
			t.Errorf("foreign %v, salt %q: fresh is %v", c.foreign, c.salt, cl.fresh)
		}
	}
}
