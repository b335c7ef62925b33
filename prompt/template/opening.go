package template

import (
	"bytes"
	"slices"
	"sync"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// opener is what the generation prompt may depend on.
type opener struct {
	on, off bool   // thinking is asked for, is not wanted
	effort  string // as the template takes it
	role    turn.Role
	calls   bool // the last message, of that role, calls
	tools   bool
}

// keptOpenings is how many generation prompts a template keeps.
const keptOpenings = 64

// openings keeps the generation prompts that were seen.
type openings struct {
	mu   sync.Mutex // guards have
	have map[opener]seenOpening
}

// seenOpening is a generation prompt, and whether it is only there when asked for.
type seenOpening struct {
	text  string
	added bool
}

func (o *openings) find(k opener) (seenOpening, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.have[k]
	return s, ok
}

func (o *openings) keep(k opener, s seenOpening) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.have == nil || len(o.have) >= keptOpenings {
		o.have = map[opener]seenOpening{}
	}
	o.have[k] = s
}

// opening is where in the page the generation prompt begins: where the text
// ends when none is asked for. What was seen once is looked for at the end of
// the text; else, and where that is not found, the turn is rendered once more.
// Every text ends in nothing: that there was none counts only where the last
// message is known to end there. added says that the text before is what is
// printed when none is asked for.
func (f *form) opening(p *Page, tn *turn.Turn) (at int, added bool) {
	th := tn.Thinking
	k := opener{on: th.Mode == "on", off: off(th), effort: f.effort.nearest(th.Effort), tools: p.tools != zeroKey}
	if n := len(p.plan.items); n > 0 {
		k.role = p.plan.items[n-1].role
	}
	if n := len(tn.Messages); n > 0 {
		m := &tn.Messages[n-1]
		for i := range m.Blocks {
			k.calls = k.calls || m.Blocks[i].Kind == turn.ToolUse
		}
	}
	if s, ok := f.closes.find(k); ok && f.pure && bytes.HasSuffix(p.Text, []byte(s.text)) {
		if at := len(p.Text) - len(s.text); at >= p.end && (s.text != "" || at == p.end) {
			return at, s.added
		}
	}
	if !f.pure && p.end >= 0 {
		return p.end, false
	}
	ctx := f.variables(p, tn, p.list, false)
	bare, err := f.jinja.Render(f.spares.take(), jinja.Mapping(ctx), jinja.Options{Now: p.clock})
	defer f.spares.put(bare)
	if err != nil {
		return len(p.Text), false
	}
	n := common(p.Text, bare)
	switch {
	case n < len(bare) && p.end >= n:
		return p.end, false // the last message is printed otherwise when no answer is asked for
	case n < len(bare):
		return n, false
	case n == len(p.Text):
		n = f.unasked(p, tn)
	default:
		added = true
	}
	f.closes.keep(k, seenOpening{string(p.Text[n:]), added})
	return n, added
}

// unasked is where the generation prompt begins in a text that has it whether
// it is asked for or not: where the last message ends, or where an answer
// would begin.
func (f *form) unasked(p *Page, tn *turn.Turn) int {
	if p.end >= 0 {
		return p.end
	}
	answer := new(jinja.Map)
	answer.Set("role", jinja.String(string(turn.Assistant)))
	answer.Set("content", (&writer{f: f}).content(turn.Assistant, "x"))
	list := append(slices.Clone(p.list), jinja.Mapping(answer))
	ctx := f.variables(p, tn, list, false)
	var memo jinja.Memo
	text, _, err := f.jinja.RenderMemo(f.spares.take(), jinja.Mapping(ctx), jinja.Options{Now: p.clock}, &memo)
	defer f.spares.put(text)
	if err != nil {
		return len(p.Text)
	}
	if at := spanOf(&memo, len(list)-1).Start; at >= 0 && at <= len(p.Text) && bytes.HasPrefix(p.Text, text[:at]) {
		return at
	}
	return len(p.Text)
}
