package voice

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// said is an answer as the template prints it, without reasoning.
type said struct {
	body string // text and calls
	end  string // the end token, "" when nothing tells it
}

// ask is what is answered.
var ask = turn.Message{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "Go on."}}}

// turn has the template print an answer, and cuts it out.
func (v *Voice) turn(m Message, before int) (said, error) {
	if !v.whole {
		m.Reasoning = ""
	}
	if v.framed() && len(m.Calls) > 0 {
		m.Content = "" // a message of its own, see thoughtful
	}
	whole, behind, err := v.between(m, before)
	if err != nil {
		return said{}, err
	}
	_, body := v.split(v.cut(whole), "")
	s := said{body: v.numbered(body, m.Calls, before), end: v.endToken(whole, behind)}
	if v.calls == nil {
		return s, nil
	}
	if v.framed() && len(m.Calls) == 0 {
		s.end = first(v.calls.Tokens.Stop) // of an answer that is the last
	}
	for _, stop := range v.calls.Tokens.Stop {
		if i := strings.Index(s.body, stop); i >= 0 { // no engine goes on behind it
			s.body, s.end = s.body[:i], stop
		}
	}
	if len(m.Calls) > 0 && m.Content != "" && !strings.Contains(s.body, m.Calls[0].Name) {
		m.Content = "" // is an answer of its own there
		return v.turn(m, before)
	}
	return s, nil
}

// between renders an answer between what it answers and what follows; without
// the header.
func (v *Voice) between(m Message, before int) (answer, behind string, err error) {
	tools := offered(m.Calls)
	said, next := v.messages(m, before)
	if len(m.Calls) == 0 {
		next = ask
	}
	head, err := v.header(tools)
	if err != nil {
		return "", "", err
	}
	answer, behind, err = v.render(tools, ask, said, next)
	answer = strings.TrimPrefix(strings.TrimPrefix(answer, head), strings.TrimRight(head, space))
	return answer, behind, err
}

// numbered puts the right numbers into ids that hold one: templates count from
// the start of each answer, the model from the start of the conversation.
func (v *Voice) numbered(body string, calls []Call, before int) string {
	if v.calls == nil || v.calls.Call.ID != "header" {
		return body
	}
	done := 0
	for i, c := range calls {
		name := v.calls.Call.Prefix + c.Name + ":"
		at := strings.Index(body[done:], name)
		if at < 0 {
			return body
		}
		at += done + len(name)
		n := len(body[at:]) - len(strings.TrimLeft(body[at:], "0123456789"))
		number := strconv.Itoa(before + i)
		body = body[:at] + number + body[at+n:]
		done = at + len(number)
	}
	return body
}

// framed reports whether answers are messages with headers, and the template
// cannot print all that they may hold.
func (v *Voice) framed() bool { return v.calls != nil && v.calls.Frame != nil && !v.whole }

// findWhole reports whether answers are messages with headers, and the template
// prints them all, or knows no reasoning.
func (v *Voice) findWhole() bool {
	if v.calls == nil || v.calls.Frame == nil {
		return false
	}
	m := Message{Reasoning: probe, Content: "zqtext", Calls: []Call{{Name: "look", Args: json.RawMessage(`{"at": "x"}`)}}}
	answer, _, err := v.between(m, 0)
	joined := strings.Index(answer, m.Content) - strings.Index(answer, probe) - len(probe)
	return err == nil && strings.Contains(answer, m.Content) && (!strings.Contains(answer, probe) || joined > 2)
}

// messages are an answer, and the results of its calls.
func (v *Voice) messages(m Message, before int) (answer, results turn.Message) {
	answer, results = turn.Message{Role: turn.Assistant}, turn.Message{Role: turn.ToolRole}
	add := func(kind turn.BlockKind, text string) {
		if text != "" {
			answer.Blocks = append(answer.Blocks, turn.Block{Kind: kind, Text: text})
		}
	}
	add(turn.ThinkingBlock, m.Reasoning)
	add(turn.Text, m.Content)
	for i, c := range m.Calls {
		id := v.callID(c.Name, before+i)
		answer.Blocks = append(answer.Blocks, turn.Block{Kind: turn.ToolUse, ID: id, Name: c.Name, Args: c.Args})
		results.Blocks = append(results.Blocks, turn.Block{Kind: turn.ToolResult, ID: id, Text: "done"})
	}
	return answer, results
}

