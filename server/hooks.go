package server

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/server/life"
)

// How many notes are taken at once, and in a second over time. An agent with
// twenty subagents at work sends some tens a second.
const (
	notesBurst = 2000
	notesRate  = 200
)

// hookCounts count what came on the hooks' socket. The zero value is ready.
type hookCounts struct {
	heard, malformed, crowded atomic.Int64
}

func (c *hookCounts) picture() snapshot.Hooks {
	return snapshot.Hooks{Heard: c.heard.Load(), Malformed: c.malformed.Load(), Crowded: c.crowded.Load()}
}

// ServeHooks takes what harnesses tell of their sessions, one datagram each,
// until the socket is closed. Whoever may write to it may write anything: what
// is no note, or one too many, is dropped and counted.
func (s *Server) ServeHooks(from net.PacketConn) error {
	b := make([]byte, life.Most+1) // of a longer one the rest is cut off
	left := bucket{}
	for {
		n, _, err := from.ReadFrom(b)
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		if now := time.Now(); left.take(now) {
			s.note(now, b[:n])
		} else {
			s.count.hooks.crowded.Add(1)
		}
	}
}

// note takes one datagram.
func (s *Server) note(now time.Time, b []byte) {
	defer func() {
		if p := recover(); p != nil {
			s.panicked(p)
		}
	}()
	n, err := life.Parse(b)
	if err != nil {
		s.count.hooks.malformed.Add(1)
		return
	}
	s.count.hooks.heard.Add(1)
	s.hear(now, n)
}

// bucket holds how many notes may be taken. The zero value is full.
type bucket struct {
	used float64
	last time.Time
}

// take reports whether one more may be taken, and takes it.
func (b *bucket) take(now time.Time) bool {
	b.used = max(b.used-now.Sub(b.last).Seconds()*notesRate, 0)
	b.last = now
	if b.used+1 > notesBurst {
		return false
	}
	b.used++
	return true
}
