package route

import (
	"fmt"
	"time"
)

// When a breaker opens, and for how long: after so many failures in a row, for
// the first pause, doubled with each trial that fails, up to the longest.
const (
	breakAfter   = 3
	breakPause   = time.Second
	longestBreak = time.Minute
	worthWaiting = 5 * time.Second // for the end of a pause, where there is no other worker
)

// Breaker decides whether a worker that says that it is ready is given turns.
// One whose turns fail several times in a row gets none for a pause, then a
// single turn on trial. To be busy is no failure, nor is a turn that was at
// fault itself: who calls it knows.
//
// It is a value without a clock; its zero value lets every turn through. It
// must be guarded by whoever holds it.
type Breaker struct {
	fails  int    // turns in a row that failed
	last   string // the last of them
	open   bool
	pause  time.Duration // the present one, or the last; 0 is none since a turn ended well
	until  time.Time     // when it ends
	trial  bool          // a turn is on trial
	reason string        // of the last failure
}

// Open reports whether the worker is to be given no turn now.
func (b *Breaker) Open(now time.Time) bool { return b.open && (b.trial || now.Before(b.until)) }

// Take notes that a turn goes to the worker; it reports whether that one is on
// trial. Such a turn ends with Fail, Began, Done, or Drop.
func (b *Breaker) Take() (trial bool) {
	trial = b.open && !b.trial
	b.trial = b.open
	return trial
}

// Fail notes that a turn was lost to the worker, and why. One turn that is lost
// again and again may be why itself, and counts once. It returns after how long
// the worker may be tried again; 0 is at once.
func (b *Breaker) Fail(now time.Time, turn, reason string) time.Duration {
	b.reason = reason
	if turn == b.last && b.pause == 0 {
		return 0
	}
	b.fails++
	b.last = turn
	switch {
	case b.fails < breakAfter:
		return 0
	case b.open && !b.trial && now.Before(b.until):
		return b.until.Sub(now) // of a turn that was sent before it opened
	}
	b.pause = min(max(2*b.pause, breakPause), longestBreak)
	b.open, b.trial, b.until = true, false, now.Add(b.pause)
	return b.pause
}

// Began notes that a turn got its first token: others may come again, and the
// next failure opens it at once, for longer.
func (b *Breaker) Began() {
	if b.open {
		b.open, b.trial, b.fails = false, false, breakAfter-1
	}
}

// Done notes that a turn ended well.
func (b *Breaker) Done() { *b = Breaker{} }

// Drop notes that a turn on trial ended and told nothing: its client left, or
// it was refused for what it asked.
func (b *Breaker) Drop() { b.trial = false }

// Soon reports whether it is worth a turn's while to wait for an open one.
func (b *Breaker) Soon(now time.Time) bool { return b.until.Sub(now) <= worthWaiting }

// Why says for a person what Open means now; "" while it is closed.
func (b *Breaker) Why(now time.Time) string {
	switch {
	case !b.Open(now):
		return ""
	case b.trial:
		return fmt.Sprintf("one turn is on trial, after %d failed in a row: %s", b.fails, b.reason)
	}
	return fmt.Sprintf("no turns for %v, since %d failed in a row: %s", b.until.Sub(now).Round(100*time.Millisecond), b.fails, b.reason)
}
