package parsers

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// answer is what a list of events says.
type answer struct {
	content, reasoning string
	calls              []saidCall
	order              string // kinds in the order they came, joined
}

type saidCall struct {
	id, name, args string
	flaws          turn.Flaw
}

// collect reads events and checks their order.
func collect(t testing.TB, events []turn.Event) answer {
	t.Helper()
	var a answer
	var content, reasoning, args strings.Builder
	var order []byte
	open := false
	for _, e := range events {
		switch e.Kind {
		case turn.Says:
			content.WriteString(e.Text)
		case turn.Reasoning:
			reasoning.WriteString(e.Text)
		case turn.CallStart:
			if open || e.Call.Index != len(a.calls) || e.Call.Name == "" || e.Call.ID == "" {
				t.Fatalf("bad start %+v after %d calls", e, len(a.calls))
			}
			open = true
			a.calls = append(a.calls, saidCall{id: e.Call.ID, name: e.Call.Name})
		case turn.CallArgs:
			if !open || e.Call.Index != len(a.calls)-1 {
				t.Fatalf("event %+v of no open call", e)
			}
			args.WriteString(e.Text)
		case turn.CallEnd:
			if !open || e.Call.Index != len(a.calls)-1 {
				t.Fatalf("event %+v of no open call", e)
			}
			c := &a.calls[e.Call.Index]
			c.args, c.flaws = args.String(), e.Call.Flaws
			args.Reset()
			open = false
		default:
			t.Fatalf("unexpected event %+v", e)
		}
		if k := byte('a' + e.Kind); len(order) == 0 || order[len(order)-1] != k {
			order = append(order, k)
		}
	}
	if open {
		t.Fatal("a call was not ended")
	}
	a.content, a.reasoning, a.order = content.String(), reasoning.String(), string(order)
	return a
}

// read parses text in the given pieces.
func read(t testing.TB, o Options, cut bool, pieces ...string) answer {
	t.Helper()
	n := 0
	o.NewID = func() string { n++; return "c" + strconv.Itoa(n) }
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var events []turn.Event
	for _, p := range pieces {
		events = s.Push(events, p)
	}
	if cut {
		s.Cut()
	}
	events = s.Close(events)
	a := collect(t, events)
	if s.Calls() != len(a.calls) {
		t.Fatalf("Calls() = %d, events hold %d", s.Calls(), len(a.calls))
	}
	return a
}

// same reports whether two answers say the same.
func same(a, b answer) bool {
	return a.content == b.content && a.reasoning == b.reasoning && a.order == b.order && slices.Equal(a.calls, b.calls)
}

// splits checks that text gives want however it is split.
func splits(t *testing.T, o Options, cut bool, text string, want answer) {
	t.Helper()
	for i := 1; i < len(text); i++ {
		split(t, o, cut, want, text[:i], text[i:])
	}
	split(t, o, cut, want, strings.Split(text, "")...)
	split(t, o, cut, want, perByte(text)...)
}

// split checks that pieces give want.
func split(t *testing.T, o Options, cut bool, want answer, pieces ...string) {
	t.Helper()
	if got := read(t, o, cut, pieces...); !same(got, want) {
		t.Fatalf("in pieces %.400q: got %+v, one-shot %+v", pieces, got, want)
	}
}

// perByte takes text apart.
func perByte(text string) []string {
	p := make([]string, len(text))
	for i := range p {
		p[i] = text[i : i+1]
	}
	return p
}

const (
	openThink  = "<think>"
	closeThink = "</think>"
	openCall   = "<tool_call>"
	closeCall  = "</tool_call>"
)

var hermesThink = Options{Tools: "hermes", Reasoning: "think"}

