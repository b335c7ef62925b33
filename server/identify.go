package server

import (
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// identify finds whose turn it is. Histories are hashed here only for clients
// that do not name their session, and only what is new in them. whole is the
// turn with its images, nil where it has none.
func (s *Server) identify(t *turn.Turn, m *model, whole *turn.Turn) *flight {
	f := &flight{s: s, m: m, t: t, original: whole, seats: make(chan placement, 1)}
	if f.unnamed = t.Who.Session == ""; f.unnamed {
		keys := prompt.Keys(nil, t)
		sums := prompt.Sums(nil, t, keys)
		f.rolling = prompt.Rolling(s.sessions.Begun(t, sums), t)
		f.known = &prompt.Hashes{Keys: keys, Rolling: f.rolling}
		if n := len(sums); n > 1 {
			f.exact = session.Exact(sums[n-2:])
		}
	}
	f.a = s.sessions.Find(t, f.rolling, t.Arrived)
	return f
}

// steady brings a turn into the form that stays the same. Results of a request
// for compaction without tools are read by those that the agent had.
func (s *Server) steady(t *turn.Turn, m *model) {
	if prompt.Bare(t) {
		prompt.SteadyWith(t, s.sessions.Tools(t, m.raw))
		return
	}
	prompt.Steady(t)
}
