package parsers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzSplit checks that any split of any text gives the same answer, that
// arguments are valid JSON objects, and that an answer without a whole call
// loses none of its letters.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"Hi <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"x\\n\"]}}\n</tool_call> there",
		"<think>\nplan <tool_call>{\"name\": \"f\"}</tool_call> no\n</think>\n\nDone.",
		"<tool_call>[{'name': 'f', 'arguments': {'a': True,}}, {\"name\": 1}]</tool_call>",
		"<tool_call>{\"arguments\": \"{\\\"a\\\": 1}\", \"name\": \"g\"}</tool_call></think>x",
		"a <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b\n</tool_call> z <tool_call",
	} {
		f.Add(s, uint8(3), uint8(0))
		f.Add(s, uint8(1), uint8(7))
	}
	f.Fuzz(func(t *testing.T, text string, step, mode uint8) {
		o := Options{Thinks: mode&1 != 0}
		if mode&2 == 0 {
			o.Tools = "hermes"
		}
		if mode&4 == 0 {
			o.Reasoning = "think"
		}
		cut := mode&8 != 0
		whole := read(t, o, cut, text)
		var pieces []string
		for i := 0; i < len(text); i += int(step)%7 + 1 {
			pieces = append(pieces, text[i:min(len(text), i+int(step)%7+1)])
		}
		if parts := read(t, o, cut, pieces...); !same(whole, parts) {
			t.Fatalf("in pieces %+v, one-shot %+v", parts, whole)
		}
		said := whole.reasoning + whole.content
		for _, c := range whole.calls {
			var obj map[string]any
			if err := json.Unmarshal([]byte(strings.ToValidUTF8(Repair(c.args), "?")), &obj); err != nil {
				t.Fatalf("arguments %q: %v", c.args, err)
			}
			if !cut && c.args != Repair(c.args) {
				t.Fatalf("arguments %q are no strict JSON", c.args)
			}
		}
		if len(whole.calls) == 0 && !cut && letters(said) != letters(text) {
			t.Fatalf("letters lost: got %q of %q", said, text)
		}
	})
}

// letters is s without white space and tags.
func letters(s string) string {
	for before := ""; before != s; {
		before = s
		s = strings.Join(strings.Fields(s), "")
		for _, tag := range []string{openThink, closeThink, openCall, closeCall} {
			s = strings.ReplaceAll(s, tag, "")
		}
	}
	return s
}

// FuzzFormats checks for all formats that any split of any text gives the same
// answer, that arguments are whole JSON objects, or can be completed where the
// answer was cut, and that an answer without a call loses none of its letters.
func FuzzFormats(f *testing.F) {
	specs := Specs()
	for i, spec := range specs {
		for _, text := range sayings(spec) {
			f.Add(text, uint8(i), uint8(i), uint8(0))
			f.Add(text[:len(text)*2/3], uint8(i), uint8(3), uint8(1))
		}
		for _, text := range []string{"[f({a=1,", "[f({1, 2})]", "[f({1", "[f({'x'})]"} { // braces that are those of a set
			f.Add(text, uint8(i), uint8(0), uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, text string, format, step, mode uint8) {
		if len(text) > 4096 {
			return
		}
		spec := specs[int(format)%len(specs)]
		o := Options{Offered: rowTools, Thinks: mode&2 != 0}
		cut := mode&1 != 0
		if spec.Grammar != "" && mode&4 == 0 {
			o.Tools = spec.Name
		}
		if spec.has(Thinking) && mode&8 == 0 {
			o.Reasoning = spec.Name
		}
		whole := read(t, o, cut, text)
		split(t, o, cut, whole, bursts(text, func() int { return int(step)%7 + 1 })...)
		for _, c := range whole.calls {
			if !cut && !json.Valid([]byte(c.args)) {
				t.Fatalf("%s: arguments %q are no JSON", spec.Name, c.args)
			}
			if c.args != "" && c.args[0] != '{' {
				t.Fatalf("%s: arguments %q are no object", spec.Name, c.args)
			}
			if !strings.HasPrefix(Repair(c.args), strings.TrimRight(c.args, ", ")) { // what comes behind a comma may be missing
				t.Fatalf("%s: arguments %q cannot be completed", spec.Name, c.args)
			}
		}
		mixed := spec.Frame != nil || spec.Suffix != "" || spec.Reasoning != nil && spec.Reasoning.Anywhere // reasoning may stand behind text; a tag may be any with another suffix
		if said := whole.reasoning + whole.content; len(whole.calls) == 0 && !cut && !mixed && bones(spec, said) != bones(spec, text) {
			t.Fatalf("%s: letters lost: got %q of %q", spec.Name, said, text)
		}
	})
}

// sayings are texts that a spec's markers make, to begin with.
func sayings(spec *Spec) []string {
	first := func(m Marks) string { return head(m.usual()) }
	call := first(spec.Section.Open) + spec.Call.Open.usual() + "f" + first(spec.Call.NameEnd) + `{"name": "f", "arguments": {"a": [1, "x\n"]}}` + first(spec.Call.Close) + first(spec.Section.Close)
	list := []string{
		"Hi " + call + " there",
		first(spec.Section.Open) + first(spec.Call.Open) + spec.Arg.Open.usual() + "a" + spec.Arg.Mid.usual() + "b" + spec.Arg.Close.usual() + first(spec.Call.Close),
		first(spec.Section.Open) + `[f(a=1, b='x'), {"f": {}}]` + first(spec.Section.Close),
	}
	if t := spec.Reasoning; t != nil {
		list = append(list, t.Open.usual()+" so "+call+" no"+t.Close.usual()+"Yes.")
	}
	return list
}

// bones is text without white space, and without the markers of a spec.
func bones(spec *Spec, s string) string {
	var list []string
	for _, m := range spec.Markers() {
		for _, t := range m {
			if t = strings.Join(strings.Fields(head(t)), ""); t != "" {
				list = append(list, t)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	s = strings.Join(strings.Fields(s), "")
	for before := ""; before != s; {
		before = s
		for _, t := range list {
			s = strings.ReplaceAll(s, t, "")
		}
	}
	return s
}
