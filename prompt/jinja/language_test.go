package jinja

import (
	"slices"
	"testing"
)

// language has one line for each part of it. TestReference checks them too.
var language = []struct{ src, want string }{
	// White space.
	{"a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc"},
	{"a\n  {%+ if true %}b{% endif +%}\nc", "a\n  b\nc"},
	{"a  {%- if true -%}  b  {%- endif -%}  c", "abc"},
	{"a {{ 1 }}\n{{- 2 -}}\n b", "a 12b"},
	{"  {# note #}\nx{#- note -#} y", "xy"},
	{"{% raw %}{{ x }}{% endraw %}", "{{ x }}"},
	// Printing.
	{"{{ none }} {{ true }} {{ 2.0 }} {{ 1e20 }} {{ 1e-5 }} {{ 10**20 }} {{ missing }}", "None True 2.0 1e+20 1e-05 100000000000000000000 "},
	{`{{ ['a', "b'c", '\n', 1, none, ('x',)] }}`, `['a', "b'c", '\n', 1, None, ('x',)]`},
	{"{{ {'a': {'b': []}} }}", "{'a': {'b': []}}"},
	// Arithmetic.
	{"{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 3 ** 2 }} {{ 7.5 // 2 }}", "3 -4 2 3.5 64 3.0"},
	{"{{ ([] * 10 ** 12) ~ ('' * 10 ** 12) ~ (() * 10 ** 12) }}", "[]()"},
	{"{{ 'a' * 3 }}{{ [1] + [2] }}{{ 1 ~ 'x' ~ none }}", "aaa[1, 2]1xNone"},
	{"{{ 1 < 2 < 3 }} {{ 'b' in 'abc' }} {{ 1 not in [2] }} {{ 1 == 1.0 }} {{ true == 1 }}", "True True True True True"},
	// Names and scopes.
	{"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
	{"{% set ns = namespace(x=1) %}{% for i in [1] %}{% set ns.x = 2 %}{% endfor %}{{ ns.x }}", "2"},
	{"{% if true %}{% set x = 3 %}{% endif %}{{ x }}", "3"},
	{"{% macro f() %}{{ x }}{% endmacro %}{% set x = 4 %}{{ f() }}", "4"},
	{"{% for s in l %}{{ s }}{% endfor %}{{ s }}", "312Hello Wörld"},
	{"{% set x %}a{{ n }}{% endset %}{{ x }}{% set y | upper %}b{% endset %}{{ y }}", "a7B"},
	{"{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}", "17"},
	{"{% set a, b = 1, 2 %}{{ b }}{{ a }}", "21"},
	// Loops.
	{"{% for i in l %}{{ loop.index }}{{ loop.first }}{{ loop.revindex0 }};{% endfor %}", "1True2;2False1;3False0;"},
	{"{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {% endfor %}", "<3>1 3<1>2 1<2> "},
	{"{% for i in l if i > 1 %}{{ i }}{{ loop.length }}{% else %}no{% endfor %}", "3222"},
	{"{% for i in e %}x{% else %}none{% endfor %}", "none"},
	{"{% set ns = namespace(f=0) %}{% for r in rows[1:] %}{% if r.b == 'y' and 'c' not in r %}{% set ns.f = 1 %}{% endif %}{% endfor %}{{ ns.f }}", "1"},
	{"{% set ns = namespace(go=true, at=9) %}{% for r in rows[::-1] %}{% set i = (rows|length - 1) - loop.index0 %}" +
		"{% if ns.go and r.c %}{% set ns.go = false %}{% set ns.at = i %}{% endif %}{% endfor %}{{ ns.at }}", "1"},
	{"{% set j = joiner('x') %}{% set ns = namespace(go=true, at='') %}{% for r in rows %}{% set i = loop.index0 + 1 %}" +
		"{% if ns.go and j() %}{% set ns.at = ns.at ~ i %}{% endif %}{% endfor %}{{ ns.at }}", "23"},
	{"{% for r in rows %}{% set i = r|length - loop.index0 %}{% if r.c and i %}{{ i }}{% endif %}{% endfor %}", "32"},
	// Macros.
	{"{% macro t(a, b=[]) %}<{{ a }}{% for x in b %} {{ x[0] }}={{ x[1] }}{% endfor %}>{% endmacro %}{{ t('a') }}{{ t('b', [['k', 1]]) }}{{ t('a') }}", "<a><b k=1><a>"},
	{"{% macro t(a) %}1{{ a }}{% endmacro %}{{ t('x') }}{% macro t(a) %}2{{ a }}{% endmacro %}{{ t('x') }}", "1x2x"},
	{"{% macro t(a, b) %}{{ a }}{{ b is defined }}{% if a == 1 %}{% set c = 5 %}{% endif %}{{ c }};{% endmacro %}{{ t(1, 2) }}{{ t(n) }}", "1True5;7False;"},
	{"{% set a = [1] %}{% set b = [1] %}{{ a is sameas b }}{{ a is sameas a }}{{ [1] is sameas [1] }}", "FalseTrueFalse"},
	{"{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}", "name=x;items=[1, 2];k=None;n=1.0;"},
	{"{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}", "013"},
	{"{% for i in [1, [2, [3]]] recursive %}{% if i is number %}{{ i }}{% else %}({{ loop(i) }}){% endif %}{% endfor %}", "1(2(3))"},
	{"{% for i in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(i > 1) }}{% endfor %}", "aTruebTrueaTrue"},
	{"{% set j = joiner('x') %}{% set ns = namespace(go=true, at='') %}{% for r in rows %}{% set i = loop.index0 + 1 %}" +
		"{% if ns.go and j() %}{% set ns.at = ns.at ~ i %}{% endif %}{% endfor %}{{ ns.at }}", "23"},
	{"{% for r in rows %}{% set i = r|length - loop.index0 %}{% if r.c and i %}{{ i }}{% endif %}{% endfor %}", "32"},
	// Macros.
	{"{% macro f(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1) }}{{ f(1, 3, 4, c=5) }}", "12(){}13(4,){'c': 5}"},
	{"{% macro f() %}<{{ caller(1) }}>{% endmacro %}{% call(x) f() %}{{ x }}{{ n }}{% endcall %}", "<17>"},
	{"{% filter upper %}a{{ n }}b{% endfilter %}", "A7B"},
	{"{% generation %}{{ n }}{% endgeneration %}", "7"},
	// Look-ups.
	{"{{ m.name }}{{ m['name'] }}{{ m.items()|length }}{{ m['items'] }}", "xx4[1, 2]"},
	{"{{ s[0] }}{{ s[-1] }}{{ s[7:9] }}{{ l[::-1] }}{{ l[1:] }}{{ s[::3] }}", "Hdör[2, 1, 3][1, 2]HlWl"},
	{"{{ missing is defined }}{{ m.none is undefined }}{{ missing|default('d') }}{{ ''|default('e', true) }}", "FalseTruede"},
	// Filters.
	{"{{ m|tojson }}", `{"name": "x", "items": [1, 2], "k": null, "n": 1.0}`},
	{"{{ [1, {'a': '<é>'}]|tojson(indent=1) }}", "[\n 1,\n {\n  \"a\": \"<é>\"\n }\n]"},
	{"{{ 'é'|tojson(ensure_ascii=true) }}{{ {'b': 1, 'a': 2}|tojson(sort_keys=true, separators=(',', ':')) }}", `"\u00e9"{"a":2,"b":1}`},
	{"{{ t|trim }}|{{ s|upper }}|{{ s|lower }}|{{ 'aB cd'|title }}|{{ 'aB'|capitalize }}", "a b  c|HELLO WÖRLD|hello wörld|Ab Cd|Ab"},
	{"{{ w|sort }}{{ w|sort(case_sensitive=true) }}{{ w|unique|list }}{{ l|sort(reverse=true) }}", "['A', 'a', 'b', 'c']['A', 'a', 'b', 'c']['b', 'A', 'c'][3, 2, 1]"},
	{"{{ rows|map(attribute='a')|join('-') }}{{ rows|selectattr('c')|list|length }}{{ rows|rejectattr('a', 'eq', 1)|map(attribute='b')|first }}", "1-2-12Y"},
	{"{{ d|dictsort }}{{ {'b': 1, 'A': 2}|dictsort }}{{ {'a': 2, 'b': 1}|dictsort(by='value') }}", "[][('A', 2), ('b', 1)][('b', 1), ('a', 2)]"},
	{"{{ '42.9'|int }}{{ 'x'|int(7) }}{{ '1.5'|float }}{{ 2.5|round }}{{ 2.567|round(2) }}{{ 'ff'|int(0, 16) }}", "4271.52.02.57255"},
	{"{{ 'a\nb'|indent(2) }}|{{ 'a\nb'|indent(2, true) }}", "a\n  b|  a\n  b"},
	{"{{ 'aXbX'|replace('X', '-', 1) }}{{ '%s=%d'|format('a', 2) }}{{ l|sum }}{{ l|min }}{{ l|max }}", "a-bXa=2613"},
	{"{{ [1, 2, 3]|batch(2, 0)|list }}{{ [1, 2, 3]|slice(2)|list }}{{ 'abc'|reverse }}", "[[1, 2], [3, 0]][[1, 2], [3]]cba"},
	{"{{ '<'|e }}{{ '<'|safe + '>' }}{{ 'a b'|urlencode }}{{ 'a b c'|wordcount }}", "&lt;<&gt;a%20b3"},
	// Methods.
	{"{{ 'a,b,c'.split(',') }}{{ 'a b'.split() }}{{ 'a,b,c'.rsplit(',', 1) }}{{ 'a,b'.split(',')[-1] }}", "['a', 'b', 'c']['a', 'b']['a,b', 'c']b"},
	{"{{ 'xax'.strip('x') }}{{ ' a '.lstrip() }}{{ 'ab'.startswith(('x', 'a')) }}{{ 'ab'.endswith('b') }}{{ 'aa'.replace('a', 'b', 1) }}", "aa TrueTrueba"},
	{"{{ 'a-b'.partition('-') }}{{ 'abc'.find('c') }}{{ 'aba'.count('a') }}{{ '-'.join(['a', 'b']) }}{{ '5'.zfill(3) }}", "('a', '-', 'b')22a-b005"},
	{"{{ 'straße'.upper() }}{{ 'ΑΣ'.lower() }}{{ '{:>4}|{:.1f}'.format('a', 2) }}{{ m.get('zz', 1) }}{{ m.keys()|list }}", "STRASSEας   a|2.01['name', 'items', 'k', 'n']"},
	// Globals.
	{"{{ range(2, 8, 3)|list }}{{ dict(a=1) }}{{ strftime_now('%d %b %Y, %-H:%M') }}", "[2, 5]{'a': 1}05 Jun 2025, 13:04"},
	{"{% set j = joiner('+') %}{{ j() }}1{{ j() }}2{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.next() }}{{ c.next() }}", "1+2121"},
	// Found by random templates.
	{"{% for x in l %}{{ x }}{% break %}{% else %}none{% endfor %}", "3none"},
	{"{% for x in l %}{% continue %}{% else %}none{% endfor %}", "none"},
	{"{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% else %}none{% endfor %}", "32"},
	{"[{{ s.__class__ }}]{{ l.append is defined }}{{ l.append|default('d') }}{{ 1 if m.update else 2 }}", "[]Falsed2"},
	{"{{ missing.__class__ }}|{{ l[[]] }}|{{ l[e[0:1:-1]] }}", "||"},
	{"{{ '١٢'|int + '３'|float }}", "15.0"},
	{"{% macro f(x) %}{% macro g() %}{{ kwargs }}{% endmacro %}{{ x }}{{ g(b=2) }}{% endmacro %}{{ f(1, z=4) }}", "1{'b': 2}"},
}

func TestLanguage(t *testing.T) {
	ctx, err := Decode([]byte(world))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range language {
		tmpl, err := Parse(c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		got, err := tmpl.Render(nil, ctx, Options{Now: clock})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.src, got, err, c.want)
		}
	}
}

