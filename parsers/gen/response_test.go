package gen

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/parsers"
)

// A response_template is translated where a spec can say the same.
func TestFromResponse(t *testing.T) {
	const function = `"transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}`
	for name, c := range map[string]struct {
		fields string
		text   string // read with it
		want   string // reasoning, text, name, arguments; or what is refused
	}{
		"objects": {
			`"thinking": {"open": "<muse>", "close_pattern": "</muse>\\s*"}, "content": {"close": ["<|stop|>", "<|end|>"]},
			 "tool_calls": {"open": "<do>", "close_pattern": "</do>\\s*", "repeats": true, "content": "json", "transform": {"type": "function", "function": "{content}"}}`,
			`<muse>hm</muse> Yes.<do>{"name": "f", "arguments": {"x": 1}}</do>`, `hm|Yes.|f|{"x": 1}`,
		},
		"a list under other keys": {
			`"content": {"open": "<say>", "close": "</say>"},
			 "tool_calls": {"open": "<acts>", "close": "</acts>", "content": "json", "transform_each": true, "transform": {"type": "function", "function": {"name": "{tool}", "arguments": "{with}"}}}`,
			`<say>Yes.</say><acts>[{"tool": "f", "with": {"x": 1}}]</acts>`, `|Yes.|f|{"x": 1}`,
		},
		"keys of the content": {
			`"tool_calls": {"open": "<do>", "close": "</do>", "content": "json", "transform": {"function": {"name": "{content.tool}", "arguments": "{content.with}"}}}`,
			`<do>{"tool": "f", "with": {"x": 1}}</do>`, `||f|{"x": 1}`,
		},
		"the name outside": {
			`"tool_calls": {"open_pattern": "<\\|go\\|>fn\\.(?P<name>\\w+)<\\|with\\|>", "close": "<|gone|>", "repeats": true, "content": "json", ` + function + `}`,
			`<|go|>fn.f<|with|>{"x": 1}<|gone|>`, `||f|{"x": 1}`,
		},
		"tags": {
			`"tool_calls": {"open_pattern": "<go>\\s*<to=(?P<name>[^\\n>]+)>", "close_pattern": "</go>\\s*", "repeats": true, "content": "xml-inline",
			 "content_args": {"tag_pattern": "<with=(?P<key>[^>\\n]+)>\\s*(?P<value>.*?)\\s*</with>", "value_parser": {"name": "json", "args": {"allow_non_json": true}}}, ` + function + `}`,
			"<go>\n<to=f>\n<with=s>\na </with> b\n</with>\n</to>\n</go>", `||f|{"s":"a </with> b"}`,
		},
		"keys in tags": {
			`"tool_calls": {"open_pattern": "<go>(?P<name>\\S+)\\n?", "close": "</go>", "content": "xml-inline",
			 "content_args": {"tag_pattern": "<k>(?P<key>[^<]+)</k>\\s*\\n<v>(?P<value>.*?)</v>"}, ` + function + `}`,
			"<go>f\n<k>s</k>\n<v>a</v></go>", `||f|{"s":"a"}`,
		},
		"delimiters": {
			`"tool_calls": {"open_pattern": "<\\|go>do:(?P<name>\\w+)", "close": "<go|>", "content": "json", "content_args": {"unquoted_keys": true, "string_delims": [["<q>", "<q>"]]}, ` + function + `}`,
			`<|go>do:f{s:<q>a "b"<q>}<go|>`, `||f|{"s":"a \"b\""}`,
		},
		"reasoning from the start": {
			`"thinking": {"open_pattern": "(?:^|<muse>\\s*)", "close": "</muse>"}, "content": {}`,
			"hm</muse>Yes.", "hm|Yes.||",
		},
		"a look ahead":        {`"thinking": {"open_pattern": "(?=[\\s\\S]*?</muse>)", "close": "</muse>"}`, "", "thinking opens with the group"},
		"anything between":    {`"tool_calls": {"open_pattern": "<go>(?P<name>\\w+).*?<with>", "close": "</go>", "content": "json", ` + function + `}`, "", "tool_calls opens with the expression"},
		"lines":               {`"tool_calls": {"open": "<go>", "close": "</go>", "content": "kv-lines"}`, "", `content of the kind "kv-lines"`},
		"a name within JSON":  {`"tool_calls": {"open_pattern": "\\{\"name\":\\s*\"(?P<name>[^\"]+)\",\\s*\"parameters\":\\s*", "close": "}", "content": "json"}`, "", "cut out of JSON"},
		"a field of its own":  {`"citations": {"open": "<c>", "close": "</c>"}`, "", `the field "citations"`},
		"nothing to tell of":  {`"content": {}`, "", "reasoning has to be given"},
		"not of the form":     {`"content": 1`, "", "not of the form"},
		"no end of reasoning": {`"thinking": {"open": "<muse>"}`, "", "has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			spec, err := FromResponse("x", []byte(`{"defaults": {"role": "assistant"}, "start_anchor": "<|a|>", "fields": {`+c.fields+`}}`))
			if c.text == "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v, want one with %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			format, err := parsers.FormatOf(spec)
			if err != nil {
				t.Fatal(err)
			}
			for split := range chunkings(c.text) {
				a := read(format, "", false, split)
				got := strings.TrimSpace(a.reasoning) + "|" + strings.TrimSpace(a.content)
				for _, call := range a.calls {
					got += "|" + call.Name + "|" + call.Args
				}
				if len(a.calls) == 0 {
					got += "||"
				}
				if got != c.want {
					t.Fatalf("read as %q, want %q", got, c.want)
				}
			}
		})
	}
}

// What a response_template says is taken unless the template's own prints
// contradict it.
func TestResponse(t *testing.T) {
	says := func(open string) []byte {
		return []byte(`{"fields": {"content": {"close": "<|end|>"}, "tool_calls": {"open": "<` + open + `>", "close": "</` + open + `>", "repeats": true, "content": "json"}}}`)
	}
	prints := chat(`{% for c in m.tool_calls or [] %}<fn>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</fn>{% endfor %}`)
	for name, c := range map[string]struct {
		template          string
		response          []byte
		grade, open, note string
	}{
		"the same":        {prints, says("fn"), Exact, "<fn>", "the spec is what it says"},
		"contradicts":     {prints, says("do"), Exact, "<fn>", "reads more: probe"},
		"cannot be said":  {prints, []byte(`{"fields": {"other": {}}}`), Exact, "<fn>", `no spec can say: the field "other"`},
		"not of the form": {prints, []byte(`7`), Exact, "<fn>", "not of the form"},
		"no calls":        {prints, []byte(`{"fields": {"thinking": {"open": "<muse>", "close": "</muse>"}}}`), Exact, "<fn>", "without calls"},
		"nothing printed": {chat(""), says("fn"), Documented, "<fn>", "the spec is what it says"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Generate(Model{Name: "x", Template: c.template, Response: c.response})
			if err != nil {
				t.Fatal(err)
			}
			open := strings.Join(append(r.Spec.Section.Open, r.Spec.Call.Open...), " ")
			if r.Spec.Evidence.Verified != c.grade || open != c.open {
				t.Errorf("%s, calls open with %q; want %s, %q", r.Spec.Evidence.Verified, open, c.grade, c.open)
			}
			if notes := strings.Join(r.Notes, "; "); !strings.Contains(notes, c.note) {
				t.Errorf("notes are %q, without %q", notes, c.note)
			}
		})
	}
}
