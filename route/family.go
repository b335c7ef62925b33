package route

import (
	"slices"
	"time"
)

// family is what turns with the same system prompt and tools have in common.
type family struct {
	shared [5]int // what first turns found cached, of late
	n      int
	to     []hop // where such turns went in the last seconds

	prefix     uint64
	prev, next *family // by when they sent a turn, the latest in front
}

type hop struct {
	worker string
	at     time.Time
}

// How long turns of one family that start together count as a burst, how many
// workers of it are kept, and how many families.
const (
	burst        = 5 * time.Second
	burstWorkers = 16
	mostFamilies = 1024
)

// families are those that sent a turn last.
type families struct {
	of          map[uint64]*family
	front, back *family
}

// spread notes that a turn of a family goes to a worker.
func (fs *families) spread(now time.Time, prefix uint64, worker string) {
	if prefix == 0 {
		return
	}
	f := fs.of[prefix]
	switch {
	case f != nil:
		fs.remove(f)
	case len(fs.of) >= mostFamilies:
		f = fs.back // its room, and no more of it
		fs.remove(f)
		delete(fs.of, f.prefix)
		*f = family{prefix: prefix, to: f.to[:0]}
		fs.of[prefix] = f
	default:
		if fs.of == nil {
			fs.of = map[uint64]*family{}
		}
		f = &family{prefix: prefix}
		fs.of[prefix] = f
	}
	fs.push(f)
	f.to = slices.DeleteFunc(f.to, func(h hop) bool { return h.worker == worker || now.Sub(h.at) > burst })
	if len(f.to) < burstWorkers {
		f.to = append(f.to, hop{worker, now})
	}
}

func (fs *families) push(f *family) {
	f.prev, f.next = nil, fs.front
	if fs.front != nil {
		fs.front.prev = f
	} else {
		fs.back = f
	}
	fs.front = f
}

func (fs *families) remove(f *family) {
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		fs.front = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	} else {
		fs.back = f.prev
	}
}

// learn takes what the first turn of a session found cached.
func (f *family) learn(cached int) {
	if f != nil {
		f.shared[f.n%len(f.shared)] = cached
		f.n++
	}
}

// burst is how many tokens a worker will hold of a family's prompt, because a
// sibling was sent there a moment ago: the median of what siblings found.
func (f *family) burst(now time.Time, worker string) int {
	if f == nil || f.n == 0 {
		return 0
	}
	for _, h := range f.to {
		if h.worker == worker && now.Sub(h.at) <= burst {
			known := f.shared
			n := min(f.n, len(known))
			slices.Sort(known[:n])
			return known[n/2]
		}
	}
	return 0
}
