package route

import (
	"math"
	"testing"
	"time"
)

// What a session left behind is priced as a session that ended, whatever
// becomes of the session; it goes with its blocks, and with the session's name.
func TestShrunkSessions(t *testing.T) {
	d := newBooks(200_000, "a", "b")
	d.serve("s1", "a", 170_000, 0)
	d.serve("s1", "a", 175_000, 170_000)
	d.Shrunk(d.now, "s1", 35_000)
	if c := d.look("", "a"); math.Abs(c.Wanted-0.875) > 0.01 || c.Hot != 35_000 || c.Typical != 35_000 {
		t.Fatalf("%+v", c)
	}
	d.serve("s1", "a", 40_000, 35_000)
	if c := d.look("", "a"); math.Abs(c.Wanted-0.9) > 0.01 || c.Hot != 40_000 {
		t.Fatalf("it goes on: %+v", c)
	}
	d.Shrunk(d.now, "s1", 38_000) // its reasoning is dropped
	d.Shrunk(d.now, "s1", 50_000) // nothing is
	if c := d.look("", "a"); math.Abs(c.Wanted-0.9) > 0.01 || c.Hot != 38_000 || d.Sessions() != 1 {
		t.Fatalf("%d stays, %+v", d.Sessions(), c)
	}
	d.pass(5 * time.Minute)
	if c := d.look("s1", "a"); math.Abs(c.Wanted-142_000.0/200_000*60/330) > 0.01 {
		t.Fatalf("after five minutes: %+v", c)
	}
	d.Evicted(d.now, "a", 180_000)
	d.pass(time.Second)
	if c := d.look("s1", "a"); c.Wanted > 0.001 {
		t.Fatalf("its blocks are gone: %+v", c)
	}
	d.serve("s1", "b", 40_000, 0)
	d.Shrunk(d.now, "s1", 10_000)
	if c := d.look("s1", "b"); math.Abs(c.Wanted-0.15) > 0.01 {
		t.Fatalf("at another worker: %+v", c)
	}
	d.Forget("s1")
	if n := d.Sessions() + d.tails; n != 0 {
		t.Fatalf("%d stays of a session that is forgotten", n)
	}
}
