package route

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// desk is books with a clock and a worker or two, for tests.
type desk struct {
	*Books
	now time.Time
	n   int
}

func newBooks(kv int, workers ...string) *desk {
	d := &desk{Books: NewBooks(0), now: epoch}
	for _, w := range workers {
		d.Worker(w, Limits{KVTokens: kv, Rates: Rates{Step: 1, Token: 0.1, Context: 1e-5}})
	}
	return d
}

func (d *desk) pass(t time.Duration) { d.now = d.now.Add(t) }

// send sends a turn of a session and returns its id.
func (d *desk) send(session, worker string, prompt, overlap int) string {
	d.n++
	n := Need{Turn: fmt.Sprint("t", d.n), Session: session, Prompt: prompt}
	d.Sent(d.now, Sending{Need: &n, Worker: worker, Overlap: overlap})
	return n.Turn
}

// serve is a whole turn that takes no time.
func (d *desk) serve(session, worker string, prompt, overlap int) {
	id := d.send(session, worker, prompt, overlap)
	d.First(d.now, id)
	d.Ended(d.now, Outcome{Turn: id, Cached: overlap})
}

func (d *desk) look(session, worker string) Candidate {
	c := Candidate{Worker: worker, Free: -1}
	d.Fill(d.now, &Need{Session: session, Prompt: 1000}, &c)
	return c
}

// What was sent counts at once, long before the worker says anything.
func TestInFlightCredit(t *testing.T) {
	d := newBooks(100_000, "a")
	one := d.send("s1", "a", 10_000, 4_000)
	two := d.send("s2", "a", 2_000, 0)
	c := d.look("", "a")
	if c.InFlight != 2 || c.Pending != 8_000 || c.Active != 12_000 || c.Backlog != 800 || c.Decoding != 0 || c.Free != 88_000 {
		t.Fatalf("%+v", c)
	}
	d.pass(400 * time.Millisecond)
	if c = d.look("", "a"); c.Backlog != 400 {
		t.Fatalf("backlog %v after 400 ms, want 400", c.Backlog)
	}
	d.pass(time.Minute) // the first is late: the second has not begun
	if c = d.look("", "a"); c.Backlog != 200 {
		t.Fatalf("backlog %v of the second, want 200", c.Backlog)
	}
	d.First(d.now, one)
	d.Tokens(d.now, one, 50)
	d.pass(50 * time.Millisecond)
	if c = d.look("", "a"); c.Decoding != 1 || c.Pending != 2_000 || c.Active != 12_050 || c.Backlog != 150 {
		t.Fatalf("%+v", c)
	}
	d.Ended(d.now, Outcome{Turn: one, Output: 60, Err: true})
	d.Ended(d.now, Outcome{Turn: two, Err: true})
	if c = d.look("", "a"); c.InFlight != 0 || c.Pending != 0 || c.Active != 0 || c.Backlog != 0 || c.Decoding != 0 {
		t.Fatalf("%+v", c)
	}
}

func TestPrefillElsewhere(t *testing.T) {
	d := newBooks(100_000, "p", "d")
	d.Sent(d.now, Sending{Need: &Need{Turn: "t", Prompt: 5_000}, Worker: "d", Prefill: "p"})
	if p, w := d.look("", "p"), d.look("", "d"); p.Backlog != 500 || p.Active != 0 || w.Backlog != 0 || w.Active != 5_000 {
		t.Fatalf("prefill %+v, decode %+v", p, w)
	}
	d.First(d.now, "t")
	if p, w := d.look("", "p"), d.look("", "d"); p.Backlog != 0 || w.Decoding != 1 || p.Decoding != 0 {
		t.Fatalf("prefill %+v, decode %+v", p, w)
	}
}

