package lease

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/cache/pause"
)

// verify fails where the book contradicts itself.
func verify(t interface{ Fatalf(string, ...any) }, b *Book) {
	used, tenants, kids, of := map[*worker]int{}, map[key]int{}, map[*entry]int{}, map[string]int{}
	for k, e := range b.live {
		of[e.Tenant]++
		if k != (key{e.ID, e.Worker}) || e.at.name != e.Worker {
			t.Fatalf("%v is at %v", e.Lease, k)
		}
		if _, ok := e.at.entries[e]; !ok {
			t.Fatalf("%v is no entry of its worker", e.Lease)
		}
		if len(e.lines) == 0 && e.kids == 0 {
			t.Fatalf("nobody holds %v", e.Lease)
		}
		if !e.in && (e.own != 0 || e.parent != nil || e.kids != 0 || e.Held != 0) {
			t.Fatalf("%v counts though it is out: own %d, %d kids", e.Lease, e.own, e.kids)
		}
		if e.in {
			used[e.at] += e.own
			tenants[key{e.Tenant, e.Worker}] += e.own
			before := 0
			if p := e.parent; p != nil {
				before = p.Tokens
				if kids[p]++; !p.in || p.at != e.at || p.Ends.Before(e.Ends) || p.Held != p.Tokens {
					t.Fatalf("%v is behind %v", e.Lease, p.Lease)
				}
			}
			if e.Held != before+e.own || e.Held > e.Tokens {
				t.Fatalf("%v: own %d behind %d", e.Lease, e.own, before)
			}
		}
		for _, ln := range e.lines {
			if b.lines[ln.Line] != ln {
				t.Fatalf("%v is held by a line that is not there", e.Lease)
			}
		}
	}
	for _, e := range b.live {
		if e.kids != kids[e] {
			t.Fatalf("%v has %d kids, counts %d", e.Lease, kids[e], e.kids)
		}
	}
	for name, w := range b.workers {
		limit, known := b.budget(w)
		if w.used != used[w] || known && w.used > limit {
			t.Fatalf("%s uses %d of %d, counts %d", name, used[w], limit, w.used)
		}
		for tenant, n := range w.tenants {
			if n != tenants[key{tenant, name}] {
				t.Fatalf("%s of %s: %d, counts %d", tenant, name, tenants[key{tenant, name}], n)
			}
		}
	}
	for l, ln := range b.lines {
		if len(ln.held) == 0 && ln.pin == nil || len(ln.held) > lineMost {
			t.Fatalf("line %v has %d", l, len(ln.held))
		}
	}
	if int(b.alive.Load()) != len(b.lines) || len(b.live) > Most || fmt.Sprint(of) != fmt.Sprint(b.tenants) {
		t.Fatalf("%d lines, counts %d; %d leases; tenants %v, counts %v", len(b.lines), b.alive.Load(), len(b.live), of, b.tenants)
	}
}

