package route

import (
	"fmt"
	"testing"
	"time"
)

// idlers is books of eight workers at which so many sessions had a turn.
func idlers(sessions int) (d *desk, names []string) {
	names = []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	d = newBooks(1_000_000, names...)
	for i := range sessions {
		d.serve(fmt.Sprint("s", i), names[i%8], 50_000, 0)
	}
	return d, names
}

// TestIdleSessionsCostNothing: however many sessions are idle, what a decision
// is made of is filled in without a byte of memory, also when the sums over
// them are made anew, and those sums stay true.
func TestIdleSessionsCostNothing(t *testing.T) {
	const sessions = 5000
	d, names := idlers(sessions)
	n := Need{Turn: "t", Session: "s7", Prompt: 50_000}
	c := Candidate{}
	if grown := testing.AllocsPerRun(100, func() {
		d.pass(time.Second)
		for _, w := range names {
			c = Candidate{Worker: w}
			d.Fill(d.now, &n, &c)
		}
	}); grown != 0 {
		t.Errorf("a decision takes %v allocations", grown)
	}
	c = d.look("", "a")
	if want := float64(sessions/8) * 50_000 * 60 / (101 + 30) / 1_000_000; c.Wanted < want*0.9 || c.Wanted > want*1.1 || c.Typical != 50_000 {
		t.Errorf("%d idle sessions want %v of the cache, %v tokens each; want %v", sessions/8, c.Wanted, c.Typical, want)
	}
}

// BenchmarkIdle is the dearest decision there is: the sums over idle sessions
// of all workers are made anew for it, which happens twice a second.
func BenchmarkIdle(b *testing.B) {
	for _, sessions := range []int{128, 5_000, DefaultSessions} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			d, names := idlers(sessions)
			start, n, c := d.now, Need{Prompt: 1000}, Candidate{}
			b.ReportAllocs()
			for b.Loop() {
				if d.pass(time.Second); d.now.Sub(start) > idleFor/2 {
					d.now = start.Add(time.Second)
				}
				for _, w := range names {
					c = Candidate{Worker: w}
					d.Fill(d.now, &n, &c)
				}
			}
		})
	}
}
