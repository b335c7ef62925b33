package parsers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// families are the specs whose turns the suite can write: all that call tools.
func families() []*Spec {
	return slices.DeleteFunc(slices.Clone(Specs()), func(s *Spec) bool { return s.Grammar == "" })
}

// conformOptions read a family's turns.
func conformOptions(s *Spec) Options {
	o := Options{Tools: s.Name, Offered: offer, Tail: s.tail()}
	if s.has(Thinking) {
		o.Reasoning = s.Name
	}
	if s.Reasoning != nil && s.Reasoning.Always {
		o.Tail = s.Reasoning.Close.usual()
	}
	return o
}

// thinks reports whether the suite can write a family's reasoning.
func thinks(s *Spec) bool {
	return s.Reasoning != nil && len(s.Reasoning.Open) > 0 || s.Frame != nil && s.Name != "functionary32"
}

// marked reports whether text may stand before a family's calls.
func marked(s *Spec) bool {
	return s.Frame != nil || len(s.Section.Open)+len(s.Call.Open) > 0
}

// wants compares an answer with the turn that was meant.
func wants(t *testing.T, a answer, want spoken, text string) {
	t.Helper()
	content := strings.Join(strings.Fields(want.before+" "+want.after), " ")
	if got := strings.Join(strings.Fields(a.content), " "); got != content {
		t.Fatalf("%q: content %q, want %q", text, a.content, content)
	}
	if strings.TrimSpace(a.reasoning) != want.reasoning {
		t.Fatalf("%q: reasoning %q, want %q", text, a.reasoning, want.reasoning)
	}
	if len(a.calls) != len(want.calls) {
		t.Fatalf("%q: %d calls, want %d", text, len(a.calls), len(want.calls))
	}
	for i, c := range a.calls {
		var got, args any
		if err := json.Unmarshal([]byte(c.args), &got); err != nil {
			t.Fatalf("%q: arguments %q: %v", text, c.args, err)
		}
		if err := json.Unmarshal([]byte(argsObject(want.calls[i].args)), &args); err != nil {
			t.Fatal(err)
		}
		if c.name != want.calls[i].name || !reflect.DeepEqual(got, args) {
			t.Fatalf("%q: call %s(%s), want %s(%s)", text, c.name, c.args, want.calls[i].name, argsObject(want.calls[i].args))
		}
		if c.flaws != 0 {
			t.Fatalf("%q: call %s(%s) has flaws %b", text, c.name, c.args, c.flaws)
		}
	}
}

// turns are what every family can say, by what is special about it.
func turns(s *Spec) map[string]spoken {
	one := spokenCall{"get_weather", []given{{"city", "Oslo"}, {"days", 3}}}
	nested := spokenCall{"write_file", []given{
		{"path", "a.txt"},
		{"tags", []any{"x", "y z"}},
		{"meta", map[string]any{"list": []any{map[string]any{"x": 1.5}, map[string]any{"x": -2}}}},
		{"append", true},
	}}
	list := map[string]spoken{
		"one":    {calls: []spokenCall{one}},
		"nested": {calls: []spokenCall{nested}},
		"zero":   {calls: []spokenCall{{"list_tabs", nil}}},
		"text":   {before: "Two things: `a < b`, {\"k\": 1} and [1, 2].\n\nSo it is."},
		"after":  {calls: []spokenCall{one}, after: "That was it."},
	}
	if marked(s) {
		list["before"] = spoken{before: "I look.", calls: []spokenCall{one}}
	}
	if s.Parallel && !(s.Bare && s.Grammar == JSONCall) {
		list["parallel"] = spoken{calls: []spokenCall{one, {"list_tabs", nil}, nested}}
	}
	if thinks(s) {
		list["reasoning"] = spoken{reasoning: "Let me see.\nYes.", before: "So it is."}
		list["reasoning and call"] = spoken{reasoning: "Let me see.", calls: []spokenCall{one}}
	}
	return list
}