func TestMalformed(t *testing.T) {
	const end = "\n</tool_call>"
	thinks := hermesThink
	thinks.Thinks = true
	for _, c := range []struct {
		name, text               string
		o                        Options
		cut                      bool
		content, reasoning, args string // args joined by | of all calls, "-" for none
	}{
		{"plain", "Hello <b>.\n", hermesThink, false, "Hello <b>.\n", "", "-"},
		{"think without end", "<think>\nhm", hermesThink, false, "", "hm", "-"},
		{"calls off", "<tool_call>{}" + end, Options{}, false, "<tool_call>{}" + end, "", "-"},
		{"think tags off", "<think>x</think>y", Options{Tools: "hermes"}, false, "<think>x</think>y", "", "-"},
		{"only tag", "see <tool_call>", hermesThink, false, "see <tool_call>", "", "-"},
		{"only tag, cut", "see <tool_call>\n", hermesThink, true, "see", "", "-"},
		{"half a tag", "see <tool_c", hermesThink, true, "see <tool_c", "", "-"},
		{"pair in prose", "Use <tool_call>{json}</tool_call> so.", hermesThink, false, "Use <tool_call>{json}</tool_call> so.", "", "-"},
		{"no name", `a <tool_call>{"x": 1}` + end, hermesThink, false, `a <tool_call>{"x": 1}` + end, "", "-"},
		{"second is one", `<tool_call>{"na <tool_call>{"name": "f", "arguments": {}}` + end, hermesThink, false, `<tool_call>{"na`, "", "{}"},
		{"stray ends", "a</tool_call>b</think>c", hermesThink, false, "abc", "", "-"},
		{"no end tag", `<tool_call>{"name": "f", "arguments": {"a": 1}}`, hermesThink, false, "", "", `{"a": 1}`},
		{"no closing brace", `<tool_call>{"name": "f", "arguments": {"a": 1}` + end + "x", hermesThink, false, "x", "", `{"a": 1}`},
		{"too many braces", `<tool_call>{"name": "f", "arguments": {"a": 1}}}}` + end, hermesThink, false, "", "", `{"a": 1}`},
		{"no closing quote", `<tool_call>{"name": "f", "arguments": {"a": "b}}` + end + "x", hermesThink, false, "x", "", `{"a": "b}}\n"}`},
		{"no arguments", `<tool_call>{"name": "f"}` + end, hermesThink, false, "", "", "{}"},
		{"no arguments and brace", `<tool_call>{"name": "f"` + end + "x", hermesThink, false, "x", "", "{}"},
		{"null arguments", `<tool_call>{"name": "f", "arguments": null}` + end, hermesThink, false, "", "", "{}"},
		{"list arguments", `<tool_call>{"name": "f", "arguments": [1]}` + end, hermesThink, false, `<tool_call>{"name": "f", "arguments": [1]}` + end, "", "-"},
		{"parameters", `<tool_call>{"name": "f", "parameters": {"a": 1}}` + end, hermesThink, false, "", "", `{"a": 1}`},
		{"python", `<tool_call>{'name': 'f', 'arguments': {'a': True, 'b': None, 'c': "it's", 'd': 'say "x"',}}` + end, hermesThink, false, "", "", `{"a": true, "b": null, "c": "it's", "d": "say \"x\""}`},
		{"raw line feed", "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x\ny\\d\"}}" + end, hermesThink, false, "", "", `{"a": "x\ny\\d"}`},
		{"no comma", `<tool_call>{"name": "f", "arguments": {"a": 1 "b": [1 2]}}` + end, hermesThink, false, "", "", `{"a": 1, "b": [1, 2]}`},
		{"wrong closer", `<tool_call>{"name": "f", "arguments": {"a": [1}}` + end, hermesThink, false, "", "", `{"a": [1]}`},
		{"list", `<tool_call>[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"a": 2}}]` + end, hermesThink, false, "", "", `{}|{"a": 2}`},
		{"list, second broken", `<tool_call>[{"name": "f", "arguments": {}}, {"x": 2}]` + end + "z", hermesThink, false, `{"x": 2}]` + "\nz", "", `{}`},
		{"string arguments", `<tool_call>{"name": "f", "arguments": "{\"a\": \"\\u00e9\"}"}` + end, hermesThink, false, "", "", `{"a": "\u00e9"}`},
		{"cut in string", `<tool_call>{"name": "f", "arguments": {"a": "b`, hermesThink, true, "", "", `{"a": "b`},
		{"ends in string", `<tool_call>{"name": "f", "arguments": {"a": "b`, hermesThink, false, "", "", `{"a": "b"}`},
		{"ends behind key", `<tool_call>{"name": "f", "arguments": {"a`, hermesThink, false, "", "", `{"a":null}`},
		{"ends in number", `<tool_call>{"name": "f", "arguments": {"a": 1.`, hermesThink, false, "", "", `{"a": 1}`},
		{"ends in name", `hm <tool_call>{"name": "f`, hermesThink, false, `hm <tool_call>{"name": "f`, "", "-"},
		{"cut in name", `hm <tool_call>{"name": "f`, hermesThink, true, `hm {"name": "f`, "", "-"},
		{"text around", "a\n<tool_call>{\"name\": \"f\"}\n</tool_call>\nb\n<tool_call>{\"name\": \"g\"}</tool_call>c", hermesThink, false, "a\n\nb\nc", "", "{}|{}"},
		{"call ends thought", "plan\n<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n", thinks, false, "", "plan", `{"a": 1}`},
		{"two calls end thought", `plan <tool_call>{"name": "f"}</tool_call><tool_call>{"name": "g"}</tool_call>`, thinks, false, "", "plan", `{}|{}`},
		{"draft", `I try <tool_call>{"name": "f"}</tool_call> no.</think>Hi`, thinks, false, "Hi", `I try <tool_call>{"name": "f"}</tool_call> no.`, "-"},
		{"draft, then close", `I try <tool_call>{"name": "f"}</tool_call></think>Hi`, thinks, false, "Hi", `I try <tool_call>{"name": "f"}</tool_call>`, "-"},
		{"open draft", `I try <tool_call>{"name": "f", "arguments": {"a": "</think>Hi`, thinks, false, "Hi", `I try <tool_call>{"name": "f", "arguments": {"a": "`, "-"},
		{"draft, then call", `<tool_call>{"name": "f"}</tool_call> no. <tool_call>{"name": "g"}</tool_call>`, thinks, false, "", `<tool_call>{"name": "f"}</tool_call> no.`, "{}"},
		{"thought opened twice", "<think>\nhm</think>Hi", thinks, false, "Hi", "hm", "-"},
		{"deep", `<tool_call>{"name": "f", "arguments": {"a": ` + strings.Repeat("[", 400), hermesThink, false, strings.Repeat("[", 145), "", `{"a": ` + strings.Repeat("[", 255) + strings.Repeat("]", 255) + "}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, c.o, c.cut, c.text)
			args := "-"
			for i, call := range got.calls {
				if i == 0 {
					args = ""
				} else {
					args += "|"
				}
				args += call.args
			}
			if got.content != c.content || got.reasoning != c.reasoning || args != c.args {
				t.Errorf("got content %q, reasoning %q, args %s; want %q, %q, %s",
					got.content, got.reasoning, args, c.content, c.reasoning, c.args)
			}
			splits(t, c.o, c.cut, c.text, got)
		})
	}
}

// TestLimits reads long answers that are made to be slow.
func TestLimits(t *testing.T) {
	const size = 1 << 19
	for name, unit := range map[string]string{
		"tags": "<tool_call>", "calls without name": "<tool_call>{\"a\": ", "strings": "<tool_call>{\"a\": \"", "spaces": "          ",
		"names": "<tool_call>{\"name\": \"", "lists": "<tool_call>[[", "ends": "</tool_call>", "keys": "{\"a\":", "half tags": "<tool_cal",
	} {
		t.Run(name, func(t *testing.T) {
			for _, prefix := range []string{"", "<think>", "<tool_call>{\"arguments\": "} {
				text := prefix + strings.Repeat(unit, size/len(unit))
				a := read(t, hermesThink, false, text)
				if n := len(a.content) + len(a.reasoning); len(a.calls) == 0 && n < size/2 && name != "ends" {
					t.Errorf("after %q: %d bytes came out of %d", prefix, n, len(text))
				}
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, o := range []Options{{Tools: "xml"}, {Reasoning: "hermes"}, {Tools: "think"}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "known: ") {
			t.Errorf("New(%+v) = %v, want an error that names the known formats", o, err)
		}
	}
}
