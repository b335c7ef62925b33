package jinja

import "testing"

// Growing in place changes nothing that was made before.
func TestGrow(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{
			"texts", "{% set a = 'x' * 600 %}{% set b = a + 'b' %}{% set c = b + 'c' %}{% set d = b + 'd' %}{% set e = a ~ 'e' ~ 1 %}{% set f = c + 'f' %}" +
				"{{ a|length }}{{ b[-2:] }}{{ c[-3:] }}{{ d[-3:] }}{{ e[-3:] }}{{ f[-4:] }}", "600xbxbcxbdxe1xbcf",
		},
		{
			"lists", "{% set a = [0] * 20 %}{% set b = a + [1] %}{% set c = b + [2] %}{% set d = b + [3] %}{% set e = b[:20] + [4] %}{% set f = c + [5] %}" +
				"{{ a|length }}{{ b[-2:] }}{{ c[-2:] }}{{ d[-2:] }}{{ e[-2:] }}{{ f[-3:] }}", "20[0, 1][1, 2][1, 3][0, 4][1, 2, 5]",
		},
	} {
		tmpl, err := Parse(c.src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tmpl.Render(nil, Mapping(&Map{}), Options{})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}
