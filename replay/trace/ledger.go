package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt/diff"
)

// What a ledger does not say of its turns, and what is taken for it.
var ledgerNotes = []string{
	"times, lengths and answers are the ledger's; it keeps no prompts, so what they share is estimated:",
	"an agent's prompt goes on from its last one, up to where a break was noted, else all of it;",
	"first prompts of one kind share what most of them found cached, or differed behind",
}

// Served is the load of a ledger: turns of one model, in the order of their
// arrival. An agent of a session is a Session here, one that another started
// its sub-agent; titles and the like, which have prompts of their own, make a
// session for each kind. Turns whose prompt nobody counted, as those refused,
// are left out.
func Served(turns []ledger.Turn) (*Trace, error) {
	s := served{t: &Trace{Format: "ledger", Block: tableBlock, Timed: true, Paused: true}, by: map[servedKey]*servedAgent{}}
	shares := servedShares(turns)
	left := 0
	for i := range turns {
		if turns[i].Prompt <= 0 || turns[i].Prompt > maxTokens {
			left++
			continue
		}
		s.add(&turns[i], shares)
	}
	if len(s.t.Sessions) == 0 {
		return nil, errors.New("the ledger has no turns to play")
	}
	s.t.Notes = slices.Clone(ledgerNotes)
	if left > 0 {
		s.t.Notes = append(s.t.Notes, fmt.Sprintf("left out: %d whose prompts were never counted", left))
	}
	return s.t, nil
}

// servedKey tells agents apart; aside is the kind of turns whose prompts are
// their own.
type servedKey struct{ session, agent, aside string }

func keyOf(u *ledger.Turn) servedKey {
	k := servedKey{session: u.Session, agent: u.Agent}
	if k.agent == "" {
		k.agent = "main"
	}
	if u.Session == "" { // nobody knows what it belongs to
		k.session = u.ID
	}
	if u.Kind != "" && u.Kind != "turn" && u.Kind != "compaction" {
		k.aside = u.Kind
	}
	return k
}

// servedAgent is an agent whose turns are read.
type servedAgent struct {
	at     int // session, as index
	began  time.Time
	ends   []time.Time
	prompt int // tokens of the last one
	again  bool
	shared int
}

// served makes a Trace of turns.
type served struct {
	t    *Trace
	by   map[servedKey]*servedAgent
	zero time.Time
}

// add takes a turn in.
func (s *served) add(u *ledger.Turn, shares map[servedGroup]int) {
	key := keyOf(u)
	a := s.by[key]
	if a == nil {
		a = s.open(u, key, shares)
	}
	ses := &s.t.Sessions[a.at]
	turn := Turn{At: max(u.At.Sub(a.began), 0), Prompt: u.Prompt, Output: min(max(u.Output, 1), maxTokens), Human: a.again}
	a.again = u.Outcome != "calls"
	if n := len(a.ends); n > 0 {
		turn.Pause = max(u.At.Sub(a.ends[n-1]), 0)
	}
	turn.Keep = a.keeps(u, ses) / tableBlock
	all := u.Prompt / tableBlock
	at := turn.Keep
	if common := min(a.shared/tableBlock, all); len(ses.Turns) == 0 && common > 0 {
		turn.Runs = append(turn.Runs, Run{Common | ses.Prefix&^(1<<24-1)&^Common, common})
		at = common
	}
	if at < all {
		turn.Runs = append(turn.Runs, Run{uint64(a.at+1)<<32 | uint64(len(ses.Turns))<<20&(1<<32-1) + uint64(at), all - at})
	}
	ses.Turns = append(ses.Turns, turn)
	a.prompt = u.Prompt
	a.ends = append(a.ends, u.At.Add(time.Duration(max(u.TotalMS, 0)*float64(time.Millisecond))))
}

// keeps is how many tokens of the turn before a turn's prompt has.
func (a *servedAgent) keeps(u *ledger.Turn, ses *Session) int {
	b, broken := breakOf(u)
	switch {
	case len(ses.Turns) == 0:
		return 0
	case broken && b.Other == "":
		return min(max(b.Token, 0), a.prompt, u.Prompt)
	case u.Prompt < a.prompt: // something went, and nobody noted where
		return min(a.shared, a.prompt, u.Prompt)
	}
	return a.prompt
}

// open begins a session.
func (s *served) open(u *ledger.Turn, key servedKey, shares map[servedGroup]int) *servedAgent {
	if len(s.t.Sessions) == 0 {
		s.zero = u.At
	}
	a := &servedAgent{at: len(s.t.Sessions), began: u.At, shared: min(shares[groupOf(u)], u.Prompt)}
	if b, ok := breakOf(u); ok && b.Other != "" {
		a.shared = min(a.shared, max(b.Token, 0))
	}
	ses := Session{ID: key.session + "/" + key.agent, At: max(u.At.Sub(s.zero), 0), Shared: a.shared}
	if key.aside != "" {
		ses.ID += "/" + key.aside
	}
	if a.shared > 0 {
		ses.Prefix = groupOf(u).hash()
	}
	if p := s.by[servedKey{session: key.session, agent: u.Parent}]; p != nil && u.Parent != "" && key.aside == "" {
		ses.Parent = p.at + 1
		for ses.After < len(p.ends) && !p.ends[ses.After].After(u.At) {
			ses.After++
		}
		ses.After = max(ses.After, 1)
	}
	s.by[key] = a
	s.t.Sessions = append(s.t.Sessions, ses)
	return a
}

// servedGroup is what first prompts have in common that share their beginning.
type servedGroup struct {
	tenant, harness, kind string
	tools                 int
	lead                  bool
}

func groupOf(u *ledger.Turn) servedGroup {
	return servedGroup{u.Tenant, u.Harness, u.Kind, u.Tools, u.Parent == ""}
}

// hash names a group.
func (g servedGroup) hash() uint64 {
	x := Mix(uint64(g.tools), 5)
	for _, text := range []string{g.tenant, g.harness, g.kind, fmt.Sprint(g.lead)} {
		for _, c := range []byte(text) {
			x = Mix(x, uint64(c))
		}
		x = Mix(x, 256)
	}
	return x
}

// servedShares estimates how much first prompts of each group share: the
// median of what their engines had of them or where they differed.
func servedShares(turns []ledger.Turn) map[servedGroup]int {
	seen := map[servedKey]bool{}
	all := map[servedGroup][]int{}
	for i := range turns {
		u := &turns[i]
		if u.Prompt <= 0 || seen[keyOf(u)] {
			continue
		}
		seen[keyOf(u)] = true
		n := u.Cached
		if b, ok := breakOf(u); ok && b.Other != "" {
			n = b.Token
		}
		if n > 0 {
			all[groupOf(u)] = append(all[groupOf(u)], n)
		}
	}
	out := map[servedGroup]int{}
	for g, some := range all {
		slices.SortFunc(some, cmp.Compare)
		out[g] = some[len(some)/2]
	}
	return out
}

// breakOf is where a turn's prompt parted from another.
func breakOf(u *ledger.Turn) (b diff.Break, ok bool) {
	return b, u.Break != "" && json.Unmarshal([]byte(u.Break), &b) == nil
}
