package prompt

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/turn"
)

// alone are the kinds by which turns of two agents may part although they should
// not: something that nobody meant changes in what their prompts begin with.
var alone = []diff.Kind{diff.Clock, diff.Attribution, diff.Folder, diff.Value, diff.ToolOrder}

// Against tells where the first prompt of an agent, whose State is s, parts from
// the last prompt of another one that began the same way. It is nil where the
// two have as much in common as they may: two sessions are not one, and it is
// no fault that people ask for different things. t is the turn that s is of.
func (m *Model) Against(s, other *State, t *turn.Turn) *diff.Break {
	was, ok := other.former()
	if !ok || s.ids.Len() == 0 || s == other || s.resting {
		return nil
	}
	p := Prompt{IDs: s.ids, Same: shared(s.ids, other.ids)}
	p.Opening = s.ids.AppendTo(nil, s.ids.Len()-s.opening, s.ids.Len())
	b := builder{m: m, s: s, t: t, text: s.page.Text}
	x := b.parts(&p, &was, t, 0, nil)
	_, kind, tools := diff.Tools(was.tools, t.Tools)
	switch {
	case x == nil:
		return nil
	case x.Message >= 0 && t.Messages[x.Message].Role != turn.System && !machine(t, x):
		return nil
	case slices.Contains(alone, x.Kind), x.Kind == diff.Compaction && goesBeyond(t, &was):
		return x
	case tools && kind != diff.ToolOrder: // an agent of another sort
		return nil
	case goesBeyond(t, &was):
		return x
	}
	return nil
}

// machine reports whether a break lies in what a harness tells of where it runs,
// in its words before the user's.
func machine(t *turn.Turn, x *diff.Break) bool {
	if x.Kind != diff.Folder && x.Kind != diff.Clock || x.Block < 0 {
		return false
	}
	m := &t.Messages[x.Message]
	first := slices.IndexFunc(t.Messages, func(m turn.Message) bool { return m.Role == turn.User })
	return x.Message == first && strings.HasPrefix(strings.TrimSpace(m.Blocks[x.Block].Text), "<")
}

// goesBeyond reports whether a turn goes on with the conversation of a former
// one, with more than its question in common.
func goesBeyond(t *turn.Turn, was *former) bool {
	n := 0
	for i, kept := range was.sketch.Kept(t.Messages, 0) {
		if kept && t.Messages[i].Role != turn.System {
			n++
		}
	}
	return n > 1
}

// shared is how many ids two sequences begin with alike.
func shared(a, b turn.IDs) (n int) {
	const step = 1024
	var one, two [step]uint32
	for n < min(a.Len(), b.Len()) {
		to := min(n+step, a.Len(), b.Len())
		x, y := a.View(one[:0], n, to), b.View(two[:0], n, to)
		if !slices.Equal(x, y) {
			for i := range x {
				if x[i] != y[i] {
					return n + i
				}
			}
		}
		n = to
	}
	return n
}
