package jinja

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// script makes random templates that loop over messages and look at, and
// change, all that there is around them.
type script struct {
	t     *rapid.T
	depth int
}

func (s *script) pick(list ...string) string { return rapid.SampledFrom(list).Draw(s.t, "pick") }

func (s *script) value() string {
	return s.pick("m.role", "m.content", "m['role']", "loop.index0", "loop.first", "loop.last", "loop.length", "loop.previtem.role", "loop.nextitem",
		"ns.a", "ns.b", "other.a", "x", "y", "messages|length", "messages[0].role", "messages[loop.index0 - 1].role", "messages[loop.index0 + 1].role",
		"messages[i].role", "rest[1].role", "tools", "flag", "eos", "'k'", "1", "i", "loop.index0 + i", "f(m)", "g(ns.a)", "h(loop.index)", "messages[-1].content",
		"m == messages[-1]", "m.role == x", "m in rest", "rest|map(attribute='role')|join", "ns.list|length", "ns['a']", "made.role", "alias.a", "loop.revindex",
		"m.content ~ ns.a", "roles.user", "roles[m.role]", "messages[i:]|length", "m.get('role')", "range(loop.index)|length", "loop.cycle(1, 2)", "loop.changed(m.role)",
		"local.a", "it|first", "sep()", "m is sameas messages[0]")
}

func (s *script) test() string {
	return s.value() + s.pick(" ", " == 'user'", " != x", " is defined", " in ['user', 2]", " and "+s.value(), " or not "+s.value(), " == "+s.value())
}

func (s *script) body(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(s.stmt())
	}
	return b.String()
}

func (s *script) stmt() string {
	if s.depth > 2 {
		return "{{ " + s.value() + " }}"
	}
	s.depth++
	defer func() { s.depth-- }()
	block := func() string { return s.body(rapid.IntRange(0, 2).Draw(s.t, "block")) }
	switch rapid.IntRange(0, 18).Draw(s.t, "stmt") {
	case 0, 1, 2:
		return "<{{ " + s.value() + " }}>"
	case 3, 4:
		return "{% if " + s.test() + " %}" + block() + "{% else %}" + block() + "{% endif %}"
	case 5:
		return "{% set " + s.pick("x", "y", "i", "m", "rest", "ns.a", "ns.b", "other.a", "alias.a", "local.a") + " = " + s.value() + " %}"
	case 6:
		return "{% for " + s.pick("i", "n", "m", "made") + " in " + s.pick("messages", "rest", "messages[loop.index0:]", "range(3)", "range(loop.index0, messages|length)", "[1, 2]",
			"tools", "messages[:2]", "ns.list", "[m]", "it") + s.pick("", "", " if "+s.test()) + " %}" + block() + s.pick("", "{% break %}", "{% if "+s.test()+" %}{% break %}{% endif %}") +
			s.pick("", "{% else %}"+block()) + "{% endfor %}"
	case 7:
		return "{% set ns.list = ns.list + [" + s.value() + "] %}"
	case 8:
		return "{% set " + s.pick("x", "ns.b") + " %}" + block() + "{% endset %}"
	case 9:
		return "{% call(z) h(" + s.value() + ") %}{{ z }}" + block() + "{% endcall %}"
	case 10:
		return "{% set " + s.pick("alias", "local") + " = " + s.pick("ns", "other", "namespace(a=1)") + " %}"
	case 11:
		return "{% with x = " + s.value() + " %}" + block() + "{% endwith %}"
	case 12:
		return "{% macro f(q) %}" + block() + "{% endmacro %}"
	case 13:
		return "{% filter upper %}" + block() + "{% endfilter %}"
	case 14, 15: // a search
		return "{% for n in " + s.pick("messages", "messages[loop.index0:]", "messages[loop.index:]", "messages[i:]", "rest", "messages[-2:]") + " %}{% if " +
			s.pick("n.role == 'tool'", "'name' in n", "n['role'] != 'user' and 'tool_calls' not in n", "n.tool_calls or not n.content", "n.role == x") +
			" %}{% set " + s.pick("ns.b", "ns.a", "local.a", "other.a") + " = " + s.pick("'found'", "1", "true") + " %}{% endif %}{% endfor %}"
	case 16: // one that counts backwards
		return "{% set local = namespace(go=true, at=0) %}{% for n in " + s.pick("messages[::-1]", "messages") + " %}{% set j = (messages|length - 1) - loop.index0 %}" +
			"{% if local.go and " + s.test() + " %}{% set local.go = false %}{% set local.at = j %}{% endif %}{% endfor %}{{ local.at }}"
	case 17:
		return "{{ k('" + s.pick("a", "b") + "', [1, ['x', " + s.pick("2", "i") + "]]) }}"
	}
	return s.pick("{% continue %}", "{% break %}", "text", "{% set ns.a = ns.a ~ 'x' %}", "{% set ns.a = loop.index0 %}")
}

