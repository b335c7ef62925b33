package parsers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkAny checks what holds for any text: the same for any split, arguments
// that are JSON, and that are so at any time when a limit cut them.
func checkAny(t testing.TB, o Options, cut bool, text string, steps ...int) answer {
	t.Helper()
	whole := read(t, o, cut, text)
	for _, n := range steps {
		var pieces []string
		for i := 0; i < len(text); i += n {
			pieces = append(pieces, text[i:min(len(text), i+n)])
		}
		if got := read(t, o, cut, pieces...); !same(got, whole) {
			t.Fatalf("%s: %q\nin pieces of %d %+v\nwhole %+v", o.Tools, text, n, got, whole)
		}
	}
	for _, c := range whole.calls {
		full := c.args
		if cut {
			full = Repair(full)
		}
		var obj map[string]any
		if err := json.Unmarshal([]byte(strings.ToValidUTF8(full, "?")), &obj); err != nil && full != "" || !strings.HasPrefix(full, c.args) {
			t.Fatalf("%s: %q: arguments %q: %v", o.Tools, text, c.args, err)
		}
	}
	return whole
}

// TestTaggedRandom puts pieces of each family's markup together in any order:
// every word has to be somewhere in the answer.
func TestTaggedRandom(t *testing.T) {
	specs := taggedSpecs()
	rapid.Check(t, func(rt *rapid.T) {
		spec := rapid.SampledFrom(specs).Draw(rt, "spec")
		g := &printer{spec: spec}
		keys := []string{"path", "content", "mode", "append", "tags", "meta", "k1", "k2", "k3", "k4"}
		words, used, text := []string{}, []string{"item"}, ""
		for n := range rapid.IntRange(1, 24).Draw(rt, "pieces") {
			switch k := rapid.IntRange(0, 13).Draw(rt, "kind"); {
			case k == 10 && spec.Reasoning != nil:
				text += rapid.SampledFrom(append(slices.Clone(spec.Reasoning.Close), spec.Reasoning.Open...)).Draw(rt, "thought")
			case k == 11:
				w := fmt.Sprintf("qz%dx", n)
				words = append(words, w)
				text += `{"k` + fmt.Sprint(n) + `": ["` + w + `", {"x": 'y'}]}`
			case k < 2 || k > 11:
				w := fmt.Sprintf("qz%dx", n)
				words = append(words, w)
				text += rapid.SampledFrom([]string{"", " ", "\n", "\"", "<", "]", "{", "["}).Draw(rt, "before") + w + rapid.SampledFrom([]string{"", " ", "\n", "\\", "<", ">"}).Draw(rt, "after")
			case k < 4 && len(keys) > 0:
				i := rapid.IntRange(0, len(keys)-1).Draw(rt, "key")
				text += spec.Arg.Open[0] + keys[i] + g.fill(spec.Arg.Mid[0], rapid.SampledFrom([]string{"string", "number"}).Draw(rt, "type"), keys[i])
				used, keys = append(used, keys[i]), append(keys[:i:i], keys[i+1:]...)
			case k < 6:
				text += g.fill(spec.Arg.Close[0], "string", rapid.SampledFrom(used).Draw(rt, "closed"))
			case k == 6 && len(spec.Section.Open) > 0:
				text += spec.Section.Open[0]
			case k == 7:
				text += g.fill(spec.Call.Open[0], "", "") + "write_file" + strings.Join(spec.Call.NameEnd[:min(1, len(spec.Call.NameEnd))], "")
				text = strings.Replace(text, "{index}", "1", 1)
			case k == 8:
				text += spec.Call.Close[0]
			case k == 9 && len(spec.Section.Close) > 0:
				text += spec.Section.Close[0]
			}
			text += rapid.SampledFrom([]string{"", "", "\n"}).Draw(rt, "gap")
		}
		o := taggedOptions(spec)
		if spec.Reasoning != nil && rapid.Bool().Draw(rt, "thinks") {
			o.Tail = spec.Reasoning.Open[0]
		}
		a := checkAny(t, o, false, text, 1, 5)
		checkAny(t, o, true, text, 1)
		said := a.content + a.reasoning
		for _, c := range a.calls {
			said += " " + c.name + " " + c.args
		}
		for _, w := range words {
			if !strings.Contains(said, w) {
				rt.Fatalf("%s: %q: %s is lost: %+v", spec.Name, text, w, a)
			}
		}
	})
}

// FuzzTagged reads any bytes as an answer of any tagged family.
func FuzzTagged(f *testing.F) {
	specs := taggedSpecs()
	for i, spec := range specs {
		g := &printer{spec: spec, gap: "\n"}
		text := "Hi\n" + g.write("write_file", given{"path", "a"}, given{"content", "x\n<b> y"}, given{"mode", 1}, given{"tags", []any{"x"}}) + "\nthere"
		f.Add(text, uint8(i), uint8(3), false)
		f.Add(strings.Replace(text, spec.Call.Close[0], "", 1), uint8(i), uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, text string, family, step uint8, cut bool) {
		checkAny(t, taggedOptions(specs[int(family)%len(specs)]), cut, text, int(step)%7+1)
	})
}

// TestTaggedLong holds a long value: what a token costs must not grow with it.
func TestTaggedLong(t *testing.T) {
	spec, err := Lookup("qwen3_coder", Tools)
	if err != nil {
		t.Fatal(err)
	}
	list := `["` + strings.Repeat("some words, ", 1<<20/12) + `"]`
	g := &printer{spec: spec, gap: "\n"}
	text := strings.Replace(g.write("write_file", given{"tags", "LIST"}), "LIST", list, 1)
	var pieces []string
	for i := 0; i < len(text); i += 4 {
		pieces = append(pieces, text[i:min(len(text), i+4)])
	}
	if a := read(t, taggedOptions(spec), false, pieces...); len(a.calls) != 1 || a.calls[0].args != `{"tags":`+list+`}` {
		t.Errorf("%d calls", len(a.calls))
	}
}

// BenchmarkTagged reads calls that write a file.
func BenchmarkTagged(b *testing.B) {
	code := strings.Repeat("func f(a []int) (n int) { // <T>\n\tfor i := range a { n += i }\n\treturn n\n}\n", 200)
	for _, spec := range taggedSpecs() {
		g := &printer{spec: spec, gap: "\n"}
		text := g.write("write_file", given{"path", "a.go"}, given{"content", code})
		for _, n := range []int{4, len(text)} {
			b.Run(fmt.Sprintf("%s/%d", spec.Name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					s, _ := New(taggedOptions(spec))
					events := s.Push(nil, "")
					for i := 0; i < len(text); i += n {
						events = s.Push(events[:0], text[i:min(len(text), i+n)])
					}
					s.Close(events[:0])
				}
			})
		}
	}
}
