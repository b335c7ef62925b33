package jinja

import (
	"strings"
	"testing"
)

// A search says what a loop says that goes through all of the list.
func TestSearch(t *testing.T) {
	lists := map[string]string{
		"maps":  `[{"r":"u"},{"r":"a","c":[1]},{"r":"t"},{"r":"a"},{"c":0},{"r":"u","c":[]}]`,
		"texts": `["r","u"]`, "mixed": `[{"r":"a"},"x",{"r":"u"}]`, "none": `[]`, "keys": `{"r":1}`, "fault": `[{"r":"a"},null]`,
	}
	conds := []string{
		"n.r == 'a'", "n['r'] == 'u'", "n.r != 'a'", "'c' in n", "'c' not in n", "n.c", "not n.c", "n.r == 'a' and 'c' not in n",
		"n.r == 'q'", "n.r == 't' or n.c", "n.items",
	}
	for name, list := range lists {
		v, err := Decode([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		ctx := &Map{}
		ctx.Set("l", v)
		for _, cond := range conds {
			const src = "{% for i in range(7) %}{% set ns = namespace(f='') %}{% for n in LIST %}{% if COND %}{% set ns.f = 'yes' %}{% endif %}EXTRA{% endfor %}{{ i ~ ns.f }};{% endfor %}"
			for _, part := range []string{"l", "l[i:]", "l[:i]", "l[i:4]", "l[::-1]"} {
				if name == "keys" && part != "l" {
					continue
				}
				render := func(extra string) (string, error) {
					tmpl, err := Parse(strings.NewReplacer("LIST", part, "COND", cond, "EXTRA", extra).Replace(src))
					if err != nil {
						t.Fatal(err)
					}
					out, err := tmpl.Render(nil, Mapping(ctx), Options{})
					return string(out), err
				}
				got, err := render("")
				want, werr := render("{% set x = loop.index %}")
				if got != want || (err == nil) != (werr == nil) || err != nil && err.Error() != werr.Error() {
					t.Errorf("%s, %s in %s: %q, %v; want %q, %v", name, cond, part, got, err, want, werr)
				}
			}
		}
	}
}
