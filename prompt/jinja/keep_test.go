package jinja

import (
	"fmt"
	"testing"
)

// Kept JSON is what would be written, in every style, and costs as much.
func TestKeep(t *testing.T) {
	const doc = `[{"type":"function","function":{"name":"f","parameters":{"b":{"type":"string","enum":["ä","<\"\\>"]},"a":{},"n":1.0}}},{"x":[]}]`
	plain, err := Decode([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := Decode([]byte(doc))
	Keep(kept)
	for _, src := range []string{
		"{{ v|tojson }}", "{{ v|tojson }}{{ v[0]|tojson }}", "{% for x in v %}{{ x|tojson }}{% endfor %}",
		"{{ v|tojson(indent=2) }}", "{{ [v]|tojson(indent=2) }}", "{{ v[0].function|tojson }}", "{{ v|tojson(sort_keys=true) }}",
		"{{ v|tojson(ensure_ascii=true) }}", "{{ v|tojson(separators=(',', ':')) }}", "{{ v[0].function.parameters|tojson }}", "{{ v }}",
	} {
		tmpl, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			cost := func(v Value) (string, int, int) {
				m := &Map{}
				m.Set("v", v)
				r, err := tmpl.start(Mapping(m), Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer r.clearUp()
				if err := tmpl.play(r); err != nil {
					t.Fatal(err)
				}
				return string(r.out), r.steps, r.bytes
			}
			want, steps, used := cost(plain)
			if got, s, u := cost(kept); got != want || s != steps || u != used {
				t.Errorf("%s: %s at %s, want %s", src, got, fmt.Sprint(s-steps, u-used), want)
			}
		}
	}
}
