package lease

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/wall"
)

var noon = time.Now()

// chain makes hashes of a prompt whose blocks are told by letters, each with all
// before it.
func chain(text string) []uint64 {
	var out []uint64
	h := uint64(1)
	for _, c := range text {
		h = h*1099511628211 + uint64(c)
		out = append(out, h)
	}
	return out
}

const block = 16

// a turn of a session whose prompt is blocks told by letters, with marks behind
// so many of them.
func says(session, worker, text string, ttl time.Duration, marks ...int) Turn {
	t := Turn{
		ID: "t" + session + text, Line: Of("m", session, ""), Worker: worker, Chain: chain(text), Block: block, Prompt: len(text) * block, Rewrites: true,
	}
	for _, n := range marks {
		t.Marks = append(t.Marks, Mark{Tokens: n * block, TTL: ttl})
	}
	return t
}

// show is the book in a line: tokens held of all, worker, state.
func show(b *Book, now time.Time) (out string) {
	for _, l := range b.Live(now) {
		out += fmt.Sprintf("%s %d/%d@%s %s %v; ", l.Session, l.Held/block, l.Tokens/block, l.Worker, l.State, l.Ends.Sub(now))
	}
	return out
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// The life of a lease: asked, kept, growing, following its session, lost, over.
func TestLifeOfALease(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 1000*block)
	b.Limit(now, "w1", 1000*block)
	u := b.Use(now, says("s", "w0", "abcd", 5*time.Minute, 2, 4))
	if len(u.Leases) != 2 || len(u.Due) != 0 {
		t.Fatalf("%+v", u)
	}
	check(t, "asked", show(b, now), "s 4/4@w0 asked 5m0s; s 2/2@w0 asked 5m0s; ")

	now = now.Add(time.Minute)
	turn := says("s", "w0", "abcdefg", 5*time.Minute, 2, 7)
	u = b.Use(now, turn)
	b.Found(now, turn.Line, "w0", u.Due, 4*block, "its engine")
	check(t, "the last one grows, both are kept", show(b, now), "s 7/7@w0 kept 5m0s; s 2/2@w0 kept 5m0s; ")

	now = now.Add(4 * time.Minute)
	turn = says("s", "w1", "abcdefgh", 0)
	u = b.Use(now, turn)
	b.Found(now, turn.Line, "w1", u.Due, 2*block, "its engine")
	check(t, "a turn without marks uses them, elsewhere", show(b, now), "s 7/7@w1 lost 5m0s; s 2/2@w1 kept 5m0s; ")
	for _, l := range b.Live(now) {
		if l.State == Lost && l.Why != "moved from w0; its engine had 32 of 112 tokens" {
			t.Errorf("lost because %s", l.Why)
		}
	}
	if w := b.Workers(); w[0].Tokens != 0 || w[1].Tokens != 7*block {
		t.Errorf("budgets: %+v", w)
	}
	check(t, "over", show(b, now.Add(5*time.Minute)), "")
	c := b.Counts()
	if c.Asked != 4 || c.Kept != 3 || c.Lost != 1 || c.Moved != 2 || c.Ended != 2 || !b.Empty() {
		t.Errorf("%+v, empty %v", c, b.Empty())
	}
}

// What several sessions begin with counts once, and lives while one of them does.
func TestSharedPrefixCountsOnce(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 1000*block)
	b.Use(now, says("a", "w0", "sysaa", time.Minute, 3, 5))
	b.Use(now, says("b", "w0", "sysbbb", time.Minute, 3, 6))
	if got := b.Workers()[0].Tokens; got != 8*block {
		t.Errorf("%d blocks", got/block)
	}
	if n := b.End("b", "", "session ended"); n != 2 {
		t.Errorf("%d let go", n)
	}
	check(t, "a's", show(b, now), "a 5/5@w0 asked 1m0s; b 3/3@w0 asked 1m0s; ")
	b.End("a", "main", "session ended")
	if got := b.Workers()[0].Tokens; got != 0 || !b.Empty() {
		t.Errorf("%d tokens left", got)
	}
}

