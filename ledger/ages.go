package ledger

import "time"

// hurry is how much faster than time goes by the time of ages may go.
const hurry = 10

// ages is the time by which rows are too old. It is the clock's on the wall,
// but one that leaps ahead is followed at ten times the pace of the even
// clock: a computer that slept for a night has caught up within the hour,
// while a clock that is years ahead until somebody sets it right costs hours
// of old rows and not all that there are. The zero value begins with the first
// look.
type ages struct {
	most time.Time // how far it may have come, of the clock on the wall alone
	seen time.Time // when that was
}

// time is the time to go by now.
func (a *ages) time(now time.Time) time.Time {
	told := now.Round(0)
	gone := now.Sub(a.seen)
	switch even := a.most.Add(gone); {
	case a.seen.IsZero():
		a.most = told
	case told.After(even):
		a.most = earlier(told, a.most.Add(hurry*gone))
	default: // a clock that is set back may be set right again
		a.most = even
	}
	a.seen = now
	return earlier(told, a.most)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
