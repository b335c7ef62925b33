package template

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// talk is a conversation with thoughts, a call and its result.
func talk() *turn.Turn {
	return &turn.Turn{
		Tools: []turn.Tool{{
			Name: "read", Description: "reads a file",
			Schema: []byte(`{"type": "object", "properties": {"path": {"type": "string", "description": "where"}}, "required": ["path"]}`),
		}},
		Messages: []turn.Message{
			{Role: turn.System, Blocks: []turn.Block{{Text: "Be brief."}}},
			{Role: turn.User, Blocks: []turn.Block{{Text: "What is in a.txt?"}}},
			{Role: turn.Assistant, Blocks: []turn.Block{
				{Kind: turn.ThinkingBlock, Text: "I must look."},
				{Text: "Let me look."},
				{Kind: turn.ToolUse, ID: "abc123XYZ", Name: "read", Args: []byte(`{"path": "a.txt"}`)},
			}},
			{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, ID: "abc123XYZ", Text: "forty-two"}}},
			{Role: turn.Assistant, Blocks: []turn.Block{{Kind: turn.ThinkingBlock, Text: "I see."}, {Text: "It holds forty-two."}}},
			{Role: turn.User, Blocks: []turn.Block{{Text: "Thanks."}}},
			{Role: turn.Assistant, Blocks: []turn.Block{{Text: "You are welcome."}}},
			{Role: turn.User, Blocks: []turn.Block{{Text: "Bye."}}},
		},
	}
}

// An answer stands where the generation prompt stood that it was made for,
// and ends with one of the closings.
func TestAnswersPlace(t *testing.T) {
	texts := fixtures.Templates(t)
	known, unknownPlace, moved, open := 0, 0, 0, 0
	for _, name := range sortedKeys(texts) {
		tmpl := opened(t, texts[name], nil)
		whole := talk()
		after := Page{Now: clock()}
		if err := tmpl.Render(&after, whole); err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		for i, m := range whole.Messages {
			if m.Role != turn.Assistant {
				continue
			}
			before := Page{Now: clock()}
			part := talk()
			part.Messages = part.Messages[:i]
			if err := tmpl.Render(&before, part); err != nil {
				t.Errorf("%s, up to message %d: %v", name, i, err)
				continue
			}
			at := after.Spans[i]
			switch {
			case at == unknown:
				unknownPlace++
				continue
			case common(before.Text[:before.Opening], after.Text) < before.Opening:
				moved++
			case at.Start != before.Opening:
				open++
				t.Logf("%s: message %d begins at %d with %.40q, its generation prompt at %d with %q", name, i, at.Start,
					after.Text[at.Start:at.End], before.Opening, before.Text[before.Opening:])
			default:
				known++
			}
			said := strings.TrimSpace(string(after.Text[at.Start:at.End]))
			if tmpl.End() != "" && !slices.ContainsFunc(tmpl.Closings(), func(s string) bool { return strings.HasSuffix(said, s) }) {
				t.Logf("%s: message %d ends with none of %q: %q", name, i, tmpl.Closings(), said)
			}
		}
	}
	t.Logf("%d answers where their generation prompt was, %d elsewhere, %d places unknown, %d after a change before them", known, open, unknownPlace, moved)
	if known == 0 {
		t.Error("no answer was found in its place")
	}
}

// The places of answers are found also where a template gathers its text and
// prints it in the end.
func TestPlacesUntraced(t *testing.T) {
	tmpl := opened(t, `{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t ~ '[' ~ m.role ~ '|' ~ m.content ~ ']' %}{% endfor %}`+
		`{{ ns.t }}{% if add_generation_prompt %}[assistant|{% endif %}`, nil)
	tn := &turn.Turn{}
	var p Page
	for i := range 4 {
		tn.Messages = append(tn.Messages, user("q", strings.Repeat("x", i)))
		if i == 3 {
			tn.Messages[0] = user("another")
		}
		if err := tmpl.Render(&p, tn); err != nil {
			t.Fatal(err)
		}
		for j, m := range tn.Messages {
			at := p.Spans[j]
			switch {
			case m.Role == turn.User && at != unknown:
				t.Errorf("turn %d: message %d has the place %v", i, j, at)
			case m.Role == turn.Assistant && string(p.Text[at.Start:at.End]) != "[assistant|"+m.Blocks[0].Text+"]":
				t.Errorf("turn %d: message %d is %q", i, j, p.Text[at.Start:at.End])
			}
		}
		tn.Messages = append(tn.Messages, says(turn.Block{Text: strings.Repeat("a", i)}))
	}
}

// The generation prompt is found also where it is printed unasked, behind a
// message whose place is known or not.
func TestOpeningUnasked(t *testing.T) {
	const head = `{% for m in messages %}{% if m.role != 'tool' %}[{{ m.role }}|{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}]`
	for name, text := range map[string]string{
		"known":   head + `{% else %}[tool|{{ m.content }}]{% endif %}{% endfor %}[assistant|`,
		"unknown": head + `{% elif loop.previtem.role != 'tool' %}{% for x in messages if x.role == 'tool' %}[tool|{{ x.content }}]{% endfor %}{% endif %}{% endfor %}[assistant|`,
	} {
		tmpl := opened(t, text, nil)
		tn := &turn.Turn{Messages: []turn.Message{
			user("q"), says(call("1", "f", `{}`), call("2", "g", `{}`)), results(result("1", "x"), result("2", "y")),
		}}
		for range 2 { // the second time what was found is known
			var p Page
			if err := tmpl.Render(&p, tn); err != nil {
				t.Fatal(err)
			}
			if got := string(p.Text[p.Opening:]); got != "[assistant|" {
				t.Errorf("%s: generation prompt %q of %q", name, got, p.Text)
			}
		}
	}
}
