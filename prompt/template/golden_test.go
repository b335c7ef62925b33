package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// clock is the time of the reference.
func clock() time.Time { return fixtures.Clock() }

// scenario is one conversation of the fixtures.
type scenario struct {
	Name string
	Raw  map[string]json.RawMessage

	Messages []struct {
		Role, Name string
		Content    json.RawMessage
		Reasoning  *string `json:"reasoning_content"`
		Calls      []struct {
			ID       string
			Function struct {
				Name      string
				Arguments json.RawMessage
			}
		} `json:"tool_calls"`
		CallID string `json:"tool_call_id"`
	} `json:"-"`
	Tools []struct {
		Function struct {
			Name                    string
			Description, Parameters json.RawMessage
		}
	} `json:"-"`
}

func scenarios(t testing.TB) (list []*scenario) {
	t.Helper()
	for _, s := range fixtures.Scenarios(t) {
		list = append(list, &scenario{Name: s.Name, Raw: s.Ctx})
	}
	for _, s := range list {
		if err := json.Unmarshal(s.Raw["messages"], &s.Messages); err != nil {
			t.Fatal(err)
		}
		if raw, ok := s.Raw["tools"]; ok {
			if err := json.Unmarshal(raw, &s.Tools); err != nil {
				t.Fatal(err)
			}
		}
	}
	return list
}

// turn is the scenario as a decoder would hand it on; why says what a turn
// cannot hold.
func (s *scenario) turn() (tn *turn.Turn, why string) {
	tn = new(turn.Turn)
	for _, m := range s.Messages {
		msg := turn.Message{Role: turn.Role(m.Role)}
		var text string
		var parts []struct{ Type, Text string }
		switch {
		case string(m.Content) == "null":
		case json.Unmarshal(m.Content, &text) == nil:
		case json.Unmarshal(m.Content, &parts) == nil && len(parts) == 1 && parts[0].Type == "text":
			text = parts[0].Text
		default:
			return nil, "content of several parts or an image"
		}
		switch msg.Role {
		case turn.ToolRole:
			msg.Blocks = []turn.Block{{Kind: turn.ToolResult, ID: m.CallID, Text: text}}
		case turn.System, turn.User, turn.Assistant:
			if m.Reasoning != nil {
				msg.Blocks = append(msg.Blocks, turn.Block{Kind: turn.ThinkingBlock, Text: *m.Reasoning})
			}
			msg.Blocks = append(msg.Blocks, turn.Block{Kind: turn.Text, Text: text})
		default:
			return nil, "a role that turns do not have"
		}
		for _, c := range m.Calls {
			args := c.Function.Arguments
			var inner string
			if json.Unmarshal(args, &inner) == nil {
				args = json.RawMessage(inner)
			}
			msg.Blocks = append(msg.Blocks, turn.Block{Kind: turn.ToolUse, ID: c.ID, Name: c.Function.Name, Args: args})
		}
		tn.Messages = append(tn.Messages, msg)
	}
	for _, f := range s.Tools {
		var text string
		_ = json.Unmarshal(f.Function.Description, &text)
		tn.Tools = append(tn.Tools, turn.Tool{Name: f.Function.Name, Description: text, Schema: f.Function.Parameters})
	}
	return tn, ""
}

