package route

import (
	"math"
	"testing"
	"time"
)

// What is leased of an idle session counts whole until its time is over: in the
// memory price of others, so that they are repelled, and for the gate. Its own
// turns do not pay for it.
func TestLeasesCountWhole(t *testing.T) {
	d := newBooks(100_000, "a", "b")
	for _, held := range []int{0, 40_000} { // it has come back once
		d.serve("s1", "a", 40_000, held)
	}
	d.Lease(d.now, "s1", "a", 30_000, d.now.Add(time.Hour))
	want := func(when, session string, wanted float64, hot int) {
		t.Helper()
		if c := d.look(session, "a"); math.Abs(c.Wanted-wanted) > 0.01 || c.Hot != hot {
			t.Errorf("%s, to %q: %.3f wanted, %d hot; want %.3f, %d", when, session, c.Wanted, c.Hot, wanted, hot)
		}
	}
	want("at once", "", 0.4, 40_000)
	d.pass(30 * time.Minute)
	want("half an hour later", "", 0.3, 30_000)
	want("half an hour later", "s1", 0, 0)
	n := &Need{Turn: "t", Session: "new", Prompt: 50_000}
	empty, held := Candidate{Worker: "b", KVTokens: 100_000}, Candidate{Worker: "a", KVTokens: 100_000}
	d.Fill(d.now, n, &empty)
	d.Fill(d.now, n, &held)
	strategy, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	if got := Place(strategy, *n, []Candidate{held, empty}); got.Worker != "b" {
		t.Errorf("a new session goes to %s: %s", got.Worker, got.Reason)
	}
	d.pass(31 * time.Minute)
	want("over", "", 0, 0)
	d.serve("s1", "a", 41_000, 40_000)
	d.Lease(d.now, "s1", "b", 41_000, d.now.Add(time.Hour)) // it is not at home there
	d.Lease(d.now, "s1", "a", 41_000, d.now.Add(time.Hour))
	d.pass(10 * time.Minute)
	want("leased again", "", 0.41, 41_000)
	d.serve("s1", "b", 42_000, 0)
	want("moved", "", 0, 0)
	d.Lease(d.now, "s1", "b", 42_000, d.now.Add(time.Hour))
	d.Closed(d.now, "s1")
	d.pass(11 * time.Minute)
	if c := d.look("", "b"); c.Wanted != 0 || c.Hot != 0 {
		t.Errorf("the session is over: %+v", c)
	}
}
