package session

import (
	"time"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// looks are by what an agent's first prompt is known to begin like another's: the
// first user's message, as of a client without names whose system text changes,
// and the harness, as of its sessions in other folders. 0 is none.
type looks [2]uint64

// looksOf are those of a turn; only leads of a harness look alike by it.
func looksOf(t *turn.Turn) (l looks) {
	base := baseOf(t.Model) ^ prompt.Root(t)
	if i := firstUser(t); i < len(t.Messages) && t.Messages[i].Role == turn.User {
		k := prompt.KeyOf(&t.Messages[i])
		l[0] = base ^ k.Lo ^ xxh3.HashString("first")
	}
	if t.Who.Harness != "" && t.Who.Lead() {
		l[1] = base ^ xxh3.HashString(t.Who.Harness)
	}
	return l
}

// spare bounds how many first turns are compared: up to spareMost at once, and
// sparePerSecond. What changes by itself in a client's prompts shows between any
// two of its sessions; to look at all of a crowd's cost as much as to serve it.
type spare struct {
	left float64
	at   time.Time
}

const (
	spareMost      = 64
	sparePerSecond = 10
)

// take reports whether one more may be compared.
func (s *spare) take(now time.Time) bool {
	s.left = min(s.left+now.Sub(s.at).Seconds()*sparePerSecond, spareMost)
	s.at = now
	if s.left < 1 {
		return false
	}
	s.left--
	return true
}

// meet returns the last agent that a new one looks like, where the two are to be
// compared, and puts the new one in its place; mu must be held.
func (s *Store) meet(a *Agent, l looks) (like *Agent) {
	a.looks = l
	for _, look := range l {
		if look == 0 {
			continue
		}
		if like == nil {
			like = s.byLook[look]
		}
		s.byLook[look] = a
	}
	if like != nil && !s.spare.take(time.Now()) {
		return nil
	}
	return like
}

// part forgets what an agent looks like; mu must be held.
func (s *Store) part(a *Agent) {
	for _, look := range a.looks {
		if s.byLook[look] == a {
			delete(s.byLook, look)
		}
	}
}

// against compares the agent's first prompt with that of the agent that it looks
// like, unless a turn of that one is being built; turn must be held.
func (a *Agent) against(q Asked, t *turn.Turn, b *Built) {
	like := a.like
	a.like = nil
	if like == nil || !like.turn.TryLock() {
		return
	}
	defer like.turn.Unlock()
	if b.Break = q.Model.Against(&a.state, &like.state, t); b.Break != nil {
		b.Break.Other = like.Who.Session + "/" + like.Who.Agent
	}
}
