package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Document returns the collector of one answer.
func (chat) Document(t *turn.Turn) Document { return &chatDocument{turn: t} }

type chatDocument struct {
	Answer
	turn *turn.Turn
}

func (d *chatDocument) Mark(int) {}

func (d *chatDocument) JSON() (int, []byte) {
	if p := d.problem(); p != nil {
		return p.Status(), appendOpenAIError(nil, p, turn.Chat)
	}
	b := append(chatHead(d.turn, "chat.completion"), `{"index":0,"message":{"role":"assistant","content":`...)
	text, thought := d.joined(turn.Says), d.joined(turn.Reasoning)
	if text == "" && d.calls() > 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, text)
	}
	if thought != "" {
		b = appendString(append(b, `,"reasoning_content":`...), thought)
	}
	b = d.appendCalls(b)
	b = append(append(b, `},"logprobs":null,"finish_reason":"`...), chatReason(d.last, d.calls())...)
	return 200, append(appendChatUsage(append(b, `"}],"usage":`...), d.last.Usage), '}')
}

// joined returns the text of all parts of a kind.
func (d *chatDocument) joined(kind turn.EventKind) string {
	var b strings.Builder
	for i := range d.parts {
		if d.parts[i].kind == kind {
			b.WriteString(d.parts[i].text.String())
		}
	}
	return b.String()
}

func (d *chatDocument) appendCalls(b []byte) []byte {
	n := 0
	for i := range d.parts {
		p := &d.parts[i]
		if p.kind != turn.CallStart {
			continue
		}
		if n == 0 {
			b = append(b, `,"tool_calls":[`...)
		}
		b = appendString(append(comma(b, n), `{"id":`...), callID(p.call, turn.Chat))
		b = appendString(append(b, `,"type":"function","function":{"name":`...), p.call.Name)
		args := p.text.String()
		if args == "" {
			args = "{}"
		}
		b = append(appendString(append(b, `,"arguments":`...), args), "}}"...)
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}
