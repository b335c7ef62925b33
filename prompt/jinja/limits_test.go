package jinja

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Templates that would hang or eat memory end in an error, soon.
func TestHostile(t *testing.T) {
	loop := func(n int, body string) string {
		return strings.Repeat("{% for i in range(99999) %}", n) + body + strings.Repeat("{% endfor %}", n)
	}
	for _, c := range []struct{ name, src string }{
		{"loops in loops", loop(5, "")},
		{"loops that write", loop(2, "0123456789")},
		{"a text repeated", "{{ 'abcdefgh' * 999999999999 }}"},
		{"a text repeated again and again", "{% set x = 'a' * 1000000 %}{% for i in range(9999) %}{% set y = x * 99 %}{% endfor %}"},
		{"a list repeated", "{{ ([1] * 999999999)|length }}"},
		{"a text doubled", "{% set ns = namespace(s='a') %}" + loop(1, "{% set ns.s = ns.s + ns.s %}")},
		{"a text doubled with tildes", "{% set ns = namespace(s='a') %}" + loop(1, "{% set ns.s = ns.s ~ ns.s ~ ns.s %}")},
		{"a text doubled by join", "{% set ns = namespace(s='a') %}" + loop(1, "{% set ns.s = [ns.s, ns.s]|join %}")},
		{"a text grown by replace", "{% set ns = namespace(s='a') %}" + loop(1, "{% set ns.s = ns.s|replace('a', 'aaaaaaaaaa') %}")},
		{"an empty text replaced", "{% set x = 'a' * 3000000 %}{{ x.replace('', x) }}"},
		{"a huge join", "{% set x = 'a' * 1000000 %}{{ range(99999)|join(x) }}"},
		{"a list doubled", "{% set ns = namespace(l=[1]) %}" + loop(1, "{% set ns.l = ns.l + ns.l %}")},
		{"lists in lists", "{% set ns = namespace(l=[1]) %}" + loop(1, "{% set ns.l = [ns.l] %}") + "{{ ns.l }}"},
		{"one list many times", "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}"},
		{"one list many times as json", "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson }}"},
		{"one list many times compared", "{% set a = namespace(l=[1]) %}{% set b = namespace(l=[1]) %}{% for i in range(60) %}{% set a.l = [a.l, a.l] %}" +
			"{% set b.l = [b.l, b.l] %}{% endfor %}{{ a.l == b.l }}"},
		{"itself inside", "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}"},
		{"recursion", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"},
		{"recursion in two", "{% macro f(n) %}{{ f(n+1) }}{{ f(n+1) }}{% endmacro %}{{ f(0) }}"},
		{"recursion that forks", "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(99) }}"},
		{"recursive loop", "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}"},
		{"call blocks", "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}"},
		{"a wide text", "{{ 'a'.center(99999999999) }}"},
		{"a wide format", "{{ '%999999d' % 1 }}{{ '%9999999999d' % 1 }}"},
		{"many wide formats", loop(2, "{% set x = '%99999d' % 1 %}")},
		{"a great power", "{{ 9 ** (9 ** 9) }}"},
		{"great products", "{% set ns = namespace(n=9) %}" + loop(1, "{% set ns.n = ns.n * ns.n %}")},
		{"a great range", "{{ range(999999999)|list }}"},
		{"a batch to fill", "{{ [1]|batch(999999999, 0)|list }}"},
		{"slices to make", "{{ [1]|slice(999999999)|list }}"},
		{"an indent", "{{ ('a\n' * 100000)|indent(1000000) }}"},
		{"a json indent", "{{ [[[1]]]|tojson(indent=99999999) }}"},
		{"generators on generators", "{% set ns = namespace(g=range(99999)) %}{% for i in range(5000) %}{% set ns.g = ns.g|map('string') %}{% endfor %}{{ ns.g|list|length }}"},
		{"captures", "{% macro f(n) %}{% set x %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}xxxxxxxx{% endset %}{{ x }}{{ x }}{% endmacro %}{{ f(60) }}"},
		{"a cycle of sorts", loop(1, "{% set x = range(99999)|sort %}")},
		{"searches", "{% set x = 'ab' * 4000000 %}" + loop(2, "{{ 'abac' in x }}")},
		{"lookups of characters", "{% set x = 'é' * 4000000 %}" + loop(1, "{% set y = x[3999999] %}")},
		{"lengths", "{% set x = 'é' * 4000000 %}" + loop(1, "{% set y = x|length %}")},
		{"strips", "{% set x = ' ' * 8000000 %}" + loop(1, "{% set y = x|trim %}")},
		{"texts compared", "{% set x = 'a' * 8000000 %}{% set y = 'a' * 8000000 %}" + loop(1, "{% set z = x == y %}")},
		{"formats", loop(2, "{{ '{:9999}'.format(1) }}")},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := Parse(c.src)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = tmpl.Render(nil, Mapping(&Map{}), Options{Time: 200 * time.Millisecond, Bytes: 64 << 20, Output: 16 << 20})
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("no error")
			}
			if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 512 {
				t.Errorf("took %d MiB: %v", n, err)
			}
		})
	}
}

