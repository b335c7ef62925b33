package dialect

import (
	"container/list"
	"encoding/binary"
	"math/bits"
)

// shelf holds things by the bytes that they were made of, up to so many bytes
// of memory. What came once takes a quarter of them at most, and what was not
// asked for the longest goes first. It is not safe for concurrent use.
type shelf[T made] struct {
	most, bytes int
	once        lane           // what came once
	often       lane           // what came again
	buckets     map[uint64][]T // each in the order of the bytes
	count       int            // of things
}

// made is what a shelf holds.
type made interface {
	comparable
	place() *spot
}

// lane is a part of a shelf, the latest first.
type lane struct {
	list.List
	bytes int
}

// spot is where a thing stands on a shelf.
type spot struct {
	bucket uint64
	raw    []byte // what the thing was made of
	size   int    // bytes that it takes
	again  bool   // it came more than once
	at     *list.Element
}

func (s *spot) place() *spot { return s }

func newShelf[T made](most int) shelf[T] {
	return shelf[T]{most: most, buckets: map[uint64][]T{}}
}

// search returns the place of raw in a bucket's order, and where the thing is of
// which most is as raw begins, −1 for none, with how much that is. What stands
// between two things begins as both do, so that much is not compared again.
func search[T made](bucket []T, raw []byte) (place, like, same int) {
	like = -1
	low, high := 0, len(bucket)
	below, above := 0, 0 // bytes that raw has in common with its neighbours so far
	for low < high {
		mid := (low + high) / 2
		other := bucket[mid].place().raw
		n := min(below, above)
		n += commonPrefix(other[n:], raw[n:])
		if n > same || n == same && n == len(other) { // all of it rather than some
			like, same = mid, n
		}
		if n == len(other) || n < len(raw) && other[n] < raw[n] {
			low, below = mid+1, n
		} else {
			high, above = mid, n
		}
	}
	return low, like, same
}

// near returns the thing of which most is as raw begins, how much that is, and
// where in its bucket it stands, for dropAt.
func (s *shelf[T]) near(bucket uint64, raw []byte) (x T, same, at int) {
	b := s.buckets[bucket]
	_, at, same = search(b, raw)
	if at >= 0 {
		x = b[at]
	}
	return x, same, at
}

func (s *shelf[T]) lane(p *spot) *lane {
	if p.again {
		return &s.often
	}
	return &s.once
}

// put puts a thing there, as the latest one, unless it would drive out most
// others. What is too much goes.
func (s *shelf[T]) put(x T) {
	p := x.place()
	if p.size > s.most/2 {
		return
	}
	b := s.buckets[p.bucket]
	i, _, _ := search(b, p.raw)
	b = append(b, x)
	copy(b[i+1:], b[i:])
	b[i] = x
	s.buckets[p.bucket] = b
	l := s.lane(p)
	p.at = l.PushFront(x)
	l.bytes += p.size
	s.bytes += p.size
	s.count++
	for s.once.bytes > s.most/4 && s.once.Len() > 1 {
		s.drop(s.once.Back().Value.(T))
	}
	for s.bytes > s.most && s.often.Len() > 1 {
		s.drop(s.often.Back().Value.(T))
	}
}

// touch makes a thing the latest of those that came again.
func (s *shelf[T]) touch(x T) { s.often.MoveToFront(x.place().at) }

// drop takes a thing off.
func (s *shelf[T]) drop(x T) {
	b := s.buckets[x.place().bucket]
	i, _, _ := search(b, x.place().raw)
	for i--; b[i] != x; { // equal ones stand side by side
		i--
	}
	s.dropAt(x, i)
}

// dropAt takes a thing off that stands there in its bucket.
func (s *shelf[T]) dropAt(x T, i int) {
	p := x.place()
	l := s.lane(p)
	l.Remove(p.at)
	l.bytes -= p.size
	s.bytes -= p.size
	s.count--
	b := s.buckets[p.bucket]
	b = append(b[:i], b[i+1:]...)
	clear(b[len(b):cap(b)])
	if s.buckets[p.bucket] = b; len(b) == 0 {
		delete(s.buckets, p.bucket)
	}
}

// commonPrefix returns how many bytes a and b begin with alike.
func commonPrefix(a, b []byte) int {
	const step = 4 << 10
	n := min(len(a), len(b))
	if n > 0 && &a[0] == &b[0] {
		return n
	}
	i := 0
	for i+step <= n && string(a[i:i+step]) == string(b[i:i+step]) {
		i += step
	}
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
