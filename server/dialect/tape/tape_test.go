package tape

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		src  string
		want string // part of the error, "" for none
	}{
		{`{}`, ""},
		{`[]`, ""},
		{` {"a" : [1, -2.5e+3, true, false, null, "x"]} `, ""},
		{`"s"`, ""},
		{`0`, ""},
		{`-0`, ""},
		{`1e5`, ""},
		{``, "empty document"},
		{"  \n", "empty document"},
		{`{`, "unexpected end"},
		{`[1,`, "unexpected end"},
		{`{"a":`, "unexpected end"},
		{`{"a"`, "expected a colon"},
		{`{"a" 1}`, "expected a colon"},
		{`{a:1}`, "expected a key"},
		{`{"a":1,}`, "expected a key"},
		{`[1,]`, "invalid value"},
		{`[1 2]`, "expected a comma"},
		{`[1}`, "expected a comma"},
		{`{"a":1]`, "expected a comma"},
		{`{} {}`, "data after"},
		{`tru`, "invalid value"},
		{`nul`, "invalid value"},
		{`01`, "invalid value"},
		{`1.`, "invalid value"},
		{`.5`, "invalid value"},
		{`1e`, "invalid value"},
		{`-`, "invalid value"},
		{`+1`, "invalid value"},
		{`NaN`, "invalid value"},
		{`"a`, "invalid value"},
		{"\"a\nb\"", "invalid value"},
		{`"\x"`, "invalid value"},
		{`"\u12g4"`, "invalid value"},
		{`"\`, "invalid value"},
		{`{"\q":1}`, "invalid key"},
		{"\"a\xffb\"", "invalid UTF-8 at byte 2"},
		{"\xef\xbb\xbf{}", "invalid value"},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), ""},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "nested too deep at byte 512"},
		{"[" + strings.Repeat("0,", MaxValues) + "0]", "too many values"},
	} {
		name := c.src[:min(len(c.src), 20)]
		d, err := Parse([]byte(c.src))
		switch {
		case err == nil && c.want == "":
			d.Free()
		case err == nil:
			t.Errorf("%q: parsed, want %q", name, c.want)
		case c.want == "" || !strings.Contains(err.Error(), c.want):
			t.Errorf("%q: error %q, want %q", name, err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for src, want := range map[string]string{
		`"plain"`:                "plain",
		`"\"\\\/\b\f\n\r\t"`:     "\"\\/\b\f\n\r\t",
		`"\u00e9\u4e2d"`:         "é中",
		`"\ud83d\ude00!"`:        "😀!",
		`"a\ud800b"`:             "a\uFFFDb",
		`"a\udc00"`:              "a\uFFFD",
		`"\ud800\ud83d\ude00"`:   "\uFFFD😀",
		`"\ud800A"`:              "\uFFFDA",
		`"emoji 😀 and \n lines"`: "emoji 😀 and \n lines",
		`5`:                      "",
	} {
		d, err := Parse([]byte(src))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := d.Root().Text(); got != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
		d.Free()
	}
}

func TestFields(t *testing.T) {
	d, err := Parse([]byte(`{"a":1,"b":{"a":[10,{"x":null},30]},"\u0063":"see","a":2,"e":[],"o":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free()
	root := d.Root()
	if n, ok := root.Key("a").Int(); !ok || n != 2 {
		t.Errorf("of repeated keys the last counts: got %d", n)
	}
	if got := root.Key("c").Text(); got != "see" {
		t.Errorf("an escaped key: got %q", got)
	}
	if k := root.Key("nothing").Kind(); k != None {
		t.Errorf("a missing key has kind %d", k)
	}
	if k := root.Key("a").Key("b").Key("c").Kind(); k != None {
		t.Errorf("a field of a number has kind %d", k)
	}
	var raw []string
	for _, e := range root.Key("b").Key("a").Elements() {
		raw = append(raw, string(e.Raw()))
	}
	if got, want := strings.Join(raw, " "), `10 {"x":null} 30`; got != want {
		t.Errorf("elements: got %s, want %s", got, want)
	}
	if !root.Key("e").Empty() || !root.Key("o").Empty() || root.Key("b").Empty() {
		t.Error("Empty is wrong")
	}
	for _, e := range root.Key("b").Key("a").Elements() {
		if x := e.Key("x"); x.Kind() == Null {
			want := []Step{{"b", -1}, {"a", -1}, {"", 1}, {"x", -1}}
			got := x.Path()
			if len(got) != len(want) {
				t.Fatalf("path: got %v, want %v", got, want)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("path: got %v, want %v", got, want)
				}
			}
		}
	}
}

func TestInt(t *testing.T) {
	for src, want := range map[string]string{
		"5": "5", "-7": "-7", "4.0": "4", "4e2": "400", "4.5": "no", "1e300": "no", "true": "no",
		"9223372036854775807": "9223372036854775807", "9223372036854775808": "no", `"5"`: "no",
	} {
		d, _ := Parse([]byte(src))
		n, ok := d.Root().Int()
		got := "no"
		if ok {
			b, _ := json.Marshal(n)
			got = string(b)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
		d.Free()
	}
}

// FuzzParse compares with encoding/json, which allows broken UTF-8 and more
// depth.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":"\u00e9\ud800"}]}`, `[[]]`, `"\\"`, `-0.1e-5`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Parse(src)
		ours := err == nil
		if want := json.Valid(src) && utf8.Valid(src); ours != want && (err == nil || !strings.Contains(err.Error(), "nested")) {
			t.Fatalf("valid = %v, want %v (%v)", ours, want, err)
		}
		if err != nil {
			return
		}
		defer d.Free()
		var want any
		if json.Unmarshal(src, &want) != nil {
			return
		}
		compare(t, d.Root(), want)
	})
}

// compare checks a value against what encoding/json made of it.
func compare(t *testing.T, v Value, want any) {
	t.Helper()
	switch want := want.(type) {
	case string:
		if got := v.Text(); got != want {
			t.Fatalf("text: got %q, want %q", got, want)
		}
	case []any:
		n := 0
		for i, e := range v.Elements() {
			compare(t, e, want[i])
			n++
		}
		if n != len(want) {
			t.Fatalf("%d elements, want %d", n, len(want))
		}
	case map[string]any:
		for k, w := range want {
			compare(t, v.Key(k), w)
		}
	case bool:
		if v.Kind() != True && v.Kind() != False {
			t.Fatalf("kind %d for a boolean", v.Kind())
		}
	case nil:
		if v.Kind() != Null {
			t.Fatalf("kind %d for null", v.Kind())
		}
	}
}
