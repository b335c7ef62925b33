package voice

import (
	"encoding/json"
	"strings"
)

const space = " \t\r\n"

// thought is what stands around reasoning.
type thought struct{ open, shut string }

// probe stands for reasoning that is looked for.
const probe = "zqmuse"

// findThought looks how the template prints reasoning: beside a call, which
// most that print any do. Where it prints none it is between the markers.
func (v *Voice) findThought() thought {
	if v.think == nil || v.think.Reasoning == nil {
		return thought{}
	}
	bare := thought{first(v.think.Reasoning.Open), first(v.think.Reasoning.Close)}
	if v.tmpl.Reasoning() == "" || strings.HasPrefix(v.tmpl.Reasoning(), "<") { // what is in the text is ours
		return bare
	}
	m := Message{Reasoning: probe, Content: "x", Calls: []Call{{Name: "look", Args: json.RawMessage(`{"at": "x"}`)}}}
	whole, _, err := v.between(m, 0)
	if err != nil {
		return bare
	}
	written, _ := v.split(whole, probe)
	open, shut, found := strings.Cut(written, probe)
	if !found {
		return bare
	}
	return thought{open, shut}
}

// split tells the reasoning of an answer, with what stands around it, from the
// rest.
func (v *Voice) split(answer, reasoning string) (written, body string) {
	if v.think == nil || v.think.Reasoning == nil {
		return "", answer
	}
	trimmed := strings.TrimLeft(answer, space)
	for _, shut := range v.think.Reasoning.Close {
		if rest, ok := strings.CutPrefix(trimmed, shut); ok {
			return "", rest
		}
	}
	for _, open := range v.think.Reasoning.Open {
		if !strings.HasPrefix(trimmed, open) {
			continue
		}
		at := len(open) + max(strings.Index(trimmed[len(open):], reasoning), 0)
		for _, shut := range v.think.Reasoning.Close {
			if i := strings.Index(trimmed[at:], shut); i >= 0 {
				body := strings.TrimLeft(trimmed[at+i+len(shut):], space)
				return answer[:len(answer)-len(body)], body
			}
		}
	}
	return "", answer
}

// thoughtful is what stands before the body: reasoning as the prompt wants it.
func (v *Voice) thoughtful(m Message, tail string) string {
	switch {
	case v.whole:
		return ""
	case v.framed():
		return v.frames(m)
	case v.think == nil || v.think.Reasoning == nil:
		return ""
	}
	bare := strings.TrimRight(tail, space)
	written := v.thought.open + m.Reasoning + v.thought.shut
	switch {
	case endsIn(bare, v.think.Reasoning.Open):
		for _, open := range v.think.Reasoning.Open {
			if _, rest, ok := strings.Cut(v.thought.open, open); ok {
				written = rest + m.Reasoning + v.thought.shut
				break
			}
		}
		return behind(tail[len(bare):], written)
	case endsIn(bare, v.think.Reasoning.Close):
		return behind(tail[len(bare):], v.thought.shut[len(strings.TrimRight(v.thought.shut, space)):])
	case m.Reasoning == "":
		return ""
	}
	return written
}

// behind is a text without what of its start the prompt ends with.
func behind(tail, text string) string {
	for tail != "" && text != "" && tail[0] == text[0] {
		tail, text = tail[1:], text[1:]
	}
	return text
}

// frames are reasoning, and the text before a call, as messages of their own.
func (v *Voice) frames(m Message) string {
	f := v.calls.Frame
	one := func(channel, text string) string {
		if text == "" {
			return ""
		}
		return f.Channel + channel + first(f.Body) + text + first(f.End) + first(f.Open) + "assistant"
	}
	all := ""
	for channel, role := range f.Roles {
		if role == "reasoning" {
			all = one(channel, m.Reasoning)
		}
	}
	if len(m.Calls) > 0 {
		all += one("commentary", m.Content)
	}
	return all
}

func endsIn(text string, markers []string) bool {
	for _, m := range markers {
		if strings.HasSuffix(text, m) {
			return true
		}
	}
	return false
}

func first(markers []string) string {
	if len(markers) == 0 {
		return ""
	}
	return markers[0]
}
