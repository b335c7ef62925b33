package curve

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// Options are how a trace is played; zero fields are the defaults.
type Options struct {
	Sessions int           // alive at a time, where the trace has no times; 64
	MaxPause time.Duration // longer waits are cut; 30 minutes, none where the trace has times
	Leased   float64       // share of sessions that ask to be kept; a half
	Seed     uint64        // of their order; 1
}

// Plan is a trace as caches see it.
type Plan struct {
	Name     string
	Block    int // tokens
	Working  int // tokens that were used and will be again, mean over turns
	Distinct int // tokens of all prompts and answers
	Best     float64
	Notes    []string

	turns []play
	runs  []run
}

// play is a turn.
type play struct {
	at     time.Duration
	pause  time.Duration // since the end of the line's last turn; -1 of its first
	line   int
	leaf   int   // the last run of prompt and answer; -1 none
	asked  int   // tokens of the prompt in whole blocks
	prompt int   // tokens
	waited bool  // that was for a person
	human  bool  // a person answers it
	last   bool  // of its line
	leased bool  // its line asked to be kept
	next   []int // of the path, from its leaf up: the turns that use each again
}

// run is an edge of the tree.
type run struct {
	parent int // -1 none
	tokens int
	depth  int // tokens before it
}

// Turns is how many turns the plan has.
func (p *Plan) Turns() int { return len(p.turns) }

// New makes a plan of a trace.
func New(t *trace.Trace, o Options) (*Plan, error) {
	o.fill(t)
	order := schedule(t, o)
	if len(order) == 0 {
		return nil, errors.New("the trace has no turns to play")
	}
	p := &Plan{Name: t.Name, Block: t.Block, Notes: slices.Clone(t.Notes)}
	tree := newTree(t.Block)
	lines := make([]line, len(t.Sessions))
	leaves := make([][2]*node, len(order)) // of prompt and of prompt and answer
	for i, s := range order {
		leaves[i] = lines[s.session].turn(tree, &t.Sessions[s.session], s.turn)
	}
	p.runs = tree.runs()
	ends := make([]time.Duration, len(t.Sessions))
	for i, s := range order {
		ses := &t.Sessions[s.session]
		u := &ses.Turns[s.turn]
		at := play{
			at: s.at, pause: -1, line: s.session, leaf: leaves[i][1].number(), prompt: u.Prompt, asked: leaves[i][0].end() * t.Block,
			human: asksPerson(ses, s.turn), last: s.turn+1 == len(ses.Turns), leased: o.leases(s.session),
		}
		if s.turn > 0 {
			at.pause, at.waited = s.at-ends[s.session], u.Human
		}
		ends[s.session] = s.at
		p.turns = append(p.turns, at)
	}
	p.look()
	return p, nil
}

func (o *Options) fill(t *trace.Trace) {
	o.Sessions = cmp.Or(o.Sessions, 64)
	o.Leased = cmp.Or(o.Leased, 0.5)
	o.Seed = cmp.Or(o.Seed, 1)
	if o.MaxPause == 0 {
		o.MaxPause = 30 * time.Minute
		if t.Timed {
			o.MaxPause = 1 << 62
		}
	}
}

// asksPerson reports whether what comes after a turn is a person's.
func asksPerson(s *trace.Session, i int) bool { return i+1 == len(s.Turns) || s.Turns[i+1].Human }

// leases reports whether a session asks to be kept: so many of them, spread
// evenly, the same for every policy.
func (o *Options) leases(session int) bool {
	return float64(trace.Mix(uint64(session), 3)>>11)/(1<<53) < o.Leased
}

// look walks the turns from the last to the first and notes when each run is
// used again, and what of the tree is in use on the way.
func (p *Plan) look() {
	next := make([]int, len(p.runs))
	for i := range next {
		next[i] = never
	}
	seen := make([]bool, len(p.runs))
	final := make([]int, len(p.runs))
	var inUse, found, asked int
	for i := len(p.turns) - 1; i >= 0; i-- {
		u := &p.turns[i]
		for at := u.leaf; at >= 0; at = p.runs[at].parent {
			u.next = append(u.next, next[at])
			next[at] = i
			if !seen[at] {
				seen[at], final[at] = true, i
			}
		}
	}
	for at, r := range p.runs {
		p.Distinct += r.tokens
		if seen[at] {
			inUse += r.tokens * (final[at] - next[at])
		}
	}
	p.Working = max(inUse/len(p.turns), p.Block)
	for i := range p.turns { // what a cache without bounds finds
		u := &p.turns[i]
		asked += u.prompt
		for at := u.leaf; at >= 0; at = p.runs[at].parent {
			if r := &p.runs[at]; next[at] < i && r.depth < u.asked {
				found += r.tokens
			}
		}
	}
	p.Best = float64(found) / float64(max(asked, 1))
}