// TestConform: what a family writes is read as it was meant, in all pieces,
// and cut everywhere nothing is lost, shown or broken.
func TestConform(t *testing.T) {
	for _, s := range families() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for name, turn := range turns(s) {
				t.Run(name, func(t *testing.T) {
					text, o := s.say(turn), conformOptions(s)
					a := read(t, o, false, text)
					wants(t, a, turn, text)
					splits(t, o, false, text, a)
					for i := range text {
						cut := read(t, o, true, text[:i])
						split(t, o, true, cut, perByte(text[:i])...)
						for k, c := range cut.calls {
							if !strings.HasPrefix(Repair(c.args), c.args) {
								t.Fatalf("%q cut at %d: arguments %q cannot be completed", text, i, c.args)
							}
							if k >= len(turn.calls) || c.name != turn.calls[k].name {
								t.Fatalf("%q cut at %d: call of %s", text, i, c.name)
							}
						}
						kept(t, text[:i], cut, turn)
					}
				})
			}
		})
	}
}

// kept checks that whole words of a turn's text are in what a cut text says.
func kept(t *testing.T, part string, a answer, want spoken) {
	t.Helper()
	for _, w := range strings.Fields(want.reasoning + " " + want.before + " " + want.after) {
		if len(w) < 4 {
			continue // may be part of a marker
		}
		if i := strings.Index(part, w); i >= 0 && i+len(w) < len(part) && !strings.Contains(a.reasoning+a.content, w) {
			t.Fatalf("%q: %q is lost in %+v", part, w, a)
		}
	}
}

// TestConformHostile: values that look like something else come through.
func TestConformHostile(t *testing.T) {
	for _, s := range families() {
		if s.Grammar == Tagged || s.Frame != nil && s.Frame.Content == Tagged {
			continue // see TestTaggedHostile
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			own := s.sayCalls([]spokenCall{{"list_tabs", nil}})
			if s.Frame != nil {
				own = s.say(spoken{before: "x", calls: []spokenCall{{"list_tabs", nil}}})
			}
			values := []string{own, own + "\n" + own, s.Values.Quote + "x", strings.Join(s.Section.Close, "") + strings.Join(s.Call.Close, "")}
			values = append(values, hostile(&Spec{Arg: Arg{Open: Marks{"<a>"}, Mid: Marks{"<m>"}, Close: Marks{"</a>"}}, Call: Call{Close: Marks{"</c>"}}})...)
			for _, v := range values {
				if v = strings.ToValidUTF8(v, "?"); s.Grammar == Pythonic {
					v = strings.NewReplacer("\x00", "", "\x1f", "").Replace(v)
				}
				if q := s.Values.Quote; q != "" && (strings.Contains(v, q+",") || strings.Contains(v, q+"}") || strings.HasSuffix(v, q)) {
					continue // cannot be told from the delimiter
				}
				turn := spoken{calls: []spokenCall{{"write_file", []given{{"path", "a/b.txt"}, {"content", v}, {"mode", 420}}}}}
				text, o := s.say(turn), conformOptions(s)
				a := chunked(t, o, false, text)
				for i := range a.calls {
					if strings.Contains(v, s.Values.Quote) && s.Values.Quote != "" {
						a.calls[i].flaws = 0
					}
				}
				wants(t, a, turn, text)
			}
		})
	}
}

// TestConformProse: a marker that is quoted in text is text.
func TestConformProse(t *testing.T) {
	for _, s := range families() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			opens := slices.Concat(s.Section.Open, heads(s.Call.Open))
			if s.Frame != nil {
				opens = slices.Concat(s.Frame.Open, Marks{s.Frame.Channel})
			}
			for _, m := range opens {
				if m == "" {
					continue
				}
				want := spoken{before: fmt.Sprintf("The marker `%s` opens one, they say, and %s too.", strings.TrimSpace(m), strings.TrimSpace(m))}
				text := s.say(want)
				wants(t, chunked(t, conformOptions(s), false, text), want, text)
			}
		})
	}
}

// TestConformOpen: reasoning that is left open is reasoning, and calls at its
// end are calls.
func TestConformOpen(t *testing.T) {
	for _, s := range families() {
		if s.Frame != nil || !thinks(s) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			o := conformOptions(s)
			text := s.Reasoning.Open.usual() + "\nLet me see"
			wants(t, chunked(t, o, false, text), spoken{reasoning: "Let me see"}, text)
			call := spokenCall{"get_weather", []given{{"city", "Oslo"}}}
			if !marked(s) {
				return
			}
			text += ".\n" + s.sayCalls([]spokenCall{call})
			wants(t, chunked(t, o, false, text), spoken{reasoning: "Let me see.", calls: []spokenCall{call}}, text)
		})
	}
}