// Whatever happens, the budget holds, nothing is counted twice or forgotten,
// and in the end nothing is left.
func TestBookHoldsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, now := New(Options{}), noon
		workers := []string{"w0", "w1"}
		if rapid.Bool().Draw(t, "known") {
			b.Limit(now, "w0", rapid.IntRange(0, 60).Draw(t, "kv")*block)
		}
		told := map[Line]Effect{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "s")) * time.Second)
			worker := rapid.SampledFrom(workers).Draw(t, "worker")
			session := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session")
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				b.End(session, rapid.SampledFrom([]string{"", "main"}).Draw(t, "agent"), "ended")
			case 1:
				b.Cleared(worker, "cleared")
			case 2:
				b.Gone(worker, "left")
			case 3:
				b.Limit(now, worker, rapid.IntRange(0, 60).Draw(t, "kv")*block)
			case 4:
				b.Pin(now, says(session, worker, "sysp", 0), time.Duration(rapid.IntRange(1, 300).Draw(t, "ttl"))*time.Second)
			case 5:
				b.Take(now, func(l Lease) bool { return l.Session == session }, "taken")
			case 6:
				b.Live(now)
			case 12:
				if l := Of("m", session, ""); rapid.Bool().Draw(t, "stale") {
					b.Stale(l)
				} else {
					b.Rests(now, l, pause.Key{Class: pause.Human})
					b.Holds(now, l)
				}
			case 7:
				all := b.Live(now)
				b = New(Options{})
				clear(told)
				b.Restore(now, all)
			default:
				turn := says(session, worker, "sys"+rapid.StringMatching(`[ab]{0,12}`).Draw(t, "text"), 0)
				turn.Tenant = rapid.SampledFrom([]string{"", "ci"}).Draw(t, "tenant")
				for range rapid.IntRange(0, 4).Draw(t, "marks") {
					turn.Marks = append(turn.Marks, Mark{
						Tokens: rapid.IntRange(1, turn.Prompt).Draw(t, "at"), TTL: time.Duration(rapid.IntRange(1, 300).Draw(t, "ttl")) * time.Second,
					})
				}
				u := b.Use(now, turn)
				b.Found(now, turn.Line, worker, u.Due, rapid.IntRange(-1, turn.Prompt).Draw(t, "found"), "its engine")
			}
			effects, _ := b.Drain()
			for _, e := range effects {
				if old := told[e.Line]; e.Tokens == 0 && old.Worker == e.Worker {
					delete(told, e.Line)
				} else if e.Tokens > 0 {
					told[e.Line] = e
				}
			}
			verify(t, b)
			for l := range b.lines {
				if is, was := b.effect(l), told[l]; is.Tokens > 0 && (was.Worker != is.Worker || was.Tokens != is.Tokens || was.Until.After(is.Until)) {
					t.Fatalf("of %v the router knows %v, it is %v", l, told[l], is)
				}
			}
		}
		now = now.Add(time.Hour)
		b.Live(now)
		for name, w := range b.workers {
			if w.used != 0 || len(w.entries) != 0 {
				t.Fatalf("%s: %d tokens, %d leases are left", name, w.used, len(w.entries))
			}
		}
		verify(t, b)
		if !b.Empty() {
			t.Fatalf("%d lines are left", len(b.lines))
		}
	})
}

// One tenant that asks for ever more leases: the book stays bounded, the others
// keep theirs, and what went is counted.
func TestFloodByOneTenant(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 1<<30)
	for i := range 100 {
		b.Use(now, says(fmt.Sprint("s", i), "w0", fmt.Sprintf("q%04d", i), time.Hour, 5))
	}
	for i := range Most + 3000 {
		turn := says(fmt.Sprint("f", i), "w0", fmt.Sprintf("f%05d", i), 24*time.Hour, 6)
		turn.Tenant = "flood"
		b.Use(now, turn)
	}
	verify(t, b)
	quiet := 0
	for _, l := range b.Live(now) {
		if l.Tenant == "" {
			quiet++
		}
	}
	if c := b.Counts(); quiet != 100 || b.tenants["flood"] > Most/tenantPart || c.Dropped < 3000 {
		t.Errorf("%d of the others' are left, %d of the flood, %d dropped", quiet, b.tenants["flood"], c.Dropped)
	}
}

// Ten thousand leases and more of a daemon without keys.
func TestTenThousandLeases(t *testing.T) {
	b, now := New(Options{}), noon
	b.Limit(now, "w0", 100_000*block)
	for i := range 2 * Most {
		now = now.Add(time.Millisecond)
		b.Use(now, says(fmt.Sprint("s", i), "w0", fmt.Sprintf("%05d", i), time.Hour, 5))
	}
	if verify(t, b); len(b.live) > Most || len(b.live) < Most*9/10 {
		t.Errorf("%d leases", len(b.live))
	}
}

// A turn without marks of a line without leases costs next to nothing.
func TestUseWithoutLeasesAllocatesNothing(t *testing.T) {
	b := New(Options{})
	turn := says("plain", "w0", "abc", 0)
	for range 2 {
		if n := testing.AllocsPerRun(100, func() { b.Use(noon, turn) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		b.Use(noon, says("other", "w0", "abc", time.Hour, 2)) // now the book is not empty
	}
}

func BenchmarkUse(b *testing.B) {
	for _, c := range []struct {
		name   string
		leases int
		marks  []int
	}{{"no leases", 0, nil}, {"others have", 200, nil}, {"4 marks", 200, []int{1, 2, 20, 30}}} {
		b.Run(c.name, func(b *testing.B) {
			book := New(Options{})
			book.Limit(noon, "w0", 1000*block)
			for i := range c.leases {
				book.Use(noon, says(fmt.Sprint("s", i), "w0", "a", time.Hour, 1))
			}
			turn := says("me", "w0", "abcdefghijklmnopqrstuvwxyzabcdefgh", time.Hour, c.marks...)
			b.ReportAllocs()
			for b.Loop() {
				book.Use(noon, turn)
				book.Drain()
			}
		})
	}
}