// What Python raises is raised, in its words.
func TestErrors(t *testing.T) {
	ctx, err := Decode([]byte(world))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ src, want string }{
		{"{{ missing.a }}", "UndefinedError: 'missing' is undefined"},
		{"{{ m.a.b }}", "UndefinedError: 'dict object' has no attribute 'a'"},
		{"{{ l[9].a }}", "UndefinedError: list object has no element 9"},
		{"{{ nil.a.b }}", "UndefinedError: 'None' has no attribute 'a'"},
		{"{{ 'a' + 1 }}", `TypeError: can only concatenate str (not "int") to str`},
		{"{{ 1 + 'a' }}", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"},
		{"{{ nil|length }}", "TypeError: object of type 'NoneType' has no len()"},
		{"{{ l.append(1) }}", "SecurityError: access to attribute 'append' of 'list' object is unsafe."},
		{"{{ s.__class__.x }}", "SecurityError: access to attribute '__class__' of 'str' object is unsafe."},
		{"{{ l|select|tojson }}", "TypeError: Object of type generator is not JSON serializable"},
		{"{{ raise_exception('No ' ~ n) }}", "TemplateError: No 7"},
		{"{% set m.a = 1 %}", "TemplateRuntimeError: cannot assign attribute on non-namespace object"},
		{"{% for x in n %}{% endfor %}", "TypeError: 'int' object is not iterable"},
		{"{% if yes %}{{ n|from_json }}{% endif %}", "TemplateRuntimeError: No filter named 'from_json' found."},
		{"{{ n|from_json }}", "TemplateAssertionError: No filter named 'from_json'."},
		{"{{ 1 // 0 }}", "ZeroDivisionError: integer division or modulo by zero"},
		{"{{ range(100001) }}", "OverflowError: Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)."},
		{"{% do x %}", "TemplateSyntaxError: Encountered unknown tag 'do'."},
		{"{% if x %}", "TemplateSyntaxError: Unexpected end of template. Jinja was looking for the following tags: 'elif'."},
		{"{{ 'a", `TemplateSyntaxError: unexpected char "'" at 3`},
		{"{% break %}", "TemplateSyntaxError: break or continue outside of a loop"},
	} {
		tmpl, err := Parse(c.src)
		if err == nil {
			_, err = tmpl.Render(nil, ctx, Options{})
		}
		if err == nil || shown(err) != c.want {
			t.Errorf("%s: got %v, want %s", c.src, err, c.want)
		}
	}
}