// A longer lease behind a prefix has the prefix live as long.
func TestNestedLeasesLiveAsLong(t *testing.T) {
	b, now := New(Options{}), noon
	one := says("s", "w0", "abcd", 0)
	one.Marks = []Mark{{Tokens: 2 * block, TTL: time.Minute}, {Tokens: 4 * block, TTL: time.Hour}}
	b.Use(now, one)
	check(t, "nested", show(b, now), "s 4/4@w0 asked 1h0m0s; s 2/2@w0 asked 1h0m0s; ")
}

// The budget: what has been idle longest gives way, a person's pin does not, and
// what does not fit at all is cut.
func TestBudget(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 40*block) // 12 blocks
	b.Use(now, says("old", "w0", "ooooo", time.Hour, 5))
	if _, err := b.Pin(now, says("pin", "w0", "pppp", 0), time.Hour); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	u := b.Use(now, says("new", "w0", "nnnnnn", time.Hour, 6))
	check(t, "the old one gives way", show(b, now), "new 6/6@w0 asked 1h0m0s; old 0/5@w0 gave way 59m0s; pin 4/4@w0 asked 59m0s; ")
	if u.Leases[0].State != Asked {
		t.Errorf("%+v", u.Leases[0])
	}
	now = now.Add(time.Minute)
	u = b.Use(now, says("big", "w0", "bbbbbbbbbbbbbbbbbbbb", time.Hour, 20))
	check(t, "cut to what is left beside the pin", show(b, now),
		"big 8/20@w0 cut 1h0m0s; new 0/6@w0 gave way 59m0s; old 0/5@w0 gave way 58m0s; pin 4/4@w0 asked 58m0s; ")
	if got := u.Leases[0]; got.Held != 8*block || got.Why != "leases may take 192 tokens of w0, 30% of its KV cache" {
		t.Errorf("%+v", got)
	}
	b.End("big", "", "session ended")
	b.Use(now, says("old", "w0", "oooooo", time.Hour, 6))
	check(t, "it competes again when it is used", show(b, now), "new 0/6@w0 gave way 59m0s; old 6/6@w0 asked 1h0m0s; pin 4/4@w0 asked 58m0s; ")
	if c := b.Counts(); c.GaveWay != 2 || c.Cut != 1 {
		t.Errorf("%+v", c)
	}
}

// One key has half of a worker's budget at most.
func TestTenantsBudget(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 40*block)
	mine := says("mine", "w0", "mmmmmmmm", time.Hour, 8)
	mine.Tenant = "ci"
	b.Use(now, mine)
	b.Use(now, says("s", "w0", "ssssss", time.Hour, 6))
	check(t, "half", show(b, now), "mine 6/8@w0 cut 1h0m0s; s 6/6@w0 asked 1h0m0s; ")
}

// What the router has to know comes once, with each change.
func TestEffects(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 40*block)
	told := func() (out string) {
		effects, news := b.Drain()
		for _, e := range effects {
			out += fmt.Sprintf("%s %d@%s; ", e.Line.Session, e.Tokens/block, e.Worker)
		}
		for _, l := range news {
			out += fmt.Sprintf("%s %s; ", l.Session, l.State)
		}
		return out
	}
	b.Use(now, says("s", "w0", "abc", time.Minute, 1, 3))
	check(t, "asked", told(), "s 3@w0; s asked; s asked; ")
	check(t, "once", told(), "")
	b.Use(now.Add(time.Second), says("s", "w1", "abcd", time.Minute, 1, 4))
	check(t, "elsewhere", told(), "s 0@w0; s 4@w1; s asked; s asked; ")
	b.End("s", "main", "session ended")
	check(t, "over", told(), "s 0@w1; s ended; s ended; ")
}

// The tail of a rewritten history is worth nothing: it gives way first, though
// it was used last.
func TestRewrittenHistoryGoesFirst(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 40*block)
	b.Use(now, says("s", "w0", "sysaaaaa", time.Hour, 3, 8))
	b.Use(now, says("other", "w0", "oo", time.Hour, 2))
	b.Use(now, says("s", "w0", "syszzzz", time.Hour, 3, 7))
	check(t, "the tail before the summary went", show(b, now), "s 0/8@w0 gave way 1h0m0s; s 7/7@w0 asked 1h0m0s; s 3/3@w0 asked 1h0m0s; other 2/2@w0 asked 1h0m0s; ")
}

