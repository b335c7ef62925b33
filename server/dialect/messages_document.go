package dialect

import "github.com/agentinfer/dyn/turn"

// Document returns the collector of one answer.
func (messages) Document(t *turn.Turn) Document {
	return &messagesDocument{turn: t, prompt: newMarked(t)}
}

type messagesDocument struct {
	Answer
	turn   *turn.Turn
	prompt marked
}

func (d *messagesDocument) Mark(tokens int) { d.prompt.mark = tokens }

func (d *messagesDocument) JSON() (int, []byte) {
	if p := d.problem(); p != nil {
		return p.StatusFor(turn.Messages), appendAnthropicError(nil, p, d.turn.ID)
	}
	b := appendMessageHead(make([]byte, 0, d.room()), answerID("msg_", d.turn), d.turn.Model)
	b = append(b, '[')
	for i := range d.parts {
		b = d.appendPart(comma(b, i), &d.parts[i])
	}
	b = append(appendStop(append(b, `],`...), d.last, d.blocks.calls), `,"usage":`...)
	return 200, append(appendExtra(d.prompt.appendUsage(b, d.last.Usage), d.last.Extra), '}')
}

func (d *messagesDocument) appendPart(b []byte, p *part) []byte {
	text := p.text.String()
	switch p.kind {
	case turn.Reasoning:
		s := seal{omitted: d.turn.Thinking.Omitted}
		s.write(text)
		if s.omitted {
			text = ""
		}
		b = appendString(append(b, `{"type":"thinking","thinking":`...), text)
		b = append(b, `,"signature":"`...)
		return append(s.append(b), `"}`...)
	case turn.CallStart:
		b = appendString(append(b, `{"type":"tool_use","id":`...), callID(p.call, turn.Messages))
		b = appendString(append(b, `,"name":`...), p.call.Name)
		b = append(append(b, `,"input":`...), argsObject(text)...)
		return append(b, '}')
	}
	b = appendString(append(b, `{"type":"text","text":`...), text)
	return append(b, '}')
}
