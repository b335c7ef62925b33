package route

import (
	"cmp"
	"slices"
	"time"
)

// Engines that evict by LRU have no call to keep anything. What can be done is
// to ask for a prompt again before its turn to go comes (max_tokens 1): its
// blocks count as used, and what is gone instead is older or worth less. It is
// worth it where it is known which sessions are over, since what is touched
// then is what comes back; without that it gains nothing, and where a cache
// thrashes nothing at all (docs/cache.md).

// Retouch is a rule for touching idle sessions. It is pure but for its
// functions, which tell what the caller knows of a session.
type Retouch struct {
	Zone   float64 // share of the cache that counts as about to go; RetouchZone
	Budget float64 // share of the cache that touched sessions may have; 0 touches nothing
	Rest   bool    // the budget is of what running turns leave of it

	Leased func(session string) bool                                          // it may be touched
	Left   func(session, worker string) (tokens, own int)                     // of its last prompt that the worker has, and those of it that no other session uses
	Worth  func(session string, idle time.Duration, tokens int) (per float64) // of keeping a token of it
}

// What the rule goes by. Where part of the sessions is leased and the budget is
// above RetouchSome the others lose more than those win; RetouchAll is for when
// all are, and ends are known.
const (
	RetouchZone  = 0.1
	RetouchSome  = 0.3
	RetouchAll   = 0.9
	RetouchEvery = 500 * time.Millisecond // between two looks at a worker
	retouchLeast = 0.9                    // of a prompt that must be left for it to be touched
	retouchAge   = 30 * time.Second       // from which age of evicted blocks on
)

// Retouch tells which idle sessions of a worker are to be touched now, what goes
// first in front. They count as being touched until Touched says that they
// were, or a turn of theirs comes.
//
// None are while nothing was evicted, where what is evicted was in use seconds
// ago, and while turns wait in line there. Engines evict what was not used for
// longest, ends of prompts first; so of the sessions in the oldest part of the
// cache, as Left tells it, those are touched that are whole and worth most of
// all leased ones that fit the budget.
//
// Cost: none where nothing is due; else it grows with the sessions of which
// the worker's cache has something.
func (b *Books) Retouch(now time.Time, worker string, r Retouch) (due []string) {
	a := b.accounts[worker]
	if a == nil || r.Budget <= 0 || a.limits.KVTokens <= 0 || a.lined() || a.evictionAge(now) < retouchAge {
		return nil
	}
	late := a.late(&r, int(r.Zone*float64(a.limits.KVTokens))+a.pending)
	if len(late) == 0 {
		return nil
	}
	room := r.Budget * float64(a.limits.KVTokens)
	if r.Rest {
		room = r.Budget * float64(a.limits.KVTokens-a.active)
	}
	keep := a.worthiest(now, &r, room)
	for _, s := range late {
		if keep[s] {
			s.touching = true
			due = append(due, s.session)
		}
	}
	return due
}

// lined reports whether there is more to compute at the worker than a step
// takes: what is sent now waits, and comes too late.
func (a *account) lined() bool {
	batched := a.limits.MaxBatched
	if batched <= 0 {
		batched = DefaultMaxBatched
	}
	return a.pending > batched
}

// late are the leased sessions that are whole and whose ends are in the oldest
// part of the cache, of so many tokens.
func (a *account) late(r *Retouch, zone int) (list []*stay) {
	for s, before := a.lasting(), 0; s != nil && before < zone; s = s.prev {
		if s.lost {
			continue
		}
		left, own := r.Left(s.session, a.name)
		s.lost = left <= 0
		if s.touchable() && float64(left) >= retouchLeast*float64(s.prompt) && r.Leased(s.session) {
			list = append(list, s)
		}
		before += own
	}
	return list
}

// lasting is the session that has been idle longest of which something may be
// left; nil is none.
func (a *account) lasting() *stay {
	s := a.idle.back
	if a.passed != nil {
		s = a.passed.prev
	}
	for ; s != nil && s.lost; s = s.prev {
		a.passed = s
	}
	return s
}

// touchable reports whether an idle session may come back to what is left of it.
func (s *stay) touchable() bool { return s.home && !s.closed && !s.touching && !s.lost }

// worthiest are the leased sessions that fit the room, those worth most first.
func (a *account) worthiest(now time.Time, r *Retouch, room float64) map[*stay]bool {
	type valued struct {
		s     *stay
		worth float64
	}
	var all []valued
	for s := a.lasting(); s != nil; s = s.prev {
		if s.home && !s.closed && !s.lost && r.Leased(s.session) {
			all = append(all, valued{s, r.Worth(s.session, now.Sub(s.last), s.tokens)})
		}
	}
	slices.SortStableFunc(all, func(x, y valued) int { return cmp.Compare(y.worth, x.worth) })
	keep := map[*stay]bool{}
	for _, v := range all {
		if room -= float64(v.s.tokens); room < 0 {
			break
		}
		keep[v.s] = true
	}
	return keep
}

// Touched notes that a session was asked for again, or that it could not be. To
// the engine it is as if used then.
func (b *Books) Touched(now time.Time, session string, asked bool) {
	s := b.homes[session]
	if s == nil || !s.touching {
		return
	}
	s.touching = false
	if !asked || !s.listed {
		return
	}
	s.touched = now
	s.at.rest(s)
	s.at.idle.push(s)
}

// used is when the engine last had a use of the session's blocks.
func (s *stay) used() time.Time {
	if s.touched.After(s.last) {
		return s.touched
	}
	return s.last
}
