package session

import (
	"cmp"
	"container/list"
	"fmt"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// Limits bound a Store. The zero value means the defaults.
type Limits struct {
	Agents int // default 1,024: a line that is forgotten costs its next turn some milliseconds
	Bytes  int // held by the prompts of all agents together; default 512 MiB
	Awake  int // held by those that are not at rest; default 192 MiB
}

// Store finds the agent that a turn belongs to. It is safe for concurrent use.
type Store struct {
	limits Limits

	mu      sync.Mutex // guards all below, and each Agent's line and what it holds
	byName  map[name]*Agent
	family  map[string][]*Agent // by session
	byHash  map[place]*Agent    // where headerless agents went through
	byLook  map[uint64]*Agent   // the last that began so, see looks
	spare   spare               // of comparisons between them
	byExact map[place]spot      // where their last prompts end, to the letter
	recent  *list.List          // of *Agent, the most recently used first
	awake   *list.List          // of those not at rest, whose prompt was made last first
	bytes   int
	stirred int // bytes of those in awake
	forks   int
	dropped int
}

// Stats are what a Store holds.
type Stats struct {
	Agents  int
	Bytes   int // of prompts, with all that is kept for the next ones
	Limit   int // of Bytes
	Dropped int // agents, so far
}

// name is what a client calls an agent.
type name struct{ model, session, agent string }

// nameOf is what the client of t calls its agent.
func nameOf(t *turn.Turn) name { return name{t.Model, t.Who.Session, cmp.Or(t.Who.Agent, "main")} }

// place is a point of a conversation: a hash of all up to there, and of the
// model.
type place uint64

// spot is a place of an agent's last prompt, and how many messages lie before.
type spot struct {
	a *Agent
	n int
}

// at is the place of a hash in conversations with a model, whose own hash is
// base.
func at(base, hash uint64) place { return place(base ^ hash) }

// baseOf is the hash of a model's name.
func baseOf(model string) uint64 { return xxh3.HashString(model) }

// New returns an empty store.
func New(l Limits) *Store {
	if l.Agents == 0 {
		l.Agents = 1024
	}
	if l.Bytes == 0 {
		l.Bytes = 512 << 20
	}
	if l.Awake == 0 {
		l.Awake = 192 << 20
	}
	return &Store{
		limits: l, byName: map[name]*Agent{}, family: map[string][]*Agent{}, byHash: map[place]*Agent{}, byExact: map[place]spot{}, byLook: map[uint64]*Agent{},
		recent: list.New(), awake: list.New(),
	}
}

// Find returns the agent of a turn and, when the client did not name it,
// fills t.Who. rolling holds one hash per message of t; of a turn whose client
// named its session it is not read. Agreement that ends before the first user
// message means nothing, since all sessions of a harness begin with the same
// system prompt.
func (s *Store) Find(t *turn.Turn, rolling []uint64, now time.Time) *Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a, parent *Agent
	var near bool
	if t.Who.Session != "" {
		named := nameOf(t)
		t.Who.Agent = named.agent
		a = s.byName[named]
	} else {
		a, parent, near = s.infer(t, rolling)
	}
	if a == nil {
		a = s.add(t, now)
		a.parent, a.near, a.forked = parent, near, parent != nil
		if like := s.meet(a, looksOf(t)); parent == nil {
			a.like = like
		}
	}
	s.recent.MoveToFront(a.elem)
	a.seen(now)
	return a
}

// infer finds the agent of a turn without names, or names a new one in t.Who
// and returns the agent from whose line it forks, if any, and whether that is
// near the end of its prompt.
func (s *Store) infer(t *turn.Turn, rolling []uint64) (a, parent *Agent, near bool) {
	first, base := firstUser(t), baseOf(t.Model)
	for i := len(rolling) - 1; i >= first; i-- {
		a = s.byHash[at(base, rolling[i])]
		if a == nil {
			continue
		}
		goesOn := i >= a.asked-1     // all that its last prompt held
		again := i == len(rolling)-1 // the whole turn is part of its line
		t.Who.Session, t.Who.Agent, t.Who.Parent = a.Who.Session, a.Who.Agent, a.Who.Parent
		if goesOn || again {
			return a, nil, false
		}
		s.forks++
		t.Who.Agent, t.Who.Parent = fmt.Sprintf("fork-%d", s.forks), a.Who.Agent
		return nil, a, 2*(i+1) >= a.asked
	}
	anchor := prompt.Root(t) // no messages: one session for each key
	if first < len(rolling) {
		anchor = rolling[first]
	} else if len(rolling) > 0 {
		anchor = rolling[len(rolling)-1]
	}
	t.Who.Session, t.Who.Agent = fmt.Sprintf("h%012x", anchor>>16), "main"
	return s.byName[name{t.Model, t.Who.Session, t.Who.Agent}], nil, false
}

