package parsers

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// taggedSpecs are all families with tagged arguments in plain text.
func taggedSpecs() []*Spec {
	return slices.DeleteFunc(slices.Clone(Specs()), func(s *Spec) bool { return s.Grammar != Tagged || s.Frame != nil })
}

// given is an argument as a model means it.
type given struct {
	key   string
	value any
}

// write is a call as a family's template prints it.
func (g *printer) write(name string, args ...given) string {
	var b strings.Builder
	for _, m := range []Marks{g.spec.Section.Open, g.spec.Call.Open} {
		if len(m) > 0 {
			b.WriteString(g.fill(m[0], "", "") + g.gap)
		}
	}
	text := strings.TrimSuffix(b.String(), g.gap) + name
	if len(g.spec.Call.NameEnd) > 0 {
		text += g.fill(g.spec.Call.NameEnd[0], "", "")
	}
	text += g.gap
	for _, a := range args {
		text += g.arg(a.key, a.value) + g.gap
	}
	text += g.spec.Call.Close[0]
	if len(g.spec.Section.Close) > 0 {
		text += g.gap + g.spec.Section.Close[0]
	}
	return text
}

// printer writes calls of a family, with gap between its tags.
type printer struct {
	spec *Spec
	gap  string
}

func (g *printer) arg(key string, v any) string {
	kind, value := "string", ""
	switch v := v.(type) {
	case string:
		value = v
		if g.spec.Arg.CDATA && strings.ContainsAny(v, "<&\n") {
			value = openData + strings.ReplaceAll(v, closeData, "]]"+closeData+openData+">") + closeData
		}
	case []any:
		kind = "array"
		for _, item := range v {
			value += g.arg(g.spec.Arg.Item, item)
		}
	case map[string]any:
		kind = "object"
		for k, member := range v {
			value += g.arg(k, member)
		}
	case bool:
		kind = "boolean"
	default:
		kind = "number"
	}
	if _, text := v.(string); !text && (kind != "array" && kind != "object" || g.spec.Values.Object != "nested") {
		js, _ := json.Marshal(v)
		value = string(js)
	}
	if g.spec.Arg.Newline {
		value = "\n" + value + "\n"
	}
	return g.spec.Arg.Open[0] + key + g.fill(g.spec.Arg.Mid[0], kind, key) + value + g.fill(g.spec.Arg.Close[0], kind, key)
}

// fill writes a marker with its holes filled.
func (g *printer) fill(mark, kind, key string) string {
	is := "false"
	if kind == "string" {
		is = "true"
	}
	return strings.NewReplacer("{index}", "1", "{id}", "7", "{type}", kind, "{string}", is, "{key}", key, "</arg_key> ", "</arg_key>"+g.gap).Replace(mark)
}

// offer is a tool that takes what the tests give.
var offer = []turn.Tool{
	{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"mode":{"type":"integer"},"append":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}},"meta":{"type":"object","properties":{"note":{"type":"string"},"n":{"type":"integer"},"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}}}}},
		"required":["path"]}`)},
	{Name: "list_tabs", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`)},
}

// taggedOptions read a family's calls and reasoning.
func taggedOptions(spec *Spec) Options {
	o := Options{Tools: spec.Name, Offered: offer}
	if spec.Reasoning != nil {
		o.Reasoning = spec.Name
		o.Tail = spec.Reasoning.Close[0]
	}
	return o
}

// chunked reads a text whole, and checks that pieces of several sizes give the
// same.
func chunked(t *testing.T, o Options, cut bool, text string) answer {
	t.Helper()
	whole := read(t, o, cut, text)
	for _, n := range []int{1, 3, 16} {
		var pieces []string
		for i := 0; i < len(text); i += n {
			pieces = append(pieces, text[i:min(len(text), i+n)])
		}
		if got := read(t, o, cut, pieces...); !same(got, whole) {
			t.Fatalf("in pieces of %d: %+v\nwhole: %+v", n, got, whole)
		}
	}
	return whole
}