// callID is the id of the nth call of a conversation.
func (v *Voice) callID(name string, n int) string {
	if v.calls != nil && v.calls.Call.ID == "header" {
		return fmt.Sprintf("%s%s:%d", v.calls.Call.Prefix, name, n)
	}
	return fmt.Sprintf("sim%06d", n) // nine letters and digits, as some families want
}

// offered are tools with which the calls make sense.
func offered(calls []Call) (all []turn.Tool) {
	have := map[string]bool{}
	for _, c := range calls {
		if have[c.Name] {
			continue
		}
		have[c.Name] = true
		var args map[string]any
		_ = json.Unmarshal(c.Args, &args) // no object: no properties
		properties := map[string]any{}
		for key, v := range args {
			properties[key] = map[string]any{"type": typeOf(v)}
		}
		schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties}) // cannot fail
		all = append(all, turn.Tool{Name: c.Name, Bare: c.Name, Description: "A tool.", Schema: schema})
	}
	return all
}

// typeOf is the JSON type of a value.
func typeOf(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}

// render prints a conversation; what is returned is what stands for its second
// message, and what follows that.
func (v *Voice) render(tools []turn.Tool, messages ...turn.Message) (answer, behind string, err error) {
	var p template.Page
	if err := v.tmpl.Render(&p, &turn.Turn{Tools: tools, Messages: messages}); err != nil {
		return "", "", err
	}
	at := p.Spans[1]
	if at.Start < 0 {
		return "", "", fmt.Errorf("%w: its template does not tell where an answer stands", ErrUnwritable)
	}
	return string(p.Text[at.Start:at.End]), string(p.Text[at.End:]), nil
}

// header is what opens an answer, up to where reasoning may begin.
func (v *Voice) header(tools []turn.Tool) (string, error) {
	var p template.Page
	if err := v.tmpl.Render(&p, &turn.Turn{Tools: tools, Messages: []turn.Message{ask}}); err != nil {
		return "", err
	}
	head := string(p.Text[p.Opening:])
	for _, marker := range v.thoughtMarkers() {
		head, _, _ = strings.Cut(head, marker)
	}
	return head, nil
}

// thoughtMarkers are those that open and close reasoning.
func (v *Voice) thoughtMarkers() []string {
	if v.think == nil || v.think.Reasoning == nil {
		return nil
	}
	return append(append([]string{}, v.think.Reasoning.Open...), v.think.Reasoning.Close...)
}

// cut takes off what ends an answer.
func (v *Voice) cut(answer string) string {
	if i := v.closing(answer); i >= 0 {
		return answer[:i]
	}
	return answer
}

// closing is where what ends an answer begins, −1 when it ends by what follows.
func (v *Voice) closing(answer string) int {
	for _, s := range v.tmpl.Closings() {
		if i := strings.LastIndex(answer, s); i >= 0 && strings.TrimSpace(answer[i+len(s):]) == "" {
			return i
		}
	}
	if end := v.tmpl.End(); end != "" && strings.HasSuffix(answer, end) {
		return len(answer) - len(end)
	}
	return -1
}

// endToken is the special token that ends an answer: its own, or that of the
// message behind it.
func (v *Voice) endToken(answer, behind string) string {
	rest := behind
	if i := v.closing(answer); i >= 0 {
		rest = answer[i:]
	}
	rest = strings.TrimLeft(rest, space)
	for _, s := range v.special {
		if strings.HasPrefix(rest, s) {
			return s
		}
	}
	return ""
}
