package template

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// plainBody prints every message as role, text, reasoning, calls.
const plainBody = `[{{ m.role }}{{ ':' ~ m.name if m.name }}|{{ m.content }}` +
	`{% if m.reasoning %}|R {{ m.reasoning }}{% endif %}` +
	`{% for c in m.tool_calls or [] %}|C {{ c.function.name }} {{ c.function.arguments | tojson }} {{ c.id }}{% endfor %}]`

// each wraps the body of a loop over messages.
func each(body string) string {
	return `{% for m in messages %}` + body + `{% endfor %}{% if add_generation_prompt %}[assistant|{% endif %}`
}

// strict is a template that takes user and assistant in turns only, as
// Mistral's and Gemma's do.
var strict = each(`{% set a = m.role == 'assistant' %}` +
	`{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('no role ' ~ m.role) }}{% endif %}` +
	`{% if a != (loop.index0 % 2 == 1) %}{{ raise_exception('roles must alternate') }}{% endif %}` + plainBody)

// afterResults takes no user message right after a result.
var afterResults = each(`{% if m.role == 'user' and not loop.first and loop.previtem.role != 'assistant' %}` +
	`{{ raise_exception('unexpected user') }}{% endif %}` + plainBody)

func user(texts ...string) turn.Message { return message(turn.User, texts...) }

func message(role turn.Role, texts ...string) turn.Message {
	m := turn.Message{Role: role}
	for _, s := range texts {
		m.Blocks = append(m.Blocks, turn.Block{Text: s})
	}
	return m
}

func result(id, text string) turn.Block {
	return turn.Block{Kind: turn.ToolResult, ID: id, Text: text}
}

func call(id, name, args string) turn.Block {
	return turn.Block{Kind: turn.ToolUse, ID: id, Name: name, Args: []byte(args)}
}

func think(text string) turn.Block { return turn.Block{Kind: turn.ThinkingBlock, Text: text} }

// says is an answer.
func says(blocks ...turn.Block) turn.Message {
	return turn.Message{Role: turn.Assistant, Blocks: blocks}
}

func results(blocks ...turn.Block) turn.Message {
	return turn.Message{Role: turn.ToolRole, Blocks: blocks}
}

