package template

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// fields are the names under which published templates read reasoning.
var fields = []string{"reasoning_content", "reasoning", "thinking", "thought", "reasoning_text"}

// reasoning finds where an answer's reasoning is read.
func (t *trial) reasoning() {
	f := t.f
	for _, name := range fields {
		if t.thinks(func(m object) { m[name] = wordThink }) {
			f.reasoning = name
			if f.calls {
				f.oneText = t.textRefused(name)
			}
			return
		}
	}
	old := t.thinking(func(m object) { m["content"] = inline(wordThink, wordText) })[0]
	if out, ok := t.render(old, t.thoughtful()...); ok && !f.parts[turn.Assistant] &&
		strings.Contains(out, wordText) && !strings.Contains(out, wordThink) {
		f.reasoning = inlineReasoning
		return
	}
	if t.thinks(func(m object) {
		m["content"] = []object{{"type": "thinking", "thinking": wordThink}, {"type": "text", "text": wordText}}
	}) {
		f.reasoning = partReasoning
	}
}

// thinking are conversations in which an answer that is given reasoning is an
// old one, is within a loop of calls, with text and without, is the last
// message, and is one of two.
func (t *trial) thinking(give func(object)) [][]object {
	user, next := t.say(turn.User, wordUser), t.say(turn.User, wordUser2)
	answer := func(text string) object { return t.say(turn.Assistant, text) }
	all := [][]object{
		{user, answer(wordText), next},
		t.loop(wordText, t.args()),
		t.loop("", t.args()),
		{user, answer(wordText)},
		{user, answer(wordText2), next, answer(wordText)},
	}
	for i, ms := range all {
		at := 1
		if i == 4 {
			at = 3
		}
		give(ms[at])
	}
	return all
}

// thinks reports whether reasoning is printed in one of those, beside the
// text if there is some, and not as Python or JSON print a mapping.
func (t *trial) thinks(give func(object)) bool {
	for i, ms := range t.thinking(give) {
		out, ok := t.render(ms, t.thoughtful()...)
		if ok && strings.Contains(out, wordThink) && (i == 2 || strings.Contains(out, wordText)) &&
			!strings.Contains(out, `'thinking'`) && !strings.Contains(out, `"thinking"`) {
			return true
		}
	}
	return false
}

// textRefused reports whether text and reasoning beside a call are refused
// together, though each is taken.
func (t *trial) textRefused(name string) bool {
	_, both := t.render(with1(t.loop(wordText, t.args()), name), t.thoughtful()...)
	_, alone := t.render(with1(t.loop("", t.args()), name), t.thoughtful()...)
	return !both && alone
}

// with1 gives the second of the messages reasoning.
func with1(ms []object, name string) []object {
	ms[1][name] = wordThink
	return ms
}