// switches are the variables of the scenario that a recipe would set.
func (s *scenario) switches(t testing.TB) map[string]any {
	t.Helper()
	m := map[string]any{}
	for name, raw := range s.Raw {
		if name == "messages" || name == "tools" || name == "add_generation_prompt" || strings.HasSuffix(name, "_token") {
			continue
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		m[name] = v
	}
	return m
}

// asTurn is the scenario's context with what a turn does not keep taken out,
// and the name of each result's tool, which it knows, put in.
func (s *scenario) asTurn(t testing.TB) jinja.Value {
	t.Helper()
	ctx := map[string]any{}
	for name, raw := range s.Raw {
		v, err := jinja.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		ctx[name] = v
	}
	m := new(jinja.Map)
	for name, v := range ctx {
		m.Set(name, v.(jinja.Value))
	}
	m.Set("messages", s.messages(t))
	if _, ok := s.Raw["tools"]; ok {
		var each []string
		for _, x := range s.Tools {
			f := x.Function
			each = append(each, fmt.Sprintf(`{"type": "function", "function": {"name": %q, "description": %s, "parameters": %s}}`,
				f.Name, f.Description, f.Parameters))
		}
		text := "[" + strings.Join(each, ", ") + "]"
		v, err := jinja.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m.Set("tools", v)
	}
	return jinja.Mapping(m)
}

// messages are the scenario's messages with "" for the content None and the
// tools' names.
func (s *scenario) messages(t testing.TB) jinja.Value {
	t.Helper()
	names := map[string]string{}
	var list []jinja.Value
	for _, m := range s.Messages {
		x := new(jinja.Map)
		x.Set("role", jinja.String(m.Role))
		content := m.Content
		if string(content) == "null" {
			content = []byte(`""`)
		}
		v, err := jinja.Decode(content)
		if err != nil {
			t.Fatal(err)
		}
		x.Set("content", v)
		if m.Reasoning != nil {
			x.Set("reasoning_content", jinja.String(*m.Reasoning))
		}
		var calls []jinja.Value
		for _, c := range m.Calls {
			names[c.ID] = c.Function.Name
			f, call := new(jinja.Map), new(jinja.Map)
			f.Set("name", jinja.String(c.Function.Name))
			args, err := jinja.Decode(c.Function.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			f.Set("arguments", args)
			call.Set("id", jinja.String(c.ID))
			call.Set("type", jinja.String("function"))
			call.Set("function", jinja.Mapping(f))
			calls = append(calls, jinja.Mapping(call))
		}
		if calls != nil {
			x.Set("tool_calls", jinja.List(calls...))
		}
		if m.Role == "tool" {
			x.Set("tool_call_id", jinja.String(m.CallID))
			x.Set("name", jinja.String(names[m.CallID]))
		}
		list = append(list, jinja.Mapping(x))
	}
	return jinja.List(list...)
}

// adapted says what of a scenario a template gets in another form than the
// reference gave it, "" when nothing.
func adapted(f *facts, s *scenario, tn *turn.Turn) string {
	before := turn.Role("")
	for _, m := range s.Messages {
		role := turn.Role(m.Role)
		calls := len(m.Calls)
		text := len(m.Content) > 2 && string(m.Content) != "null"
		switch {
		case len(m.Content) > 0 && m.Content[0] == '[' && !f.parts[role]:
			return "parts of content are one text"
		case f.parts[role]:
			return "text is a part of content"
		case role == turn.System && !f.system:
			return "a system message is the user's"
		case f.joined(before, role):
			return "messages are joined"
		case calls > 0 && !f.calls:
			return "calls are text"
		case role == turn.ToolRole && !f.results:
			return "results are the user's"
		case calls > 1 && f.oneCall:
			return "one call in each answer"
		case calls > 0 && text && f.callsApart:
			return "calls are apart from text"
		case calls > 0 && f.nullContent:
			return "no content beside calls"
		case calls > 0 && f.shortIDs:
			return "ids are shortened"
		case calls > 0 && f.stringArgs != (m.Calls[0].Function.Arguments[0] == '"'):
			return "arguments in the form that is wanted"
		case m.Reasoning != nil && f.reasoning != "" && f.reasoning != "reasoning_content":
			return "reasoning where the template reads it"
		case m.Reasoning != nil && calls > 0 && f.oneText:
			return "text and reasoning are one"
		}
		before = role
	}
	if len(tn.Tools) > 0 && f.bare {
		return "tools without the object around them"
	}
	for _, tool := range tn.Tools {
		if tool.Description == "" {
			return "a description"
		}
	}
	return ""
}

// Every template with every scenario that a turn can hold prints what the
// reference prints.
func TestGolden(t *testing.T) {
	all, list := fixtures.Goldens(t), scenarios(t)
	texts := fixtures.Templates(t)
	equal, known := 0, 0
	why := map[string]int{}
	for file, answers := range all {
		text, ok := texts[file]
		if !ok {
			t.Logf("no template %s", file)
			continue
		}
		open := map[string]*Template{}
		for _, s := range list {
			want, ok := answers[s.Name]
			if !ok {
				continue
			}
			switches := s.switches(t)
			key := fmt.Sprint(switches)
			if open[key] == nil {
				open[key] = opened(t, text, switches)
			}
			switch same, reason := goldenCase(t, open[key], file, text, s, want); {
			case same:
				equal++
			case reason != "":
				why[reason]++
			default:
				known++
			}
		}
	}
	t.Logf("%d equal the reference, %d what it gives for the turn's form", equal, known)
	for _, reason := range slices.Sorted(keysOf(why)) {
		t.Logf("%4d not comparable: %s", why[reason], reason)
	}
	if equal == 0 {
		t.Error("nothing was compared")
	}
}

func keysOf(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// goldenCase compares one scenario. It equals the reference, or what the
// template prints for the form that a turn leaves, or is not comparable for a
// reason.
func goldenCase(t *testing.T, tmpl *Template, file, text string, s *scenario, want fixtures.Answer) (same bool, reason string) {
	t.Helper()
	tn, reason := s.turn()
	if reason != "" {
		return false, reason
	}
	p := Page{Now: clock()}
	err := tmpl.Render(&p, tn)
	got, quiet := string(p.Text), string(s.Raw["add_generation_prompt"]) == "false"
	if quiet {
		got = got[:p.Opening]
	}
	if err == nil && want.Out != nil && (got == *want.Out || quiet && string(p.Text) == *want.Out) || err != nil && want.Out == nil {
		return true, ""
	}
	if reason := adapted(&tmpl.form(tn).facts, s, tn); reason != "" {
		if err != nil {
			t.Errorf("%s, %s: %v, though %s", file, s.Name, err, reason)
		}
		return false, reason
	}
	parsed, perr := jinja.Parse(text)
	if perr != nil {
		t.Fatal(perr)
	}
	ref, rerr := parsed.Render(nil, s.asTurn(t), jinja.Options{Now: clock})
	if asked := string(p.Text); quiet && err == nil && rerr == nil && !strings.HasPrefix(asked, string(ref)) {
		return false, "an answer at the end is printed otherwise when another is asked for"
	}
	if (rerr == nil) != (err == nil) || err == nil && got != string(ref) {
		n := common([]byte(got), ref)
		t.Errorf("%s, %s: after %q: got %.80q (%v), want %.80q (%v)", file, s.Name,
			got[max(0, n-30):n], got[n:], err, string(ref[n:]), rerr)
	}
	return false, ""
}
