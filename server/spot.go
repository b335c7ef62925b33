package server

import (
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/route"
)

// How long a place in the queue is kept for who left it unserved, and how many
// are.
const (
	spotFor   = 2 * time.Minute
	spotsMost = 8192
)

// spots are the places of turns that left the queue unserved: refused, or
// their clients hung up. Who comes again with the same turn in time has waited
// since the first attempt. The zero value is empty and ready.
type spots struct {
	of map[spotKey]spot
}

// spotKey tells a turn from others: its session, and the hash of its prompt.
type spotKey struct {
	tenant, session string
	prompt          uint64
}

type spot struct {
	arrived, effective time.Time
	ends               time.Time
}

// keep remembers the place of a flight that leaves.
func (s *spots) keep(f *flight, it route.Item, now time.Time) {
	if s.of == nil {
		s.of = map[spotKey]spot{}
	}
	if len(s.of) >= spotsMost {
		for k, old := range s.of {
			if !now.Before(old.ends) {
				delete(s.of, k)
			}
		}
		if len(s.of) >= spotsMost {
			return
		}
	}
	s.of[keyOf(f)] = spot{it.Arrived, it.Effective, now.Add(spotFor)}
}

// take returns the place that is kept for a flight, which then has it.
func (s *spots) take(f *flight, now time.Time) (spot, bool) {
	if len(s.of) == 0 {
		return spot{}, false
	}
	k := keyOf(f)
	old, ok := s.of[k]
	delete(s.of, k)
	return old, ok && now.Before(old.ends)
}

// keyOf hashes the flight's prompt: of its blocks the last hash says it all.
func keyOf(f *flight) spotKey {
	from, h := 0, xxh3.New()
	var b [4 << 10]byte
	for size, chain := range f.chains {
		if n := len(chain); n > 0 && (from == 0 || size*n < from) {
			from = size * n
			binary.LittleEndian.PutUint64(b[:], chain[n-1])
		}
	}
	if from > 0 {
		h.Write(b[:8])
	}
	var room [len(b) / 4]uint32
	for from < f.job.Prompt.Len() {
		ids := f.job.Prompt.AppendTo(room[:0], from, min(from+len(room), f.job.Prompt.Len()))
		for i, id := range ids {
			binary.LittleEndian.PutUint32(b[4*i:], id)
		}
		h.Write(b[:4*len(ids)])
		from += len(ids)
	}
	return spotKey{f.t.Tenant, f.t.Who.Session, h.Sum64()}
}
