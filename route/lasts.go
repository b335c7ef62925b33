package route

import "time"

// lasts are the tokens of idle sessions by when those were last seen, in steps
// of lastStep, so that what they will want is summed over steps and not over
// sessions. What is older than idleFor is gone. The zero value is empty.
type lasts struct {
	zero time.Time
	ring []lastSum
}

// lastSum is one step's, by kind.
type lastSum struct {
	step   int64
	tokens [lastKinds]float64
	times  [lastKinds]float64 // seconds since zero × tokens
}

// lastKind tells idle sessions apart.
type lastKind int

const (
	cameBack lastKind = iota // and may again
	cameOnce                 // so far
	isOver
	lastKinds
)

const lastStep = 5 * time.Second

// add counts tokens of a session last seen at some time; what was added is
// taken away with the same time and a minus.
func (l *lasts) add(last time.Time, kind lastKind, tokens float64) {
	if l.ring == nil {
		l.zero, l.ring = last.Add(-idleFor), make([]lastSum, idleFor/lastStep+1)
	}
	since := last.Sub(l.zero)
	step := int64(since / lastStep)
	n := int64(len(l.ring))
	s := &l.ring[((step%n)+n)%n]
	switch {
	case s.step < step:
		*s = lastSum{step: step}
	case s.step > step: // too long ago
		return
	}
	s.tokens[kind] += tokens
	s.times[kind] += tokens * since.Seconds()
	if s.tokens[kind] == 0 {
		s.times[kind] = 0 // to the last digit
	}
}

// sum is how many tokens the sessions will want, and those of sessions that
// the gate counts.
func (l *lasts) sum(now time.Time) (wanted float64, warm int) {
	for i := range l.ring {
		s := &l.ring[i]
		for k, tokens := range s.tokens {
			if tokens <= 0 {
				continue
			}
			last := l.zero.Add(time.Duration(s.times[k] / tokens * float64(time.Second)))
			switch idle := now.Sub(last); {
			case idle >= idleFor || lastKind(k) == isOver && idle >= endedFor:
			case lastKind(k) == cameBack && idle < warmFor:
				warm += int(tokens)
				fallthrough
			default:
				wanted += tokens * comesBack(idle)
			}
		}
	}
	return wanted, warm
}