// callsOnce checks that an answer is one call with these arguments.
func callsOnce(t *testing.T, a answer, name string, args map[string]any) {
	t.Helper()
	if len(a.calls) != 1 || strings.TrimSpace(a.content) != "" {
		t.Fatalf("got %+v, want one call", a)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(a.calls[0].args), &got); err != nil {
		t.Fatalf("arguments %q: %v", a.calls[0].args, err)
	}
	if a.calls[0].name != name || !reflect.DeepEqual(got, args) {
		t.Fatalf("call %s(%s), want %s(%v)", a.calls[0].name, a.calls[0].args, name, args)
	}
}

// hostile are values of strings that a reader may take for something else.
func hostile(spec *Spec) []string {
	list := []string{
		"", " ", "\n", "\n\n", "  lead and trail  ", "\nfirst\n\nlast\n\n", "\r\nb\r\n", "a\r\nb", "null", "None", "true", "5", "007", "1.50", `"x"`, `{"a": 1}`, "[1, 2]",
		`C:\tmp\new.txt`, `He said "hi" \ 'bye'` + "\tTab", "<p class=\"x\">1 &amp; 2 < 3</p>\n<!-- {c} -->\n<br/>", "東京 🗼 São – naïve", "a <", "<", "</", "]]>", "]", "a]]>b<![CDATA[c",
		"f(a=[1, \"}\"], b={'k': 2}) ]] }} :: , end", "x\x00y\x1f", "\xff\xfe", "{", "it's \"", "&quot;&amp;",
	}
	var marks []string
	for _, s := range Specs() {
		for _, m := range s.Markers() {
			marks = append(marks, m...)
		}
	}
	slices.Sort(marks)
	for some := range slices.Chunk(slices.Compact(marks), 12) {
		list = append(list, "see "+strings.Join(some, " there, ")+" here")
	}
	shut := (&printer{spec: spec}).fill(spec.Arg.Close[0], "string", "content")
	open := spec.Arg.Open[0] + "other" + (&printer{spec: spec}).fill(spec.Arg.Mid[0], "string", "other")
	return append(list, "x"+shut+"y", shut+shut+" and "+spec.Call.Close[0]+" end", "a\n"+shut+"\n"+open+"b", open+"c", shut, "d"+shut+"\n", spec.Call.Close[0], "x"+spec.Call.Close[0]+"\n y")
}

func TestTaggedHostile(t *testing.T) {
	for _, spec := range taggedSpecs() {
		t.Run(spec.Name, func(t *testing.T) {
			for _, gap := range []string{"", "\n"} {
				g := &printer{spec: spec, gap: gap}
				for _, v := range hostile(spec) {
					want := map[string]any{"path": "a/b.txt", "content": strings.ToValidUTF8(v, "\ufffd"), "mode": 420.0}
					text := g.write("write_file", given{"path", "a/b.txt"}, given{"content", v}, given{"mode", 420})
					a := read(t, taggedOptions(spec), false, text)
					if len(a.calls) != 1 {
						t.Fatalf("%q: %+v", v, a)
					}
					if v != "\xff\xfe" {
						callsOnce(t, a, "write_file", want)
					}
					if gap == "\n" || len(v) < 12 {
						chunked(t, taggedOptions(spec), false, text)
					}
				}
			}
		})
	}
}

// TestTaggedForms has calls of every family in the forms that its models
// write.
func TestTaggedForms(t *testing.T) {
	for _, spec := range taggedSpecs() {
		t.Run(spec.Name, func(t *testing.T) {
			o := taggedOptions(spec)
			for _, gap := range []string{"", "\n", " \n\t"} {
				g := &printer{spec: spec, gap: gap}
				none := g.write("list_tabs")
				callsOnce(t, chunked(t, o, false, none), "list_tabs", map[string]any{})
				nested := g.write("write_file", given{"path", "p"}, given{"tags", []any{"a", "b c"}}, given{"append", true},
					given{"meta", map[string]any{"list": []any{map[string]any{"x": -1.5}, map[string]any{"x": 2.0}}}})
				callsOnce(t, chunked(t, o, false, nested), "write_file", map[string]any{
					"path": "p", "tags": []any{"a", "b c"}, "append": true,
					"meta": map[string]any{"list": []any{map[string]any{"x": -1.5}, map[string]any{"x": 2.0}}},
				})
				two := chunked(t, o, false, "I look.\n"+g.write("get_weather", given{"city", "Oslo"}, given{"days", 3})+gap+none+"\nDone.")
				if len(two.calls) != 2 || two.calls[0].args != `{"city":"Oslo","days":3}` || two.calls[1].args != "{}" || !strings.HasPrefix(two.content, "I look.") || !strings.HasSuffix(two.content, "Done.") {
					t.Errorf("two calls with text around them: %+v", two)
				}
			}
			g := &printer{spec: spec, gap: "\n"}
			text := g.write("get_weather", given{"city", "Oslo"}, given{"city", "Rome"}, given{"days", 3})
			callsOnce(t, chunked(t, o, false, text), "get_weather", map[string]any{"city": "Oslo", "days": 3.0})
			text = g.write("fly_to", given{"planet", "Mars"}, given{"stops", 2})
			if a := chunked(t, o, false, text); len(a.calls) != 1 || a.calls[0].name != "fly_to" || !strings.Contains(a.calls[0].args, `"planet":"Mars"`) {
				t.Errorf("an unknown tool: %+v", a)
			}
		})
	}
}

