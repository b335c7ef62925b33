package prompt

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/turn"
)

// Prompt is a turn as the engine gets it.
type Prompt struct {
	IDs     turn.IDs
	Same    int      // so many of the first IDs are those of the State's last Prompt
	Marks   []Mark   // one per ask for a lease, in order: tools, messages, the hint
	Head    int      // tokens of the system and tools part; 0 where no hint asks what it is worth
	Rolling []uint64 // of the turn, see Rolling; never written
	Lasting int      // so many of IDs a later prompt begins with when a person speaks next: behind them stands reasoning that the template then drops

	// Opening are the last of IDs: those of the generation prompt, which the
	// answer's own ids follow. It goes into the answer's raw turn, and holds
	// nothing of IDs.
	Opening []uint32
	Tail    string // the text of the generation prompt
	Thinks  bool   // IDs end inside an open think block

	Spliced int // answers that stand as the model gave them
	Edited  int // answers seen for the first time that the client has changed
	Hidden  int // images and documents, of which the model sees a fixed text

	Break *diff.Break // where it parts from the State's last Prompt and the answer to it; nil is nowhere
	Alone bool        // the State had no last Prompt that it could part from
}

// Mark is the prefix that an ask for a lease covers: all up to the end of the
// message that holds it. Asks of tools, and of a leading system message,
// cover the system and tools part. The hint's ask covers the whole prompt.
type Mark struct {
	Tokens int
	TTL    time.Duration
}

// Build makes the prompt of t, after Steady. s is the agent's State and is
// brought up to date, unless the prompt is longer than s.Most; nil builds from
// nothing. known are the hashes of t's
// messages, nil where nobody made them yet. raw holds the answers that the model
// gave; where it has none they are rendered. What s holds saves work, and
// keeps answers as they are whose raw turn is gone, or whose place in the text
// is not known any more; else the prompt does not depend on it. After an error s is good for the turn after.
func (m *Model) Build(s *State, t *turn.Turn, known *Hashes, raw *Raw) (Prompt, error) {
	if known != nil && (len(known.Keys) != len(t.Messages) || known.Rolling != nil && len(known.Rolling) != len(t.Messages)) {
		return Prompt{}, fmt.Errorf("build prompt: %d keys and %d rolling hashes for %d messages", len(known.Keys), len(known.Rolling), len(t.Messages))
	}
	if len(t.Messages) == 0 {
		return Prompt{}, errNothing
	}
	last := s == nil
	if last {
		s = new(State)
	}
	d := m.desk()
	defer m.clear(d)
	was, compare := s.former()
	same, edited := s.known.follow(d, t, known, raw)
	s.dated()
	asked := *t
	asked.Messages = d.shown(t, s.known.said)
	if !s.resting {
		s.page.Known = same
	}
	if err := m.template.Render(&s.page, &asked); err != nil {
		s.known.cut(same)
		return Prompt{}, fmt.Errorf("build prompt: %w", err)
	}
	b := builder{m: m, s: s, t: &asked, text: s.page.Text, tail: d.tail[:0], awake: !s.resting}
	b.keep(same)
	b.rest()
	p := Prompt{Same: b.store(), Edited: edited, Rolling: slices.Clip(s.known.rolling)}
	p.IDs, p.Opening = s.ids, slices.Clone(b.tail[b.opening-b.kept:])
	p.Marks, p.Lasting = b.marks(), b.lasting()
	if len(t.Hints.Retain) > 0 {
		p.Head = b.idsAt(b.end(-1))
	}
	p.Tail = string(b.text[s.page.Opening:])
	p.Thinks = thinks(p.Tail)
	p.Hidden = s.page.Hidden
	for _, x := range s.pieces {
		if x.spliced {
			p.Spliced++
		}
	}
	if p.Alone = !compare; compare {
		p.Break = b.parts(&p, &was, t, same, raw)
	}
	switch {
	case last:
	case s.Most == 0 || p.IDs.Len() <= s.Most:
		s.note(t, &p, same)
	case compare:
		s.back(&was)
	default:
		*s = State{Most: s.Most}
	}
	d.tail = b.tail
	return p, nil
}

// dated gives a State that is new the date of its conversation, where that is
// known: templates that print the date would print another one when a session
// is resumed the day after.
func (s *State) dated() {
	if !s.page.Now.IsZero() {
		return
	}
	for _, said := range s.known.said {
		if said != nil {
			s.page.Now = said.At.Local()
			return
		}
	}
}

// Count tells how many tokens the prompt of t has; raw may be nil.
func (m *Model) Count(t *turn.Turn, raw *Raw) (int, error) {
	p, err := m.Build(nil, t, nil, raw)
	return p.IDs.Len(), err
}