// Sessions are wanted where they were last, less the longer they are idle, and
// not by themselves.
func TestWanted(t *testing.T) {
	d := newBooks(100_000, "a", "b")
	d.serve("s1", "a", 40_000, 0)
	d.serve("s2", "a", 20_000, 0)
	want := func(session, worker string, share float64) {
		t.Helper()
		if c := d.look(session, worker); math.Abs(c.Wanted-share) > 0.002 {
			t.Fatalf("%s at %s: %.4f wanted, want %.4f", session, worker, c.Wanted, share)
		}
	}
	want("", "a", 0.6)
	want("s1", "a", 0.2)
	want("s1", "b", 0)
	if c := d.look("", "a"); c.Typical != 30_000 || c.Hot != 0 {
		t.Fatalf("sessions of one turn: %+v", c)
	}
	d.serve("s1", "a", 40_000, 40_000)
	d.serve("s2", "a", 20_000, 20_000)
	want("", "a", 0.6)
	if c := d.look("", "a"); c.Typical != 30_000 || c.Hot != 60_000 {
		t.Fatalf("%+v", c)
	}
	d.pass(90 * time.Second)
	want("", "a", 0.3) // 60 / (90 + 30)
	if c := d.look("", "a"); c.Hot != 0 {
		t.Fatalf("%+v", c)
	}
	running := d.send("s1", "a", 50_000, 40_000)
	want("", "a", 0.5+0.1)
	want("s1", "a", 0.1)
	d.Ended(d.now, Outcome{Turn: running, Output: 1000})
	want("", "a", 0.51+0.1)
	d.serve("s1", "b", 52_000, 0) // it moves
	want("", "a", 0.1)
	want("", "b", 0.52)
	d.pass(31 * time.Minute)
	want("", "b", 0)
}

// A session that ended keeps its price until its blocks are gone, or ten
// minutes have passed, but is not hot.
func TestClosedSessionsFade(t *testing.T) {
	d := newBooks(100_000, "a")
	for _, held := range []int{0, 40_000} {
		d.serve("s1", "a", 40_000, held)
		d.serve("s2", "a", 40_000, held)
	}
	d.Closed(d.now, "s1")
	if c := d.look("", "a"); math.Abs(c.Wanted-0.8) > 0.01 || c.Hot != 40_000 {
		t.Fatalf("%+v", c)
	}
	d.Evicted(d.now, "a", 40_000)
	d.pass(time.Second)
	if c := d.look("", "a"); math.Abs(c.Wanted-0.4) > 0.01 {
		t.Fatalf("its blocks are gone: %+v", c)
	}
	d.Closed(d.now, "s2")
	d.pass(9 * time.Minute)
	if c := d.look("", "a"); c.Wanted < 0.03 {
		t.Fatalf("after nine minutes: %+v", c)
	}
	d.pass(2 * time.Minute)
	if c := d.look("", "a"); c.Wanted != 0 {
		t.Fatalf("after eleven minutes: %+v", c)
	}
}

// Siblings that start together go where the first of them is on its way, as
// far as siblings are known to share.
func TestSiblingBurst(t *testing.T) {
	d := newBooks(100_000, "a", "b")
	start := func(session, worker string) string {
		d.n++
		n := Need{Turn: fmt.Sprint("t", d.n), Session: session, Parent: "lead", Prompt: 9_000, Prefix: 7}
		d.Sent(d.now, Sending{Need: &n, Worker: worker})
		return n.Turn
	}
	overlap := func(session, worker string) int {
		c := Candidate{Worker: worker}
		d.Fill(d.now, &Need{Session: session, Parent: "lead", Prompt: 9_000, Prefix: 7}, &c)
		return c.Overlap
	}
	first := start("c1", "a")
	if got := overlap("c2", "a"); got != 0 {
		t.Fatalf("%d tokens shared before any is known", got)
	}
	d.Ended(d.now, Outcome{Turn: first, Cached: 8_000})
	if a, b := overlap("c2", "a"), overlap("c2", "b"); a != 8_000 || b != 0 {
		t.Fatalf("a %d, b %d", a, b)
	}
	if got := overlap("c1", "a"); got != 0 {
		t.Fatalf("a session that went on is no sibling: %d", got)
	}
	d.pass(burst + time.Second)
	if got := overlap("c2", "a"); got != 0 {
		t.Fatalf("%d tokens after the burst", got)
	}
}

