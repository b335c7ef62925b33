package gen

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/parsers"
)

// chat is a template that prints messages between tokens, and calls as body
// says.
func chat(body string) string {
	return `{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}` + body + `<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`
}

// Kinds of templates that people publish, each in a form of our own.
func TestKinds(t *testing.T) {
	const calls, object = `{% for c in m.tool_calls or [] %}`, `{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}`
	for name, c := range map[string]struct {
		template string
		grammar  parsers.Grammar
		grade    string
		note     string
	}{
		"instructions end every conversation": {
			chat(`{% if m.tool_calls %}Do:`+"\n```json\n["+calls+object+`{{ ', ' if not loop.last }}{% endfor %}]`+"\n```"+`{% endif %}`) +
				`{% if add_generation_prompt %}{% endif %}<|rule|>Write Do: and a list like [{"name": a tool of those above}] to call tools.<|end|>`,
			parsers.JSONCall, Exact, "",
		},
		"lists are changed": {
			`{% set q = namespace(ids=[]) %}` + chat(calls+`{% set id = 'functions.' + c.function.name %}{%- set _ = q.ids.append(id) -%}<|call|>{{ id }}<|args|>{{ c.function.arguments | tojson }}<|done|>{% endfor %}`+
				`{% if m.role == 'tool' %}{%- set id = q.ids.pop(0) -%}of {{ id }}{% endif %}`),
			parsers.NameJSON, Exact, "changes lists",
		},
		"every value between delimiters": {
			chat(calls + `<run>do:{{ c.function.name ~ '{' }}{% for k, v in c.function.arguments.items() %}{{ k }}:<q>{{ v }}<q>{{ ',' if not loop.last }}{% endfor %}{{ '}' }}</run>{% endfor %}`),
			parsers.PseudoJSON, Typed, "",
		},
		"a line feed behind values only": {
			chat(calls + "<go><to={{ c.function.name }}>\n{% for k, v in c.function.arguments.items() %}<with={{ k }}>{{ v if v is string else v | tojson }}\n</with>\n{% endfor %}</to></go>{% endfor %}"),
			parsers.Tagged, Typed, "",
		},
		"bare objects": {
			chat(calls + object + `{% endfor %}`),
			parsers.JSONCall, Exact, "no marker",
		},
		"a role in words": {
			`{% for m in messages %}{% if m.role == 'assistant' %}{% if not m.tool_calls %}Helper: {% endif %}{% else %}<|{{ m.role }}|>{% endif %}{{ m.content or '' }}` +
				calls + `<fn>` + object + `</fn>{% endfor %}<|end|>{% endfor %}`,
			parsers.JSONCall, Exact, "",
		},
		"Python without quotes, and a header that is always there": {
			chat(`{% if m.tool_calls %}[` + calls + `{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]{% endif %}`),
			parsers.Pythonic, Lossy, "",
		},
		"users and assistants in turns, no system": {
			`{% for m in messages %}{% if m.role == 'system' or (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}` +
				chat(calls+`<fn>`+object+`</fn>{% endfor %}`),
			parsers.JSONCall, Exact, "",
		},
		"tools in the system message": {
			`<|system|>{% for tool in tools %}{{ tool.function.name }}: {{ tool.function.parameters | tojson }}{% endfor %}<|end|>` + chat(calls+`<fn>`+object+`</fn>{% endfor %}`),
			parsers.JSONCall, Exact, "",
		},
		"arguments as text": {
			chat(calls + `<fn>{{ c.function.name }}` + "\n" + `{{ c.function.arguments + '' }}</fn>{% endfor %}`),
			parsers.NameJSON, Exact, "",
		},
		"arguments that are read from text": {
			chat(calls + `<fn>{{ c.function.name }}` + "\n" + `{{ c.function.arguments | fromjson | tojson if c.function.arguments is string else c.function.arguments | tojson }}</fn>{% endfor %}`),
			parsers.NameJSON, Exact, "",
		},
		"ids of calls": {
			chat(calls + `[CALL]{{ c.function.name }}[ID]{{ c.id }}[WITH]{{ c.function.arguments | tojson }}{% endfor %}`),
			parsers.NameJSON, Exact, "",
		},
		"an id in the tag of a call": {
			chat(calls + `<fn id="{{ c.id }}" name="{{ c.function.name }}">{{ c.function.arguments | tojson }}</fn>{% endfor %}`),
			parsers.NameJSON, Exact, "",
		},
		"a number in the tag of a call": {
			chat(calls + `<fn n="{{ loop.index }}" name="{{ c.function.name }}">{{ c.function.arguments | tojson }}</fn>{% endfor %}`),
			parsers.NameJSON, Exact, "",
		},
		"content in parts": {
			strings.ReplaceAll(chat(calls+`<fn>`+object+`</fn>{% endfor %}`), "{{ m.content or '' }}",
				`{% for p in m.content %}{{ p.text }}{% endfor %}`),
			parsers.JSONCall, Exact, "",
		},
		"white space everywhere": {
			"{% for m in messages %}\n\n<|{{ m.role }}|>\n\n{{ m.content or '' }}\n\n" + calls + "\n<fn>\n\n" + object + "\n\n</fn>\n\n{% endfor %}\n<|end|>\n\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n\n{% endif %}",
			parsers.JSONCall, Exact, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Generate(Model{Name: "kind", Template: c.template})
			if err != nil {
				t.Fatal(err)
			}
			if r.Spec.Grammar != c.grammar || r.Spec.Evidence.Verified != c.grade {
				t.Errorf("%s, %s; want %s, %s; notes %q", r.Spec.Grammar, r.Spec.Evidence.Verified, c.grammar, c.grade, r.Notes)
				for _, f := range r.Failures {
					t.Errorf("%v\nprinted %q", f.Err, f.Probe.Text)
				}
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
				t.Errorf("notes are %q, without %q", r.Notes, c.note)
			}
		})
	}
}
