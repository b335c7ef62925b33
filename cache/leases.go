package cache

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// maxLeases bounds the live leases; the one that ends first makes room.
const maxLeases = 8192

// Lease is a promise to try to keep a prefix for a time. Model, Hash and
// Tokens say which prefix.
type Lease struct {
	ID      string // see LeaseID
	Session string
	Agent   string
	Model   string
	Worker  string // where the prefix went last
	Hash    uint64 // chain hash of the last whole block of the prefix; 0 when it has none
	Tokens  int
	Blocks  int
	TTL     time.Duration
	Ends    time.Time // zero: Ask sets it to now + TTL
}

// LeaseID names the lease of a prefix: an ask for the same prefix of the same
// model is the same lease, whoever asks. A prefix shorter than a block is
// told by its session.
func LeaseID(l Lease) string {
	b := binary.LittleEndian.AppendUint64(nil, l.Hash)
	b = binary.LittleEndian.AppendUint64(b, uint64(l.Tokens))
	b = append(b, l.Model...)
	if l.Hash == 0 {
		b = append(append(append(append(b, 0), l.Session...), 0), l.Agent...)
	}
	return fmt.Sprintf("l%016x", xxh3.HashSeed(b, Seed))
}

// Leases are the live ones. The zero value is ready; it is safe for concurrent
// use.
type Leases struct {
	mu    sync.Mutex // guards the rest
	live  map[string]Lease
	count LeaseCounts
}

// LeaseCounts count since the start.
type LeaseCounts struct {
	Asked   int64 // all asks, renewals among them
	Renewed int64 // asks for a prefix that had a lease
	Expired int64 // leases that ran out, or made room for others
}

// Ask grants a lease, or renews the one that the prefix has; then it ends when
// the later of both does, and is the newest asker's. ID is set from the prefix.
func (s *Leases) Ask(l Lease) (renewed bool) {
	now := time.Now()
	l.ID = LeaseID(l)
	if l.Ends.IsZero() {
		l.Ends = now.Add(l.TTL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Asked++
	if s.live == nil {
		s.live = map[string]Lease{}
	}
	old, ok := s.live[l.ID]
	if renewed = ok && old.Ends.After(now); renewed {
		s.count.Renewed++
		if old.Ends.After(l.Ends) {
			l.Ends, l.TTL = old.Ends, old.TTL
		}
	} else if ok {
		s.count.Expired++
	} else if len(s.live) >= maxLeases {
		s.makeRoom(now)
	}
	s.live[l.ID] = l
	return renewed
}

// Settle notes the worker where the prefix of a lease went.
func (s *Leases) Settle(id, worker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.live[id]; ok {
		l.Worker = worker
		s.live[id] = l
	}
}

// makeRoom drops what ran out, or else the lease that ends first.
func (s *Leases) makeRoom(now time.Time) {
	if s.expire(now) > 0 {
		return
	}
	var first Lease
	for _, l := range s.live {
		if first.ID == "" || l.Ends.Before(first.Ends) {
			first = l
		}
	}
	delete(s.live, first.ID)
	s.count.Expired++
}

// expire drops the leases that ran out. mu must be held.
func (s *Leases) expire(now time.Time) (n int) {
	for id, l := range s.live {
		if !l.Ends.After(now) {
			delete(s.live, id)
			n++
		}
	}
	s.count.Expired += int64(n)
	return n
}

// Live returns the leases that have not ended at now, the largest first.
func (s *Leases) Live(now time.Time) []Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	out := make([]Lease, 0, len(s.live))
	for _, l := range s.live {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Lease) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), a.Ends.Compare(b.Ends), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Counts returns what happened so far. Leases that ran out count as expired
// from the next Live on.
func (s *Leases) Counts() LeaseCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}