func TestEvictionAge(t *testing.T) {
	d := newBooks(100_000, "a")
	d.Worker("a", Limits{KVTokens: 100_000, Events: true})
	for i := range 10 {
		d.serve(fmt.Sprint("s", i), "a", 10_000, 0)
		d.pass(5 * time.Second)
	}
	if c := d.look("", "a"); c.Age != 0 || c.Thrash {
		t.Fatalf("%+v", c)
	}
	d.Evicted(d.now, "a", 10_000)
	if c := d.look("", "a"); c.Age != 50*time.Second || c.Thrash {
		t.Fatalf("%+v", c)
	}
	for range 40 {
		d.Aged(d.now, "a", 4_000, 3*time.Second)
	}
	if c := d.look("", "a"); c.Age > 4*time.Second || !c.Thrash {
		t.Fatalf("%+v", c)
	}
	d.pass(20 * time.Second) // nothing is evicted any more
	if c := d.look("", "a"); c.Age != 20*time.Second || !c.Thrash {
		t.Fatalf("well too early: %+v", c)
	}
	d.pass(10 * time.Second)
	if c := d.look("", "a"); !c.Thrash {
		t.Fatalf("well for a moment is not well: %+v", c)
	}
	d.pass(4 * time.Minute)
	d.Aged(d.now, "a", 4_000, 20*time.Second)
	if c := d.look("", "a"); !c.Thrash {
		t.Fatalf("it was not well for five minutes: %+v", c)
	}
	d.pass(30 * time.Second)
	if c := d.look("", "a"); !c.Thrash {
		t.Fatalf("well too early: %+v", c)
	}
	d.pass(5 * time.Minute)
	if c := d.look("", "a"); c.Thrash {
		t.Fatalf("well again: %+v", c)
	}
}

// Without events the books guess what is evicted from what they sent.
func TestEvictionIsGuessed(t *testing.T) {
	d := newBooks(100_000, "a")
	for i := range 30 {
		d.serve(fmt.Sprint("s", i), "a", 10_000, 0)
		d.pass(time.Second)
	}
	if c := d.look("", "a"); c.Age < 8*time.Second || c.Age > 12*time.Second || !c.Thrash {
		t.Fatalf("ten sessions fit, thirty came at one a second: %+v", c)
	}
	one, two := d.send("x", "a", 60_000, 0), d.send("y", "a", 60_000, 0)
	d.pass(time.Hour)
	if c := d.look("", "a"); !c.Thrash {
		t.Fatalf("turns that need more than there is: %+v", c)
	}
	d.Ended(d.now, Outcome{Turn: one})
	d.Ended(d.now, Outcome{Turn: two})
	if c := d.look("", "a"); c.Thrash {
		t.Fatalf("they are gone: %+v", c)
	}
}

func TestDistinctBlocks(t *testing.T) {
	d := newBooks(100_000, "a")
	d.Sent(d.now, Sending{Need: &Need{Turn: "1", Prompt: 48}, Worker: "a", Chain: []uint64{1, 2, 3}, BlockSize: 16})
	d.Sent(d.now, Sending{Need: &Need{Turn: "2", Prompt: 48}, Worker: "a", Chain: []uint64{1, 2, 4}, BlockSize: 16})
	if c := d.look("", "a"); c.Blocks != 4 || c.BlockSize != 16 || d.Shared("a", []uint64{1, 2, 5, 3}) != 2 {
		t.Fatalf("%+v, shared %d", c, d.Shared("a", []uint64{1, 2, 5, 3}))
	}
	d.Ended(d.now, Outcome{Turn: "1"})
	if c := d.look("", "a"); c.Blocks != 3 {
		t.Fatalf("%+v", c)
	}
}

func TestAttainedFades(t *testing.T) {
	d := newBooks(100_000, "a")
	id := d.send("s", "a", 100, 0)
	d.First(d.now, id)
	d.pass(8 * time.Second)
	d.Ended(d.now, Outcome{Turn: id})
	if got := d.Attained(d.now, "s"); got != 8*time.Second {
		t.Fatalf("%v", got)
	}
	d.pass(time.Minute)
	if got := d.Attained(d.now, "s").Round(time.Millisecond); got != 4*time.Second || d.Attained(d.now, "x") != 0 {
		t.Fatalf("%v", got)
	}
}

// A session that is forgotten is at home nowhere, and neither are its
// subagents; others are.
func TestForgetSession(t *testing.T) {
	d := newBooks(100_000, "a", "b")
	for _, s := range []string{"s", "s/child", "s2", "s/child"} {
		d.serve(s, "a", 1_000, 0)
	}
	d.serve("s", "b", 2_000, 0) // and it left something at a
	running := d.send("s", "b", 3_000, 0)
	d.Forget("s")
	if d.Home("s") != "b" || d.Home("s/child") != "" || d.Home("s2") != "a" || d.Sessions() != 2 {
		t.Fatalf("%q, %q, %q; %d", d.Home("s"), d.Home("s/child"), d.Home("s2"), d.Sessions())
	}
	d.Ended(d.now, Outcome{Turn: running})
	d.Forget("s")
	if d.Home("s") != "" || d.Sessions() != 1 {
		t.Fatalf("%q; %d", d.Home("s"), d.Sessions())
	}
}