// What a turn becomes for templates of different tastes.
func TestAdapts(t *testing.T) {
	loop := []turn.Message{user("q"), says(turn.Block{Text: "t"}, call("c1", "f", `{"a": 1}`)), results(result("c1", "r"))}
	for _, c := range []struct {
		name, template string
		messages       []turn.Message
		want           string
	}{
		{"blocks are lines", each(plainBody), []turn.Message{user("a", "b")}, "[user|a\nb][assistant|"},
		{
			"what cannot be seen", each(plainBody), []turn.Message{{Role: turn.User, Blocks: []turn.Block{
				{Text: "see"},
				{Kind: turn.Image, Raw: []byte(`{"x": 1}`)},
				{Kind: turn.Document, Raw: []byte(`{"x": 2}`)},
				{Kind: turn.Other, Raw: []byte(`{"type": "odd", "text": "odd text"}`)},
				{Kind: turn.Other, Raw: []byte(`{"type":"odder"}`)},
			}}}, "[user|see\n[image]\n[document]\nodd text\n{\"type\":\"odder\"}][assistant|",
		},
		{"a call", each(plainBody), loop, `[user|q][assistant|t|C f {"a": 1} c1][tool:f|r][assistant|`},
		{
			"several results", each(plainBody),
			[]turn.Message{
				user("q"),
				says(call("c1", "f", `{}`), call("c2", "g", ``)), results(result("c2", "y"), result("c1", "x"), turn.Block{Kind: turn.Image}),
			},
			`[user|q][assistant||C f {} c1|C g {} c2][tool:f|x` + "\n" + `[image]][tool:g|y][assistant|`,
		},
		{
			"a result of no call", each(plainBody),
			[]turn.Message{
				user("q"),
				says(call("c1", "f", `{}`)), results(result("c2", "y"), result("c1", "x")),
			},
			`[user|q][assistant||C f {} c1][tool|y][tool:f|x][assistant|`,
		},
		{
			"numbers and order of arguments", each(plainBody),
			[]turn.Message{user("q"), says(call("c", "f", `{"z": 9007199254740993, "a": 1.0}`))},
			`[user|q][assistant||C f {"z": 9007199254740993, "a": 1.0} c][assistant|`,
		},
		{"arguments that are none", each(plainBody), []turn.Message{user("q"), says(call("c", "f", `{"a`))}, `[user|q][assistant||C f "{\"a" c][assistant|`},
		{
			"arguments as text", each(strings.Replace(plainBody, "c.function.arguments | tojson", "'<' + c.function.arguments + '>'", 1)),
			[]turn.Message{user("q"), says(call("c", "f", `{"a": 1e3}`))},
			`[user|q][assistant||C f <{"a": 1e3}> c][assistant|`,
		},
		{
			"arguments that are looked through", each(strings.Replace(plainBody, "c.function.arguments | tojson", "c.function.arguments.items() | list", 1)),
			[]turn.Message{user("q"), says(call("c", "f", `[1]`))},
			`[user|q][assistant||C f [('input', '[1]')] c][assistant|`,
		},
		{"reasoning by another name", each(plainBody), []turn.Message{user("q"), says(think("hm"), turn.Block{Text: "a"})}, "[user|q][assistant|a|R hm][assistant|"},
		{
			"reasoning in the text", each(strings.NewReplacer(`{{ m.content }}`, `{{ m.content.split('</think>')[-1] if not loop.last else m.content }}`, "m.reasoning", "x").Replace(plainBody)),
			[]turn.Message{user("q"), says(think("hm\n"), turn.Block{Text: "a"})},
			"[user|q][assistant|<think>\nhm\n</think>\n\na][assistant|",
		},
		{"nobody reads reasoning", each(strings.ReplaceAll(plainBody, "m.reasoning", "x")), []turn.Message{user("q"), says(think("hm"), turn.Block{Text: "a"})}, "[user|q][assistant|a][assistant|"},
		{"roles alternate", strict, []turn.Message{message(turn.System, "s"), user("a"), user("b"), says(turn.Block{Text: "x"}), says(turn.Block{Text: "y"}), user("c")}, "[user|s\n\na\n\nb][assistant|x\n\ny][user|c][assistant|"},
		{"no tools known", strict, append(loop[:3:3], user("more")), "[user|q][assistant|t|C f {\"a\": 1} c1][user|r\n\nmore][assistant|"},
		{"a user right after a result", afterResults, append(loop[:3:3], user("more")), `[user|q][assistant|t|C f {"a": 1} c1][tool:f|r` + "\n\n" + `more][assistant|`},
		{"two system messages", each(`{% if m.role == 'system' and not loop.first %}{{ raise_exception('late') }}{% endif %}` + plainBody), []turn.Message{message(turn.System, "s"), message(turn.System, "t"), user("a"), message(turn.System, "late")}, "[system|s\n\nt][user|a][user|late][assistant|"},
		{"a system message anywhere", each(plainBody), []turn.Message{message(turn.System, "s"), user("a"), message(turn.System, "late")}, "[system|s][user|a][system|late][assistant|"},
		{
			"parts of content", each(strings.Replace(plainBody, "m.content", "m.content[0].text", 1)),
			[]turn.Message{message(turn.System, "s"), user("a", "b"), says(turn.Block{Text: "x"})},
			"[system|s][user|a\nb][assistant|x][assistant|",
		},
		{
			"one call in an answer", each(`{% if m.tool_calls and m.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}` + plainBody),
			[]turn.Message{user("q"), says(turn.Block{Text: "t"}, call("1", "f", `{}`), call("2", "g", `{}`)), results(result("1", "x"), result("2", "y"))},
			`[user|q][assistant|t|C f {} 1][assistant||C g {} 2][tool:f|x][tool:g|y][assistant|`,
		},
		{
			"calls without text only", each(`{% if m.content is none %}(calls){% endif %}` + strings.Replace(plainBody, "m.tool_calls or []", "((m.tool_calls or []) if m.content is none else [])", 1)),
			[]turn.Message{user("q"), says(think("hm"), turn.Block{Text: "t"}, call("1", "f", `{}`))},
			`[user|q][assistant|t|R hm](calls)[assistant|None|C f {} 1][assistant|`,
		},
		{
			"short ids", each(`{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}{{ raise_exception('id') }}{% endif %}{% endfor %}` + plainBody),
			[]turn.Message{user("q"), says(call("abcdefGH9", "f", `{}`), call("call_1", "g", `{}`)), results(result("call_1", "x"))},
			`[user|q][assistant||C f {} abcdefGH9|C g {} ` + shortID("call_1") + `][tool:g|x][assistant|`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl := opened(t, c.template, nil)
			var p Page
			if err := tmpl.Render(&p, &turn.Turn{Messages: c.messages}); err != nil {
				t.Fatal(err)
			}
			if string(p.Text) != c.want {
				t.Errorf("got\n%s\nwant\n%s\nfacts %+v", p.Text, c.want, tmpl.plain.facts)
			}
			if got := string(p.Text[p.Opening:]); got != "[assistant|" {
				t.Errorf("generation prompt %q", got)
			}
		})
	}
}

