package dialect

import "github.com/agentinfer/dyn/turn"

// Document returns the collector of one answer, or of as many as the turn
// wants.
func (chat) Document(t *turn.Turn) Document {
	d := &chatDocument{turn: t}
	if d.choices = d.only[:]; t.N > 1 {
		d.choices = make([]Answer, t.N)
	}
	return d
}

type chatDocument struct {
	turn    *turn.Turn
	choices []Answer
	only    [1]Answer // where one answer is wanted
}

func (d *chatDocument) Mark(int) {}

func (d *chatDocument) Add(e turn.Event) {
	if e.Choice >= 0 && e.Choice < len(d.choices) {
		d.choices[e.Choice].Add(e)
	}
}

func (d *chatDocument) JSON() (int, []byte) {
	room := 0
	for i := range d.choices {
		room += d.choices[i].room()
	}
	b := appendChatHead(make([]byte, 0, room), d.turn, "chat.completion")
	var u turn.Usage
	var extra []byte
	for i := range d.choices {
		a := &d.choices[i]
		if p := a.problem(); p != nil {
			return p.StatusFor(turn.Chat), appendOpenAIError(nil, p, turn.Chat)
		}
		b = d.appendChoice(comma(b, i), a, i)
		u = addUsage(u, a.last)
		if extra == nil {
			extra = a.last.Extra
		}
	}
	b = appendChatUsage(append(b, `],"usage":`...), u)
	return 200, append(appendExtra(b, extra), '}')
}

func (d *chatDocument) appendChoice(b []byte, a *Answer, i int) []byte {
	b = appendInt(append(b, `{"index":`...), int64(i))
	b = append(b, `,"message":{"role":"assistant","content":`...)
	text, thought := a.joined(turn.Says), a.joined(turn.Reasoning)
	if text == "" && a.blocks.calls > 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, text)
	}
	b = append(b, `,"refusal":null`...)
	if thought != "" {
		b = appendString(append(b, `,"reasoning_content":`...), thought)
	}
	b = append(a.appendCalls(b), `},"logprobs":`...)
	if d.turn.Sampling.Logprobs {
		b = append(appendLogprobs(append(b, `{"content":[`...), a.logprobs), `],"refusal":null}`...)
	} else {
		b = append(b, "null"...)
	}
	b = append(append(b, `,"finish_reason":"`...), chatReason(a.last, a.blocks.calls)...)
	return append(b, `"}`...)
}

// joined returns the text of all parts of a kind.
func (a *Answer) joined(kind turn.EventKind) string {
	var all pile
	for i := range a.parts {
		if a.parts[i].kind == kind {
			all.add(a.parts[i].text.String())
		}
	}
	return all.String()
}

func (a *Answer) appendCalls(b []byte) []byte {
	n := 0
	for i := range a.parts {
		p := &a.parts[i]
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
			args = emptyArgs
		}
		b = append(appendString(append(b, `,"arguments":`...), args), "}}"...)
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}