// firstUser is the index of the first user message, or of the last message
// when there is none.
func firstUser(t *turn.Turn) int {
	for i, m := range t.Messages {
		if m.Role == turn.User {
			return i
		}
	}
	return max(len(t.Messages)-1, 0)
}

// add makes a new agent and drops old ones; mu must be held.
func (s *Store) add(t *turn.Turn, now time.Time) *Agent {
	a := &Agent{Model: t.Model, Who: t.Who, base: baseOf(t.Model)}
	a.figures = Figures{First: now, Last: now, TTFT: -1, Overlap: -1, Hit: -1}
	a.elem = s.recent.PushFront(a)
	s.byName[a.name()] = a
	s.family[a.Who.Session] = append(s.family[a.Who.Session], a)
	for s.recent.Len() > s.limits.Agents {
		s.drop(s.recent.Back().Value.(*Agent))
	}
	return a
}

// Exact are sums of a prompt's messages, see prompt.Sums: of all but the last
// one, and of all; 0 where it is not known. A question that is asked again in
// other words has the first in common with the one before.
type Exact [2]uint64

// Begun returns the rolling hashes of the messages that t begins with, as far as
// an agent's last prompt, or all but its last message, stands there to the
// letter: a client without names repeats all that was said with every turn.
// sums are those of t. The hashes are the caller's, with room for the rest.
func (s *Store) Begun(t *turn.Turn, sums []uint64) []uint64 {
	base := baseOf(t.Model)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(sums) - 1; i >= 0; i-- {
		if x := s.byExact[at(base, sums[i])]; x.a != nil && x.n == i+1 {
			return append(make([]uint64, 0, len(sums)), x.a.line[:x.n]...)
		}
	}
	return nil
}

// Said records how far an agent's line goes: the rolling hashes of its last
// prompt, the sums of its messages, and the hash after its answer (0 when there
// was none).
func (s *Store) Said(a *Agent, rolling []uint64, exact Exact, answer uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.elem == nil {
		return // dropped meanwhile
	}
	same := 0
	for same < min(len(a.line), len(rolling)) && a.line[same] == rolling[same] {
		same++
	}
	s.forget(a, same)
	was := len(a.line)
	a.line = append(a.line[:same], rolling[same:]...)
	a.asked = len(rolling)
	if answer != 0 {
		a.line = append(a.line, answer)
	}
	s.exactly(a, exact)
	s.hold(a, a.held+placeBytes*(len(a.line)-was))
	for _, h := range a.line[same:] {
		if p := at(a.base, h); s.byHash[p] == nil { // a fork leaves its parent what they share
			s.byHash[p] = a
		}
	}
	s.shrink()
}

// exactly sets the sums of an agent's last prompt; mu must be held.
func (s *Store) exactly(a *Agent, sums Exact) {
	for _, sum := range a.exact {
		if p := at(a.base, sum); s.byExact[p].a == a {
			delete(s.byExact, p)
		}
	}
	a.exact = sums
	for i, sum := range sums {
		if n := a.asked - 1 + i; sum != 0 && n > 0 {
			s.byExact[at(a.base, sum)] = spot{a, n}
		}
	}
}

// forget takes an agent's line from there on out of the places; mu must be
// held.
func (s *Store) forget(a *Agent, from int) {
	for _, h := range a.line[from:] {
		if p := at(a.base, h); s.byHash[p] == a {
			delete(s.byHash, p)
		}
	}
}

// Stats tells what is held now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Agents: s.recent.Len(), Bytes: s.bytes, Limit: s.limits.Bytes, Dropped: s.dropped}
}

// Recent calls f for the agents seen since the given time, most recent first,
// n at most.
func (s *Store) Recent(since time.Time, n int, f func(*Agent)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.recent.Front(); e != nil && n > 0; e = e.Next() {
		a := e.Value.(*Agent)
		if a.Figures().Last.Before(since) {
			return
		}
		f(a)
		n--
	}
}
