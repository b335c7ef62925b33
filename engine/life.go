package engine

import (
	"time"

	"github.com/agentinfer/dyn/turn"
)

// The waits before a lost worker is started again: the first one, doubled for
// each life that ended by itself, up to the longest. A life that was ready for
// steadyLife starts the count anew.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
	steadyLife   = time.Minute
)

// giveUpAfter is how many lives in a row may end by themselves. What goes wrong
// so often goes wrong for a reason that another try does not mend.
const giveUpAfter = 6

// never is a pause that only a person ends.
const never time.Duration = -1

// byHand is why a worker takes no turns although nothing is wrong with it.
const byHand = "drained by hand"

// restarting is why it takes none until it was started anew.
const restarting = "restarting"

// life decides about the states of one worker. It has no clock and no effects:
// every step is told the time.
type life struct {
	state    turn.State
	why      string
	since    time.Time
	restarts int  // times its process was started again
	failures int  // lives in a row that ended by themselves
	held     bool // a person wants no new turns here

	took time.Duration // its last start, up to when it was ready; 0 is not known
	back time.Time     // when it is expected to be ready; zero is not known, or that it is
}

// enter moves to a state. A worker that is Gone stays so.
func (l *life) enter(s turn.State, why string, now time.Time) {
	if l.state == turn.Gone || (l.state == s && l.why == why) {
		return
	}
	if l.state != s {
		l.since, l.back = now, time.Time{}
	}
	l.state, l.why = s, why
}

// ready notes that the worker can serve. One that was drained stays so.
func (l *life) ready(now time.Time) {
	if l.held {
		l.enter(turn.Draining, byHand, now)
		return
	}
	l.enter(turn.Ready, "", now)
}

// started notes that its process can serve, before ready, and with that how
// long a start takes.
func (l *life) started(now time.Time) {
	if l.state == turn.Starting {
		l.took = now.Sub(l.since)
	}
}

// expect notes that its process is started after a wait.
func (l *life) expect(now time.Time, wait time.Duration) {
	if l.took > 0 {
		l.back = now.Add(wait + l.took)
	}
}

// lost notes that the worker was lost and says how long to wait before it is
// started again, or never.
func (l *life) lost(why string, now time.Time) time.Duration {
	if l.state == turn.Ready && now.Sub(l.since) >= steadyLife {
		l.failures = 0
	}
	l.failures++
	l.enter(turn.Down, why, now)
	if l.failures >= giveUpAfter {
		l.back = time.Time{}
		return never
	}
	wait := pause(l.failures)
	l.expect(now, wait)
	return wait
}

// again notes that the process is being started once more.
func (l *life) again(now time.Time) {
	l.restarts++
	l.enter(turn.Starting, "no token yet", now)
	l.expect(now, 0)
}

// pause is the wait after n failures in a row.
func pause(n int) time.Duration {
	wait := firstPause
	for ; n > 1 && wait < longestPause; n-- {
		wait *= 2
	}
	return min(wait, longestPause)
}

// takes reports whether a worker in that state may be given new turns.
func takes(s turn.State) bool { return s == turn.Ready }