// A worker that is cleared or leaves has nothing; its leases come back with
// their sessions.
func TestWorkersThatLose(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 40*block)
	b.Limit(now, "w1", 40*block)
	b.Use(now, says("s", "w0", "abc", time.Minute, 3))
	b.Cleared("w0", "w0 was started anew")
	check(t, "cleared", show(b, now), "s 3/3@w0 lost 1m0s; ")
	b.Gone("w0", "w0 left")
	check(t, "gone", show(b, now), "s 0/3@w0 lost 1m0s; ")
	turn := says("s", "w1", "abcd", 0)
	u := b.Use(now, turn)
	b.Found(now, turn.Line, "w1", u.Due, 0, "its engine")
	check(t, "back", show(b, now), "s 3/3@w1 asked 1m0s; ")
	if c := b.Counts(); c.Lost != 1 || c.Moved != 1 {
		t.Errorf("%+v", c)
	}
}

func TestPins(t *testing.T) {
	b, now := New(Options{}), noon
	l, err := b.Pin(now, Turn{Line: Of("m", "s", "")}, time.Hour)
	if err != nil || l.State != Asked || l.Why == "" {
		t.Fatalf("%+v, %v", l, err)
	}
	check(t, "waits for a turn", show(b, now), "s 0/0@ asked 1h0m0s; ")
	now = now.Add(time.Minute)
	b.Use(now, says("s", "w0", "abc", 0))
	check(t, "begun", show(b, now), "s 3/3@w0 asked 1h0m0s; ")
	now = now.Add(time.Minute)
	b.Use(now, says("s", "w0", "abcdef", 5*time.Minute, 6))
	check(t, "grown", show(b, now), "s 6/6@w0 asked 1h0m0s; ")
	got := b.Take(now, func(l Lease) bool { return l.Session == "s" }, "unpinned")
	if len(got) != 1 || got[0].State != Ended || !b.Empty() {
		t.Errorf("%+v, empty %v", got, b.Empty())
	}
	b.Use(now, says("s", "w0", "abcdefg", 0))
	check(t, "and no more", show(b, now), "")
}

// Leases end when their time is over, whatever the clock on the wall says.
func TestLeasesBearJumps(t *testing.T) {
	b := New(Options{})
	b.Use(noon, says("s", "w0", "ab", time.Minute, 2))
	for _, by := range []time.Duration{1000 * time.Hour, -1000 * time.Hour, 0} {
		if n := len(b.Live(wall.Step(noon, by))); n != 1 {
			t.Errorf("the clock set by %v: %d leases live", by, n)
		}
	}
	if n := len(b.Live(wall.Step(noon.Add(time.Minute), -1000*time.Hour))); n != 0 {
		t.Errorf("the clock set back: %d leases live for longer", n)
	}
}

// Leases of before a restart have what is left of their time, and no more than
// that, whatever the clock did meanwhile.
func TestRestore(t *testing.T) {
	b := New(Options{})
	b.Limit(noon, "w0", 1000*block)
	b.Use(noon, says("s", "w0", "abcd", time.Hour, 2, 4))
	b.Pin(noon, says("p", "w0", "ppp", 0), time.Hour)
	old := b.Live(noon)
	for _, c := range []struct {
		name string
		by   time.Duration
		want string
	}{
		{"20 minutes later", 20 * time.Minute, "s 4/4@w0 asked 40m0s; p 3/3@w0 asked 40m0s; s 2/2@w0 asked 40m0s; "},
		{"too late", time.Hour, ""},
		{"the clock was set back", -1000 * time.Hour, "s 4/4@w0 asked 1h0m0s; p 3/3@w0 asked 1h0m0s; s 2/2@w0 asked 1h0m0s; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, now := New(Options{}), noon.Add(c.by)
			next.Restore(now, old)
			check(t, "restored", show(next, now), c.want)
			next.Limit(now, "w0", 10*block)
			verify(t, next)
			if c.want == "" {
				return
			}
			next.Use(now, says("p", "w0", "pppp", 0))
			grown := false
			for _, l := range next.Live(now) {
				grown = grown || l.By == ByPin && l.Tokens == 4*block && l.Asked.Equal(noon)
			}
			if !grown {
				t.Errorf("the pin does not go on: %s", show(next, now))
			}
		})
	}
}
