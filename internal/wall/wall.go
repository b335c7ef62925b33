package wall

import (
	"time"
	"unsafe"
)

// instant is a time.Time as the standard library lays it out: of one with a
// monotonic reading the highest bit of wall is set, the next 33 are seconds
// since 1885, and ext is the other reading. TestStep fails where that changes.
type instant struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

const (
	both    = 1 << 63 // there is a monotonic reading
	seconds = 30      // bits below those of the seconds
)

// Step is t as it would have been read had the clock on the wall been set
// ahead by so much before, in whole seconds; below 0 it was set back. t must
// come from time.Now.
func Step(t time.Time, by time.Duration) time.Time {
	i := (*instant)(unsafe.Pointer(&t))
	if i.wall&both == 0 {
		panic("wall: a time without a monotonic reading")
	}
	i.wall += uint64(by/time.Second) << seconds
	return t
}

// Steady reports whether a time still has its monotonic reading: whether its
// differences to others bear a jump of the clock.
func Steady(t time.Time) bool { return (*instant)(unsafe.Pointer(&t)).wall&both != 0 }
