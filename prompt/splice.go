package prompt

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/agentinfer/dyn/turn"
)

// farthest is how many bytes before a header a cut is looked for.
const farthest = 4096

// splice puts the ids of an answer in place of its text: what the prompt held
// after the last message then, what the model said, and the end that the
// template prints. It leaves the answer to be rendered where the template
// drops its reasoning, or prints the answer in no place of its own, see answerEnd.
func (b *builder) splice(i int, said *turn.RawTurn) {
	at := b.s.page.Spans[i]
	if at.Start < b.pos || b.shared(i) {
		return
	}
	end, ok := b.answerEnd(i)
	if !ok {
		return
	}
	span := b.text[at.Start:end]
	from, ok := b.opensAt(at.Start, said.Opening)
	if !ok || !b.m.begins(b.text[from:end], said) || !keeps(span, said.Thinking, &b.t.Messages[i]) {
		return
	}
	b.encode(from)
	b.tail = append(append(b.tail, said.Opening...), said.IDs...)
	b.piece(end, true)
}

// answerEnd is where in the text the answer of message i ends: before what ends
// it in its span. Some templates print the results of its calls in there too;
// then it ends where the model stopped, and stays rendered where they print
// something of the answer behind the results.
func (b *builder) answerEnd(i int) (end int, ok bool) {
	at := b.s.page.Spans[i]
	span := b.text[at.Start:at.End]
	end = at.End - b.m.closing(span)
	if !b.answered(i) {
		return end, true
	}
	for _, s := range b.m.template.Stops() {
		if n := bytes.Index(span, []byte(s)); n >= 0 {
			end = min(end, at.Start+n)
		}
	}
	behind := b.text[end:at.End]
	for _, x := range b.t.Messages[i].Blocks {
		if text := strings.TrimSpace(x.Text); x.Kind == turn.Text && text != "" && bytes.Contains(behind, []byte(text)) {
			return 0, false
		}
	}
	for _, x := range b.t.Messages[i+1].Blocks {
		if text := strings.TrimSpace(x.Text); text != "" && bytes.Contains(span[:end-at.Start], []byte(text)) {
			return 0, false // nothing tells the results from the answer
		}
	}
	return end, true
}

// answered reports whether the results of message i's calls are in no place of
// their own: then they may be in its own.
func (b *builder) answered(i int) bool {
	spans := b.s.page.Spans
	return i+1 < len(spans) && b.t.Messages[i+1].Role == turn.ToolRole && spans[i+1].Start == spans[i+1].End && spans[i+1].Start >= 0
}

// alike is how many bytes of an answer's text and of what the model made must
// be equal at their start, if there are so many.
const alike = 6

// begins reports whether an answer's text begins as the answer did: with the
// header of the generation prompt, and what the model said. Some templates
// print there what belongs to the message before.
func (m *Model) begins(span []byte, said *turn.RawTurn) bool {
	made := m.tok.Decode(nil, said.Opening)
	made = m.tok.Decode(made, said.IDs[:min(len(said.IDs), 2*alike)])
	made, span = withoutThoughtMarks(made), withoutThoughtMarks(span)
	return commonPrefix(made, span) >= min(alike, len(made), len(span))
}

// withoutThoughtMarks cuts white space and marks of reasoning from the start
// of a text: some templates print an empty think block only while it is open.
func withoutThoughtMarks(text []byte) []byte {
	for {
		text = bytes.TrimSpace(text)
		n := len(text)
		for _, marks := range [...][]string{thoughtOpens, thoughtCloses} {
			for _, s := range marks {
				text = bytes.TrimPrefix(text, []byte(s))
			}
		}
		if len(text) == n {
			return text
		}
	}
}

// shared reports whether message i stands in one span with a neighbour. Those
// that stand nowhere are passed over.
func (b *builder) shared(i int) bool {
	spans := b.s.page.Spans
	before, after := i-1, i+1
	for before >= 0 && spans[before].Start < 0 {
		before--
	}
	for after < len(spans) && spans[after].Start < 0 {
		after++
	}
	return before >= 0 && spans[before].End > spans[i].Start || after < len(spans) && spans[after].Start < spans[i].End
}

// cutBefore is the last place not behind at where the text may be cut.
func (b *builder) cutBefore(at int) (int, bool) {
	for i := at; i >= max(b.pos, at-farthest); i-- {
		if i == b.pos || b.m.tok.Boundary(b.text, i) {
			return i, true
		}
	}
	return 0, false
}

// opensAt is where in the text the opening of an answer goes whose text begins
// at at. Where the opening was cut from what is before it, that is there; else
// it holds the end of the message before.
func (b *builder) opensAt(at int, opening []uint32) (int, bool) {
	tokens := b.m.tok.Decode(nil, opening)
	from, ok := b.cutBefore(at)
	if ok && bytes.HasPrefix(tokens, b.text[from:at]) {
		return from, true
	}
	before := b.text[max(b.pos, at-longestMark):at]
	return at, b.m.tok.Boundary(slices.Concat(before, tokens), len(before))
}

// longestMark is how many bytes before a cut may matter to it.
const longestMark = 1024

// closing is how many bytes at the end of an answer's text end it: from the
// last stop token on, or what the template is known to print after an answer.
// Where the next message's head ends an answer it is nothing.
func (m *Model) closing(span []byte) int {
	last := -1
	for _, s := range m.ends {
		last = max(last, bytes.LastIndex(span, []byte(s)))
	}
	if last >= 0 {
		for _, s := range m.ends {
			if rest, ok := bytes.CutPrefix(span[last:], []byte(s)); ok && len(bytes.TrimSpace(rest)) == 0 {
				return len(span) - last
			}
		}
	}
	if end := m.template.End(); bytes.HasSuffix(span, []byte(end)) {
		return len(end)
	}
	return 0
}

// keeps reports whether a template printed the reasoning of an answer, in
// front of what else the answer says. Without reasoning there is nothing to
// drop.
func keeps(span []byte, thought string, m *turn.Message) bool {
	thought = strings.TrimSpace(thought)
	if thought == "" {
		return true
	}
	at := bytes.Index(span, []byte(thought))
	if at < 0 {
		return false
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		says := strings.TrimFunc(b.Text, unicode.IsSpace)
		if b.Kind == turn.ToolUse {
			says = b.Name
		}
		if b.Kind != turn.ThinkingBlock && says != "" {
			return at+len(thought) <= bytes.LastIndex(span, []byte(says))
		}
	}
	return true
}