// Decode keeps order, integers and floats as they are, and refuses what is no
// JSON.
func TestDecode(t *testing.T) {
	tmpl, err := Parse("{{ v }}")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ src, want string }{
		{`{"b":1,"a":[1.0,1e3,-0,12345678901234567890],"b":2}`, "{'b': 2, 'a': [1.0, 1000.0, 0, 12345678901234567890]}"},
		{`"\u00e9\ud83d\ude00\ud800\n\/"`, "é😀\ufffd\n/"},
		{` [ true , null ] `, "[True, None]"},
		{`{"along": "0123456789abcdef\n0123456789\u00e4\"\\", "b": ["", "x\ty"]}`, `{'along': '0123456789abcdef\n0123456789ä"\\', 'b': ['', 'x\ty']}`},
		{"\"a\xffb\"", "a\ufffdb"},
	} {
		v, err := Decode([]byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		m := &Map{}
		m.Set("v", v)
		got, err := tmpl.Render(nil, Mapping(m), Options{})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.src, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "{", "[1,]", "{1:2}", `{"a" 1}`, "01", "1.", "1e", "+1", `"a`, "\"\n\"", `"\x"`, "nul", "1 2", "[1 2]", "NaN"} {
		if v, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s: read as %s", bad, repr(v))
		}
	}
}

// Names are what the context is asked for, not what the template sets.
func TestNames(t *testing.T) {
	tmpl, err := Parse("{% set x = messages %}{% macro f(y) %}{{ y }}{{ x }}{{ tools }}{% endmacro %}{% for m in x if enable %}{{ m }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	got := tmpl.Names()
	slices.Sort(got)
	if want := []string{"enable", "messages", "tools"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