// What the template raises is an error that names it, and the page stays.
func TestRefuses(t *testing.T) {
	tmpl := opened(t, each(`{% if m.content == 'bad' %}{{ raise_exception('not that') }}{% endif %}{% if m.content == 'worse' %}{{ nothing.at.all }}{% endif %}`+plainBody), nil)
	var p Page
	if err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("good")}}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"bad":   "template refuses the conversation: not that",
		"worse": "template refuses the conversation: chat_template.jinja: template line 1: UndefinedError: 'nothing' is undefined",
	} {
		err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("good"), user(text)}})
		if !errors.Is(err, ErrRefused) || err.Error() != want {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if string(p.Text) != "[user|good][assistant|" || p.Spans[0] != (Span{0, 11}) {
		t.Errorf("the page is %q, %v", p.Text, p.Spans)
	}
}

// A template that takes too much is refused when it is opened, if a few words
// are enough for that, and else when it is too much.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"endless": `{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}`,
		"huge":    `{% for i in range(99999) %}{{ 'x' * 100000 }}{% endfor %}`,
		"deep":    `{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}`,
	} {
		if _, err := openText(text, nil); !errors.Is(err, jinja.ErrLimit) {
			t.Errorf("%s: opened, error %v", name, err)
		}
	}
	tmpl := opened(t, `{% for m in messages %}{{ m.content }}{% if m.content == 'go' %}{% for i in range(99999) %}{{ 'x' * 100000 }}{% endfor %}{% endif %}{% endfor %}`, nil)
	var p Page
	if err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("go")}}); !errors.Is(err, jinja.ErrLimit) {
		t.Errorf("error %v, want a limit", err)
	}
}

// Tools in the form that is printed.
func TestToolForms(t *testing.T) {
	tn := &turn.Turn{Messages: []turn.Message{user("q")}, Tools: []turn.Tool{
		{Name: "f", Description: "d", Schema: []byte(`{"z": 1.0}`)}, {Name: "g", Custom: true}, {Name: "later", Deferred: true},
	}}
	const list = `{% for t in tools or [] %}`
	for text, want := range map[string]string{
		list + `{{ t | tojson }}{% endfor %}`: `{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"z": 1.0}}}` +
			`{"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}}}`,
		list + `{{ t.name ~ ' ' }}{% endfor %}`:                                         "f g ",
		list + `{{ t.name + ':' + t.description + ' ' }}{% endfor %}`:                   "f:d g: ",
		list + `{{ t.function.name + ':' + t.function.description + ' ' }}{% endfor %}`: "f:d g: ",
	} {
		var p Page
		if err := opened(t, text+each(plainBody), nil).Render(&p, tn); err != nil {
			t.Fatal(err)
		}
		if got := string(p.Text); got != want+"[user|q][assistant|" {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