// A worker that was cleared holds nothing and is home to nobody; what it runs,
// and how fast it is, stays known.
func TestCleared(t *testing.T) {
	d := newBooks(100_000, "a")
	for range 20 {
		id := d.send("s", "a", 10_000, 0)
		d.pass(4 * time.Second) // four times as long as told
		d.First(d.now, id)
		d.Ended(d.now, Outcome{Turn: id, Cached: 0})
	}
	running := d.send("s2", "a", 5_000, 0)
	was := d.look("", "a")
	if was.Rates.Token < 0.3 || was.Hot == 0 {
		t.Fatalf("%+v", was)
	}
	d.Cleared("a")
	c := d.look("", "a")
	if c.Rates != was.Rates || c.InFlight != 1 || c.Pending != 5_000 || c.Hot != 0 || c.Wanted != 0 || d.Home("s") != "" || d.Sessions() != 0 {
		t.Fatalf("%+v", c)
	}
	d.Ended(d.now, Outcome{Turn: running})
	if c = d.look("", "a"); c.InFlight != 0 || c.Pending != 0 || d.accounts["a"].held != 0 {
		t.Fatalf("%+v", c)
	}
}

// A turn that never was at its worker takes nobody's home away.
func TestLostTurnLeavesTheHome(t *testing.T) {
	d := newBooks(100_000, "a", "b")
	d.serve("s", "a", 10_000, 0)
	held := d.accounts["a"].held
	lost := d.send("s", "a", 12_000, 10_000)
	d.Ended(d.now, Outcome{Turn: lost, Err: true})
	if d.Home("s") != "a" || d.accounts["a"].held != held {
		t.Fatalf("at home at %q, which has %d of %d", d.Home("s"), d.accounts["a"].held, held)
	}
	lost = d.send("new", "b", 12_000, 0)
	d.Ended(d.now, Outcome{Turn: lost, Err: true})
	if d.Home("new") != "" || d.accounts["b"].held != 0 {
		t.Fatalf("at home at %q, which has %d", d.Home("new"), d.accounts["b"].held)
	}
}

// Idle sessions are forgotten, the oldest first, where there are too many.
func TestBooksAreBounded(t *testing.T) {
	d := &desk{Books: NewBooks(100), now: epoch}
	d.Worker("a", Limits{})
	d.Worker("b", Limits{})
	for i := range 5_000 {
		d.serve(fmt.Sprint("s", i), []string{"a", "b"}[i%2], 1000, 0)
		d.pass(time.Millisecond)
	}
	if d.Sessions() != 100 || len(d.homes) != 100 || d.Home("s4999") != "b" || d.Home("s4899") != "" {
		t.Fatalf("%d sessions, %d homes", d.Sessions(), len(d.homes))
	}
	for i := range 5_000 {
		d.families.spread(d.now, uint64(i+1), "a")
	}
	if n := len(d.families.of); n != mostFamilies || d.families.of[1] != nil || d.families.of[5_000] == nil {
		t.Fatalf("%d families", n)
	}
}

// idleTokens is what idle sessions at a worker will want: as summed by steps,
// and session by session.
func idleTokens(a *account, now time.Time) (got, want float64) {
	got, _ = a.lasts.sum(now)
	for s := a.idle.front; s != nil; s = s.next {
		if now.Sub(s.last) < idleFor-lastStep {
			want += s.wants(now) * float64(s.tokens-s.pledged())
		}
	}
	return got, want
}

