package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// load brings the sessions of a trace.
type load struct {
	c     *Config
	t     *trace.Trace
	order []int   // sessions without a parent that may be played
	kids  [][]int // by session
	at    int     // in order
	round uint64
	rng   *rand.Rand
}

// What a session of a closed loop has at least, and its first prompt at most.
const (
	fewestTurns = 3
	firstShare  = 2 // of MaxContext: half
)

func newLoad(c *Config, t *trace.Trace) (*load, error) {
	l := &load{c: c, t: t, kids: make([][]int, len(t.Sessions)), rng: rand.New(rand.NewPCG(c.Seed, 7))}
	for i := range t.Sessions {
		s := &t.Sessions[i]
		switch {
		case s.Parent > 0:
			l.kids[s.Parent-1] = append(l.kids[s.Parent-1], i)
		case l.plays(s):
			l.order = append(l.order, i)
		}
	}
	if len(l.order) == 0 {
		return nil, &TooLong{Sessions: len(t.Sessions), Context: c.MaxContext, Needs: l.needs()}
	}
	if !c.Open {
		l.rng.Shuffle(len(l.order), func(i, j int) { l.order[i], l.order[j] = l.order[j], l.order[i] })
	}
	return l, nil
}

// plays reports whether a session has enough turns that fit.
func (l *load) plays(s *trace.Session) bool {
	if l.c.Open || !l.t.Paused {
		return len(s.Turns) > 0 && s.Turns[0].Prompt <= l.c.MaxContext
	}
	return l.length(s) >= min(fewestTurns, len(s.Turns)) && len(s.Turns) > 0 && s.Turns[0].Prompt <= l.c.MaxContext/firstShare
}

// TooLong is the error that no session of a trace fits the context that is
// played with.
type TooLong struct {
	Sessions       int
	Context, Needs int // tokens: what was given, and with what one fits
}

func (e *TooLong) Error() string {
	return fmt.Sprintf("none of the %d sessions fits a context of %d tokens; with %d one does", e.Sessions, e.Context, e.Needs)
}

// needs is the shortest context with which a session may be played.
func (l *load) needs() int {
	least := 0
	for i := range l.t.Sessions {
		turns := l.t.Sessions[i].Turns
		if l.t.Sessions[i].Parent > 0 || len(turns) == 0 {
			continue
		}
		need := turns[0].Prompt
		if !l.c.Open && l.t.Paused {
			need *= firstShare
			for _, u := range turns[:min(fewestTurns, len(turns))] {
				need = max(need, u.Prompt)
			}
		}
		if least == 0 || need < least {
			least = need
		}
	}
	return least
}

// length is how many of a session's turns are played.
func (l *load) length(s *trace.Session) int {
	n := slices.IndexFunc(s.Turns, func(u trace.Turn) bool { return u.Prompt > l.c.MaxContext })
	if n < 0 {
		n = len(s.Turns)
	}
	return n
}

// next is the session that is played next.
func (l *load) next() *live {
	if l.at == len(l.order) {
		l.at = 0
		l.round++
	}
	l.at++
	return l.live(l.order[l.at-1], l.round)
}

// live begins a session.
func (l *load) live(i int, round uint64) *live {
	s := &l.t.Sessions[i]
	name := s.ID
	if round > 0 {
		name += "#" + strconv.FormatUint(round, 10)
	}
	return &live{name: name, src: s, index: i, turns: l.length(s), salt: round, home: -1}
}

// begin are the sessions alive at first, each somewhere in its first two
// thirds, with the times of their next turns.
func (l *load) begin() []*live {
	if l.c.Open {
		all := make([]*live, 0, len(l.order))
		for range l.order {
			s := l.next()
			s.due = time.Duration(float64(s.src.At) / l.c.Speed)
			all = append(all, s)
		}
		return all
	}
	all := make([]*live, l.c.Sessions)
	for i := range all {
		s := l.next()
		s.turn = l.rng.IntN(max(1, s.turns*2/3))
		s.due = time.Duration(l.rng.Float64() * float64(l.c.Ramp))
		all[i] = s
	}
	return all
}

// after is the session that takes the place of one that ended.
func (l *load) after(now time.Duration) *live {
	s := l.next()
	s.due = now + time.Duration(l.rng.Float64()*5*float64(time.Second))
	return s
}

// spawn are the sub-agents that start when the session's first turns ended.
func (l *load) spawn(s *live, now time.Duration) (kids []*live) {
	for _, i := range l.kids[s.index] {
		if k := l.live(i, s.salt); k.src.After == s.turn && k.turns > 0 {
			k.parent = s
			k.due = now + time.Duration(l.rng.Float64()*0.5*float64(time.Second))
			kids = append(kids, k)
		}
	}
	return kids
}
