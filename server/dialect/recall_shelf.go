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

// search returns the place of raw in a bucket's order, and the thing there of
// which most is as raw begins, with how much that is.
func search[T made](bucket []T, raw []byte) (place int, x T, same int) {
	low, high := 0, len(bucket)
	for low < high {
		mid := (low + high) / 2
		other := bucket[mid].place().raw
		n := commonPrefix(other, raw)
		if n > same || n == same && n == len(other) { // all of it rather than some
			x, same = bucket[mid], n
		}
		if n == len(other) || n < len(raw) && other[n] < raw[n] {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, x, same
}

// near returns the thing of which most is as raw begins, and how much that is.
func (s *shelf[T]) near(bucket uint64, raw []byte) (x T, same int) {
	_, x, same = search(s.buckets[bucket], raw)
	return x, same
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
	p := x.place()
	l := s.lane(p)
	l.Remove(p.at)
	l.bytes -= p.size
	s.bytes -= p.size
	s.count--
	b := s.buckets[p.bucket]
	i, _, _ := search(b, p.raw)
	for i--; i >= 0; i-- { // equal ones stand side by side
		if b[i] == x {
			b = append(b[:i], b[i+1:]...)
			break
		}
	}
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