// What nests too deep for the compiler is refused by it.
func TestNesting(t *testing.T) {
	const n = 5000
	for _, src := range []string{
		"{{ " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + " }}",
		"{{ " + strings.Repeat("[", n) + strings.Repeat("]", n) + " }}",
		"{{ " + strings.Repeat("not ", n) + "1 }}",
		"{{ " + strings.Repeat("-", n) + "1 }}",
		"{{ " + strings.Repeat("1 if 1 else ", n) + "1 }}",
		"{{ 1" + strings.Repeat("+1", n) + " }}",
		"{{ 1" + strings.Repeat("|abs", n) + " }}",
		"{{ a" + strings.Repeat(".a", n) + " }}",
		"{{ a" + strings.Repeat("()", n) + " }}",
		strings.Repeat("{% if 1 %}", n) + strings.Repeat("{% endif %}", n),
		"{% if 1 %}" + strings.Repeat("{% elif 1 %}", n) + "{% endif %}",
		strings.Repeat("{% for x in y %}", n) + strings.Repeat("{% endfor %}", n),
		strings.Repeat("{% macro f() %}", n) + strings.Repeat("{% endmacro %}", n),
	} {
		if _, err := Parse(src); kindOf(err) != "TemplateSyntaxError" {
			t.Errorf("%.30s: %v", src, err)
		}
	}
	deep := strings.Repeat("[", n) + strings.Repeat("]", n)
	if _, err := Decode([]byte(deep)); !errors.Is(err, ErrLimit) {
		t.Errorf("json: %v", err)
	}
}

// One template serves many goroutines.
func TestConcurrent(t *testing.T) {
	tmpl, err := Parse("{% macro f(x) %}{{ x }}{% if x %}{{ f(x - 1) }}{% endif %}{% endmacro %}" +
		"{% set ns = namespace(s='') %}{% for i in l if i %}{% set ns.s = ns.s ~ f(i) ~ loop.index %}{% endfor %}{{ ns.s }}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := Decode([]byte(`{"l":[3,0,2,1]}`))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				got, err := tmpl.Render(nil, ctx, Options{})
				if err != nil || string(got) != "321012102103" {
					t.Errorf("got %s, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// No template and no context makes the engine panic or overrun its limits.
func FuzzRender(f *testing.F) {
	for _, src := range []string{
		"{% for x in l %}{{ loop.index ~ x }}{% else %}-{% endfor %}", "{{ m|tojson(indent=2) }}", "{{ s.split('o', 1)[-1][::-1]|upper }}",
		"{% set ns = namespace(a=1) %}{% set ns.a = 2 %}{{ ns.a ** 3 // 2 }}", "{%- macro f(a, b=1) -%}{{ a }}{{ varargs }}{{ kwargs }}{%- endmacro -%}{{ f(1, 2, 3, c=4) }}",
		"{{ '%-5s|%05.1f' % ('a', 2) }}{{ '{0:>5}'.format(1) }}", "{% filter upper %}x{% endfilter %}{# c #}{% raw %}{{{% endraw %}",
		"{{ rows|groupby('a')|map('first')|list }}{{ rows|sort(attribute='b')|map(attribute='b')|join(',') }}",
	} {
		f.Add(src)
	}
	ctx, err := Decode([]byte(world))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, err := Parse(src)
		if err != nil {
			return
		}
		out, _ := tmpl.Render([]byte("kept"), ctx, Options{Steps: 1 << 20, Bytes: 8 << 20, Output: 1 << 20, Time: time.Second})
		if string(out[:4]) != "kept" || len(out) > 2<<20 {
			t.Fatalf("%d bytes of output", len(out))
		}
	})
}
