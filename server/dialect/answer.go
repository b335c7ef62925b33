package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Answer collects the events of one answer. The zero value is empty and
// ready; it belongs to one goroutine.
type Answer struct {
	blocks   blocks
	parts    []part
	logprobs []turn.Logprob
	last     turn.Event // Finish or Fail
	ended    bool
}

// part is one block of an answer: thinking, text, or a call with the text of
// its arguments.
type part struct {
	kind turn.EventKind // Reasoning, Says or CallStart
	call turn.Call
	text pile
}

// pile is a text that comes in pieces. An only piece is not copied.
type pile struct {
	only string
	more *strings.Builder
}

func (p *pile) add(piece string) {
	switch {
	case p.more != nil:
		p.more.WriteString(piece)
	case p.only == "":
		p.only = piece
	default:
		p.more = new(strings.Builder)
		p.more.Grow(2 * (len(p.only) + len(piece)))
		p.more.WriteString(p.only)
		p.more.WriteString(piece)
	}
}

// String returns the whole text.
func (p *pile) String() string {
	if p.more != nil {
		return p.more.String()
	}
	return p.only
}

// Add takes one event; those after the end are ignored.
func (a *Answer) Add(e turn.Event) {
	if a.ended {
		return
	}
	a.logprobs = append(a.logprobs, e.Logprobs...)
	a.blocks.event(nil, parting{a}, &e)
	if e.Kind == turn.Finish || e.Kind == turn.Fail {
		a.last, a.ended = e, true
	}
}

// parting writes blocks as an answer's parts.
type parting struct{ *Answer }

func (p parting) open(dst []byte, b *block) []byte {
	p.parts = append(p.parts, part{kind: b.kind, call: b.call})
	return dst
}

func (p parting) piece(dst []byte, _ *block, text string) []byte {
	p.parts[len(p.parts)-1].text.add(text)
	return dst
}

func (p parting) close(dst []byte, _ *block) []byte { return dst }

// Message returns the answer as the decoder returns it when the client sends
// it back.
func (a *Answer) Message() turn.Message {
	m := turn.Message{Role: turn.Assistant}
	if n := len(a.parts); n > 0 {
		m.Blocks = make([]turn.Block, 0, n)
	}
	for i := range a.parts {
		p := &a.parts[i]
		b := turn.Block{Text: p.text.String()}
		switch p.kind {
		case turn.Reasoning:
			b.Kind = turn.ThinkingBlock
		case turn.CallStart:
			b = turn.Block{Kind: turn.ToolUse, ID: p.call.ID, Name: p.call.Name, Args: Args(b.Text)}
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// LastCall is the name of the tool that the answer calls last; "" is none.
func (a *Answer) LastCall() string {
	for i := len(a.parts) - 1; i >= 0; i-- {
		if a.parts[i].kind == turn.CallStart {
			return a.parts[i].call.Name
		}
	}
	return ""
}

// Thoughts yields the texts of the reasoning, in order.
func (a *Answer) Thoughts(yield func(string) bool) {
	for i := range a.parts {
		if p := &a.parts[i]; p.kind == turn.Reasoning && !yield(p.text.String()) {
			return
		}
	}
}

// problem returns why an answer has no proper end, or nil.
func (a *Answer) problem() *Problem {
	if !a.ended {
		return &Problem{Kind: Internal, Message: "the answer has no end"}
	}
	return Ended(a.last)
}

// room is about how many bytes a document with the answer takes.
func (a *Answer) room() int {
	n := 512 // what stands around the parts
	for i := range a.parts {
		n += 128 + len(a.parts[i].text.String())*9/8
	}
	return n
}

// Ended returns what is wrong with a last event, or nil for a proper end.
func Ended(e turn.Event) *Problem {
	switch {
	case e.Kind == turn.Fail:
		return Explain(e.Err)
	case e.Reason == turn.Failed:
		return Explain(turn.ErrLost)
	case e.Reason == turn.Aborted:
		return &Problem{Kind: Unavailable, Message: "the answer was aborted"}
	}
	return nil
}