func (s *script) source() string {
	head := "{% set ns = namespace(a=0, b='', list=[]) %}{% set other = " + s.pick("namespace(a=5)", "ns") + " %}{% set alias = other %}{% set x = " +
		s.pick("'user'", "messages[-1].role", "flag", "messages|length", "namespace(a=2)", "1") + " %}{% set rest = " +
		s.pick("messages", "messages[1:]", "messages[::-1]", "messages + [{'role': 'end'}]", "messages|selectattr('role', 'eq', 'user')|list", "ns.list") + " %}{% set y = 2 %}{% set i = 1 %}" +
		"{% set it = messages|map(attribute='role') %}{% set sep = joiner(',') %}{% set roles = {'user': 'U', 'tool': 1} %}{% set local = namespace(a=3) %}" +
		"{% macro f(q) %}[{{ q.role }}" + s.body(1) + "]{% endmacro %}{% macro g(q) %}{% set x = q %}" + s.body(1) + "{% if q %}{% set ns.b = q %}{% endif %}{{ x }}{% endmacro %}" +
		"{% macro j(q) %}<{{ q }}>{% endmacro %}{% macro k(q, r=[]) %}{% for x in r %}{{ j(x) }}{{ loop.index }}{% endfor %}{{ j(q) }}{% endmacro %}" +
		"{% macro h(q) %}({{ caller(q) if caller else q }}{{ ns.a }}){% endmacro %}"
	b := head
	for range rapid.IntRange(1, 2).Draw(s.t, "loops") {
		b += s.pick("", "", "{{ f(messages[0]) }}", "{{ g(ns.a) }}", "{{ h('k') }}", "{{ k('t') }}", "{% if flag %}{{ f(messages[-1]) }}{% endif %}", "{% set z %}{{ h(ns.b) }}{% endset %}{{ z }}")
		b += "{% for " + s.pick("m", "m", "i", "unasked") + " in " + s.pick("messages", "messages", "rest", "rest", "range(messages|length)", "messages[1:]", "messages|reverse", "it", "tools") +
			s.pick("", "", "", " if "+s.test()) + " %}" + s.body(rapid.IntRange(1, 4).Draw(s.t, "n")) + "{% endfor %}|"
	}
	return b + "{{ ns.a }}{{ ns.b }}{{ other.a }}{{ ns.list|length }}"
}

// Whatever a template does, a Memo does not show.
func TestMemoRandom(t *testing.T) {
	reused, ran := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		src := (&script{t: t}).source()
		tmpl, err := Parse(src)
		if err != nil {
			t.Skip(err)
		}
		t.Log(src)
		c := newTalk(rapid.Bool().Draw(t, "system"), rapid.Bool().Draw(t, "tools"))
		for range rapid.IntRange(0, 2).Draw(t, "before") {
			c.turn(true)
		}
		var m page
		for range rapid.IntRange(2, 6).Draw(t, "steps") {
			c.switches = c.switches.clone()
			c.switches.Set("flag", Bool(rapid.IntRange(0, 3).Draw(t, "flag") > 0))
			c.switches.Set("eos", String("</s>"))
			ctx := c.context()
			if err := differ(tmpl, ctx, &m); err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			checkFresh(t, tmpl, ctx, &m)
			reused, ran = reused+m.reused, ran+m.ran
			c.step(t)
		}
	})
	t.Logf("%d rounds reused, %d run", reused, ran)
}

// differ tells how a rendering with a Memo differs from one without.
func differ(tmpl *Template, ctx Value, m *page) error {
	o := Options{Now: clock, Steps: 1 << 20}
	want, werr := tmpl.Render(nil, ctx, o)
	got, err := m.checked(tmpl, ctx, o)
	if fmt.Sprint(werr) != fmt.Sprint(err) {
		return fmt.Errorf("error with a memo %v, without %v", err, werr)
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("with a memo %q, without %q", got, want)
	}
	return nil
}

// Values that hold one another many times are not compared for ever.
func TestMemoHostile(t *testing.T) {
	tmpl, err := Parse("{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}" +
		"{% for m in messages %}{{ m.content }}{% if ns.l %}{{ ns.l is defined }}{% set x = ns.l %}{% endif %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	c := newTalk(true, true)
	var m page
	for range 3 {
		checkMemo(t, tmpl, c.context(), &m)
		c.turn(true)
	}
}

// FuzzMemo looks for templates that show that there is a Memo.
func FuzzMemo(f *testing.F) {
	for _, c := range language {
		f.Add("{% for m in messages %}" + c.src + "{% endfor %}")
	}
	f.Add("{% set ns = namespace(a=0) %}{% for m in messages %}{% set ns.a = ns.a + loop.index %}{{ ns.a }}{{ messages[loop.index0 - 1].role }}{% endfor %}")
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, err := Parse(src)
		if err != nil {
			return
		}
		c := newTalk(true, true)
		c.turn(true)
		var m page
		for i := range 4 {
			if i == 2 {
				c.messages[1] = Mapping(c.say("user"))
			}
			if err := differ(tmpl, c.context(), &m); err != nil {
				t.Fatal(err)
			}
			c.turn(i%2 == 0)
		}
	})
}
