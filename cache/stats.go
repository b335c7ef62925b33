package cache

import "github.com/agentinfer/dyn/turn"

// counts are what an index could not do.
type counts struct {
	orphans int64 // stores whose parent never came
	misfit  int64 // stores of another block size, engine hashes that changed their meaning
	evicted int64 // blocks that made room
	refused int64 // stores, expectations and assumptions beyond MaxBlocks, colliding hashes
	unknown int64 // blocks removed, or stored without tokens, that were not known
}

// Stats tells how full an index is and what it could not place.
type Stats struct {
	Holders int
	Blocks  int   // distinct blocks known
	Held    int   // blocks times holders, expected ones left out
	Parked  int   // stores that wait for their parent
	Bytes   int64 // of memory; tables and sets to the byte, what waits or is expected as good as can be told

	Orphans int64 // stores dropped because their parent never came
	Misfit  int64 // stores of another block size or with hashes of another meaning
	Refused int64 // stores, expectations and assumptions that found no room
	Evicted int64 // blocks that were dropped when memory was full
	Unknown int64 // removals and placeholders of blocks that were not known: harmless, but they tell of lost events
}

// Dropped is the number of events that could not be placed.
func (s Stats) Dropped() int64 { return s.Orphans + s.Misfit + s.Refused }

// Stats returns the figures of this instant.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.count
	s := Stats{
		Blocks: x.nodes.alive, Bytes: x.bytes(),
		Orphans: c.orphans, Misfit: c.misfit, Refused: c.refused, Unknown: c.unknown, Evicted: c.evicted,
	}
	for _, o := range x.holders {
		if o != nil {
			s.Holders++
			s.Held += o.blocks
			s.Parked += len(o.parked.wait)
		}
	}
	return s
}

// emptySize is what an index takes before anything is in it, holderSize what
// a holder takes.
const (
	emptySize  = 64 << 10
	holderSize = 512
)

// bytes is how much memory the index takes; mu must be held.
func (x *Index) bytes() int64 {
	return x.mem.taken + int64(x.sets.bytes+x.loose+4*x.dueLen+emptySize+holderSize*len(x.by))
}

// Cached tells the tokens of distinct blocks that a holder has in each tier,
// as its events say: the GPU tier always, others when they hold something. -1
// is unknown: no events came. Used and Capacity are not filled.
func (x *Index) Cached(h Holder) []turn.Tier {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.holder(h)
	if o == nil {
		return nil
	}
	if !o.fed {
		return []turn.Tier{{Name: tiers[0], Cached: -1}}
	}
	var out []turn.Tier
	for i, n := range o.cached {
		if i == 0 || n > 0 {
			out = append(out, turn.Tier{Name: tiers[i], Cached: n * x.block})
		}
	}
	return out
}