// TestTaggedEnds breaks calls off everywhere: by the end of the answer, and by
// a token limit.
func TestTaggedEnds(t *testing.T) {
	for _, spec := range taggedSpecs() {
		t.Run(spec.Name, func(t *testing.T) {
			g := &printer{spec: spec, gap: "\n"}
			text := "Hello.\n" + g.write("write_file", given{"path", "a"}, given{"content", "line one\nline <two>"}, given{"mode", 42}, given{"tags", []any{"x"}})
			full := read(t, taggedOptions(spec), false, text).calls[0].args
			for i := range text {
				if i%4 == 1 { // each split takes its time
					for _, cut := range []bool{false, true} {
						if a := chunked(t, taggedOptions(spec), cut, text[:i]); i > 5 && !strings.HasPrefix(a.content, "Hello") {
							t.Fatalf("cut at %d: %+v", i, a)
						}
					}
				}
				for _, c := range read(t, taggedOptions(spec), true, text[:i]).calls {
					if !strings.HasPrefix(full, c.args) {
						t.Fatalf("cut at %d: %q is not the beginning of %q", i, c.args, full)
					}
				}
				for _, c := range read(t, taggedOptions(spec), false, text[:i]).calls {
					if !json.Valid([]byte(c.args)) {
						t.Fatalf("ended at %d: %q is no JSON", i, c.args)
					}
				}
			}
		})
	}
}

// TestTaggedHoldBack has the most that is held back of a string: what may be
// its closing tag and the tag of the next argument, until a key tells that it
// is neither.
func TestTaggedHoldBack(t *testing.T) {
	for _, spec := range taggedSpecs() {
		g := &printer{spec: spec, gap: "\n"}
		shut := g.fill(spec.Arg.Close[0], "string", "content")
		next := spec.Arg.Open[0] + "other" + g.fill(spec.Arg.Mid[0], "string", "other")
		value := "some text" + shut + "\n" + next + "more text" + shut + "."
		text := g.write("write_file", given{"content", "VALUE"})
		if spec.Arg.CDATA {
			value = "some text" + closeData + "\n" + shut + "\n" + next + "more text"
			text = strings.Replace(text, "VALUE", openData+"VALUE"+closeData, 1)
		}
		before, _, _ := strings.Cut(text, "VALUE")
		s, err := New(taggedOptions(spec))
		if err != nil {
			t.Fatal(err)
		}
		s.Push(nil, before)
		said, most := "", 0
		for i := range len(value) {
			for _, e := range s.Push(nil, value[i:i+1]) {
				said += e.Text
			}
			var got string
			if err := json.Unmarshal([]byte(strings.ToValidUTF8(strings.TrimPrefix(said, `{"content":`), "")+`"`), &got); err != nil {
				t.Fatalf("%s: %q: %v", spec.Name, said, err)
			}
			if !strings.HasPrefix(value, got) {
				t.Fatalf("%s: %q was said, of %q", spec.Name, got, value)
			}
			most = max(most, i+1-len(got))
		}
		if limit := len(closeData) + len(shut) + len(next) + 8; most > limit {
			t.Errorf("%s: %d bytes are held back, want %d at most", spec.Name, most, limit)
		}
	}
}
