package ledger

import (
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/wall"
)

// TestClockAhead: a clock that is years ahead for an hour does not cut what is
// weeks old, one that was set back is followed at once, and after a night's
// sleep of the computer what is old is cut within the hour.
func TestClockAhead(t *testing.T) {
	const years = 5 * 365 * 24 * time.Hour
	f, _ := filledFile(t, 20, 0)
	newest := turnOf(19).At
	start := time.Now()
	toNewest := newest.Sub(start.Round(0)) // the clock is at the newest row
	var a ages
	left := func(even, ahead time.Duration) (int, time.Duration) {
		now := wall.Step(start.Add(even), (toNewest + ahead).Truncate(time.Second))
		by := a.time(now)
		sweepAll(t, f, Options{MaxAge: 24 * time.Hour, MaxBytes: -1}, by)
		return f.count(t, "turns"), by.Sub(newest) - even
	}
	look := func(what string, even, ahead time.Duration, want int) time.Duration {
		t.Helper()
		n, off := left(even, ahead)
		if n != want {
			t.Fatalf("%s, after %v: %d of 20 turns are left, want %d", what, even, n, want)
		}
		return off
	}
	minutes := func(what string, from, to, ahead time.Duration, want int) {
		t.Helper()
		for even := from; even <= to; even += time.Minute {
			look(what, even, ahead, want)
		}
	}
	look("at first", 0, 0, 20)
	minutes("the clock is ahead", time.Minute, time.Hour, years, 20)
	if off := look("the clock is set right", time.Hour, 0, 20); off.Abs() > 2*time.Second {
		t.Errorf("after it was set right ages are off by %v", off)
	}
	if off := look("the clock is set back", time.Hour, -years, 20); (off + years).Abs() > 2*time.Second {
		t.Errorf("when it is set back ages are off by %v", off+years)
	}
	minutes("and right again", time.Hour, 2*time.Hour, 0, 20)
	for even := 2 * time.Hour; even <= 5*time.Hour; even += time.Minute {
		left(even, 30*time.Hour)
	}
	look("the computer had slept", 5*time.Hour, 30*time.Hour, 0)
}
