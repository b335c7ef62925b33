package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Answer collects the events of one answer. The zero value is empty and
// ready; it belongs to one goroutine.
type Answer struct {
	parts  []part
	inCall bool       // the last part is a call that has not ended
	last   turn.Event // Finish or Fail
	ended  bool
}

// part is one block of an answer: thinking, text, or a call with the text of
// its arguments.
type part struct {
	kind turn.EventKind // Reasoning, Says or CallStart
	call turn.Call
	text *strings.Builder
}

// Add takes one event; those after the end are ignored.
func (a *Answer) Add(e turn.Event) {
	if a.ended {
		return
	}
	switch e.Kind {
	case turn.Reasoning, turn.Says:
		if e.Text != "" {
			a.inCall = false
			a.part(e.Kind).text.WriteString(e.Text)
		}
	case turn.CallStart:
		a.inCall = true
		a.parts = append(a.parts, part{turn.CallStart, e.Call, new(strings.Builder)})
	case turn.CallArgs:
		if a.inCall {
			a.part(turn.CallStart).text.WriteString(e.Text)
		}
	case turn.CallEnd:
		a.inCall = false
	case turn.Finish, turn.Fail:
		a.last, a.ended = e, true
	}
}

// part returns the last part when it is of the kind, else a new one.
func (a *Answer) part(kind turn.EventKind) *part {
	if n := len(a.parts); n == 0 || a.parts[n-1].kind != kind {
		a.parts = append(a.parts, part{kind, turn.Call{}, new(strings.Builder)})
	}
	return &a.parts[len(a.parts)-1]
}

// Message returns the answer as the decoder returns it when the client sends
// it back.
func (a *Answer) Message() turn.Message {
	m := turn.Message{Role: turn.Assistant}
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

// problem returns why an answer has no proper end, or nil.
func (a *Answer) problem() *Problem {
	if !a.ended {
		return &Problem{Kind: Internal, Message: "the answer has no end"}
	}
	return ending(a.last)
}

// calls returns the number of calls.
func (a *Answer) calls() int {
	n := 0
	for i := range a.parts {
		if a.parts[i].kind == turn.CallStart {
			n++
		}
	}
	return n
}

// Ended returns what is wrong with a last event, or nil for a proper end.
func Ended(e turn.Event) *Problem { return ending(e) }

// ending returns what is wrong with a last event, or nil for a proper end.
func ending(e turn.Event) *Problem {
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