// Whatever happens in whatever order: nothing is counted that is not there.
func TestBooksBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newBooks(20_000, "a", "b")
		var running []string
		worker := rapid.SampledFrom([]string{"a", "b", "gone"})
		session := rapid.SampledFrom([]string{"", "s1", "s2", "s3", "s4"})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d.pass(time.Duration(rapid.IntRange(-5, 40_000).Draw(t, "ms")) * time.Millisecond)
			some := "x"
			if len(running) > 0 {
				some = rapid.SampledFrom(running).Draw(t, "turn")
			}
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 11:
				d.Lease(d.now, session.Draw(t, "session"), worker.Draw(t, "worker"), rapid.IntRange(-1, 12_000).Draw(t, "leased"), d.now.Add(time.Duration(rapid.IntRange(-1, 100).Draw(t, "for"))*time.Second))
			case 0, 1, 2:
				running = append(running, d.send(session.Draw(t, "session"), worker.Draw(t, "worker"), rapid.IntRange(0, 9_000).Draw(t, "prompt"), rapid.IntRange(-1, 9_000).Draw(t, "overlap")))
			case 3:
				d.First(d.now, some)
			case 4:
				d.Tokens(d.now, some, rapid.IntRange(0, 500).Draw(t, "tokens"))
			case 5:
				d.Ended(d.now, Outcome{Turn: some, Output: rapid.IntRange(0, 500).Draw(t, "output"), Cached: rapid.IntRange(-1, 9_000).Draw(t, "cached"), Err: rapid.Bool().Draw(t, "err")})
			case 6:
				d.Evicted(d.now, worker.Draw(t, "worker"), rapid.IntRange(-1, 30_000).Draw(t, "evicted"))
			case 7:
				d.Closed(d.now, session.Draw(t, "session"))
				d.Shrunk(d.now, session.Draw(t, "shrunk"), rapid.IntRange(0, 50_000).Draw(t, "kept"))
			case 8:
				if w := worker.Draw(t, "worker"); rapid.IntRange(0, 4).Draw(t, "restart") == 0 && w != "gone" {
					d.Gone(w)
					d.Worker(w, Limits{KVTokens: 20_000})
				}
			case 9:
				d.Cleared(worker.Draw(t, "worker"))
			case 10:
				d.Forget(session.Draw(t, "session"))
			}
			for _, w := range []string{"a", "b"} {
				c := d.look("s1", w)
				if c.InFlight < 0 || c.Pending < 0 || c.Active < 0 || c.Decoding < 0 || c.Hot < 0 || !(c.Backlog >= 0) || !(c.Wanted >= 0) || !(c.Typical >= 0) || !(c.Off >= 0) {
					t.Fatalf("%s: %+v", w, c)
				}
			}
		}
		for _, id := range running {
			d.Ended(d.now, Outcome{Turn: id, Output: 3})
		}
		listed := 0
		for _, w := range []string{"a", "b"} {
			a := d.accounts[w]
			if c := d.look("", w); c.InFlight != 0 || c.Pending != 0 || c.Active != 0 || c.Decoding != 0 || c.Backlog != 0 || a.reading != 0 || math.Abs(a.running) > 0.5 || len(a.waits) != 0 {
				t.Fatalf("%s: %+v, %+v", w, c, a)
			}
			held, typical, homes, spent, leased := 0, 0, 0, false, 0
			for s := a.idle.front; s != nil; s = s.next {
				if spent = spent || s == a.spent; spent && s.held != 0 {
					t.Fatalf("%s: %d tokens of %s are passed by", w, s.held, s.session)
				}
				held += s.held
				if !s.tail {
					listed++
				}
				if s.home && !s.tail {
					typical += s.tokens
					homes++
					leased += s.pledged()
				}
			}
			if leased != a.leased || len(a.leases) > 4 {
				t.Fatalf("%s: %d tokens of %d sessions are leased, counts %d", w, leased, len(a.leases), a.leased)
			}
			if got, want := idleTokens(a, d.now); math.Abs(got-want) > 1+want/20 {
				t.Fatalf("%s: idle sessions will want %.0f tokens, summed %.0f", w, want, got)
			}
			if held != a.held || homes != a.homes || math.Abs(float64(typical)-a.typical) > 0.5 {
				t.Fatalf("%s: %d held of %d, %d homes of %d, %d tokens of %v", w, held, a.held, homes, a.homes, typical, a.typical)
			}
		}
		if listed != d.Sessions() || len(d.turns) != 0 {
			t.Fatalf("%d stays, %d listed, %d turns", d.Sessions(), listed, len(d.turns))
		}
	})
}

func BenchmarkBooks(b *testing.B) {
	for _, sessions := range []int{128, 5_000} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			d := newBooks(1_000_000, "a", "b", "c", "d", "e", "f", "g", "h")
			names, all := []string{"a", "b", "c", "d", "e", "f", "g", "h"}, make([]string, sessions)
			for i := range all {
				all[i] = fmt.Sprint("s", i)
				d.serve(all[i], names[i%8], 50_000, 0)
			}
			cs := make([]Candidate, 8)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				n := Need{Turn: "t", Session: all[i%sessions], Prompt: 50_000}
				for k := range cs {
					cs[k] = Candidate{Worker: names[k]}
					d.Fill(d.now, &n, &cs[k])
				}
				d.Sent(d.now, Sending{Need: &n, Worker: names[i%8], Overlap: 49_000})
				d.First(d.now, "t")
				d.Ended(d.now, Outcome{Turn: "t", Output: 100, Cached: 49_000})
				d.pass(10 * time.Millisecond)
			}
		})
	}
}
