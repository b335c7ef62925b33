package jinja

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
)

// reference renders templates with Python's Jinja2.
func reference(t *testing.T, cases [][2]any) []answer {
	t.Helper()
	python := fixtures.Python(t, "jinja2", "jinja2")
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "ignore", "testdata/reference.py")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

const world = `{"s":"Hello Wörld","t":" a b  c ","n":7,"z":0,"f":2.5,"big":123456789012345678901234567890,"yes":true,"nil":null,
"l":[3,1,2],"w":["b","A","c","a"],"m":{"name":"x","items":[1,2],"k":null,"n":1.0},"e":[],"d":{},"html":"<a href='x'>&</a>",
"rows":[{"a":1,"b":"x","c":{"d":2}},{"a":2,"b":"Y","c":{"d":1}},{"a":1,"b":"y"}]}`

func compareWithReference(t *testing.T, templates []string) {
	t.Helper()
	ctx, err := Decode([]byte(world))
	if err != nil {
		t.Fatal(err)
	}
	cases := make([][2]any, len(templates))
	for i, s := range templates {
		cases[i] = [2]any{s, json.RawMessage(world)}
	}
	faults, words := 0, 0
	for i, want := range reference(t, cases) {
		if want.Out != nil && strings.Contains(strings.ToLower(*want.Out), " 0x") {
			continue // an address
		}
		var got []byte
		tmpl, err := Parse(templates[i])
		if err == nil {
			got, err = tmpl.Render(nil, ctx, Options{Now: clock})
		}
		if fault := differs(want, string(got), err); fault != "" {
			if faults++; faults < 40 {
				t.Errorf("%s: %s", templates[i], fault)
			}
		} else if want.Out == nil && shown(err) != want.Err {
			if words++; words < 10 {
				t.Logf("%s: in other words: %q, reference %q", templates[i], shown(err), want.Err)
			}
		}
	}
	t.Logf("%d templates, %d differ, %d errors in other words", len(templates), faults, words)
}

// Random expressions mean what they mean in Python.
func TestReference(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("DYN_SEED"), 10, 64)
	g := &gen{rand.New(rand.NewPCG(1, seed))}
	var templates []string
	for _, c := range language {
		templates = append(templates, c.src)
	}
	for range 400 {
		templates = append(templates, "{{ "+g.expr(3)+" }}")
	}
	for range 80 {
		templates = append(templates, g.body(2))
	}
	compareWithReference(t, templates)
}

// gen makes random templates.
type gen struct{ r *rand.Rand }

func (g *gen) pick(list string) string {
	words := strings.Split(list, " ")
	return words[g.r.IntN(len(words))]
}

func (g *gen) atom() string {
	switch g.r.IntN(5) {
	case 0:
		return g.pick(`'a' 'b,c' '' 'Ab\nc' "it's" 1 2 0 -3 1.5 1e20 true none [] {} [1,2] ('a',) {'a':1}`)
	case 1:
		return g.pick("missing m.name m.none m.n rows[0] rows[0].c rows[1]['b'] l[0] l[-1] l[9] s[1] s[-2] m.items() m.get('name')")
	}
	return g.pick("s t n z f big yes nil l w m e d html rows s n l m")
}

func (g *gen) expr(depth int) string {
	if depth == 0 {
		return g.atom()
	}
	x := func() string { return g.expr(depth - 1) }
	switch g.r.IntN(10) {
	case 0:
		return "(" + x() + ") " + g.pick("+ - * / // % ~ == != < > <= >= in and or") + " (" + x() + ")"
	case 1, 2, 3:
		return "(" + x() + ")|" + g.filter()
	case 4:
		return "(" + x() + ") is " + g.pick("defined undefined none string number mapping iterable sequence true false boolean integer float "+
			"odd even lower upper callable eq(1) in([1,'a']) divisibleby(2) sameas(none) ge(1) escaped")
	case 5:
		return "(" + x() + ")" + g.pick("[0] [-1] ['a'] .a .name .items()")
	case 6:
		return g.pick("s t html 'aXbXc' '' m.name") + "." + g.method()
	case 7:
		return g.pick("s l w rows t html nil n m") + g.pick("[1:] [:2] [::-1] [1:3] [::2] [-2:] [2:0:-1] [:-1] [-9:9]")
	case 8:
		return x() + " if " + x() + " else " + x()
	}
	return x()
}

func (g *gen) filter() string {
	return g.pick("length trim upper lower string list first last default('x') default('x',true) join join(',') join('-',attribute='a') tojson " +
		"tojson(indent=2) tojson(ensure_ascii=true) tojson(sort_keys=true) tojson(separators=(',',':')) int float abs round round(1) round(1,'floor') " +
		"sort sort(reverse=true) sort(attribute='b') sort(attribute='a,b') unique unique|list map('upper')|list map(attribute='a')|list " +
		"map(attribute='c.d',default=0)|list selectattr('c')|list selectattr('a','eq',1)|list rejectattr('c','defined')|list select|list " +
		"select('string')|list reject('none')|list items|list dictsort dictsort(by='value') dictsort(true) reverse reverse|list replace('a','Q') " +
		"capitalize title indent indent(2,true) batch(2)|list batch(2,'z')|list slice(2)|list sum sum(attribute='a') min max min(attribute='a') " +
		"groupby('a')|list format(1) safe e safe|upper count center(20) truncate(5) truncate(5,true,'') attr('name') int(3) float(1.5) " +
		"map('int')|list map('default','x')|join first|string trim('a') items")
}

func (g *gen) method() string {
	return g.pick("upper() lower() strip() strip('ab') lstrip() rstrip('c ') split() split('X') split('X',1) rsplit('X',1) rsplit(none,1) split('')|length " +
		"startswith('a') endswith(('c','d')) replace('X','--') replace('X','-',1) find('X') rfind('X') find('X',2) count('X') title() capitalize() " +
		"isdigit() isalpha() isupper() islower() isspace() isalnum() splitlines() partition('X') rpartition('X') join(['a','b']) join('abc') zfill(9) " +
		"ljust(9,'.') rjust(9) center(10,'*') swapcase() removeprefix('a') removesuffix('c') format(1,2) index('X') casefold() expandtabs() istitle() nope()")
}

// body makes random statements.
func (g *gen) body(depth int) string {
	var b strings.Builder
	for range 1 + g.r.IntN(3) {
		b.WriteString(g.pick("x \n \t\n_ ,\n\n._ \n__ [{}] a"))
		if depth == 0 {
			fmt.Fprintf(&b, "{{%s %s %s}}", g.pick("- + _ _"), g.pick("v x y n loop.index loop.last i ns.a"), g.pick("- _ _"))
			continue
		}
		in, x := g.body(depth-1), g.expr(1)
		l, e := g.pick("- + _ _ _"), g.pick("- + _ _ _")
		tag := func(s string) string { return "{%" + l + " " + s + " " + e + "%}" }
		v := g.pick("v x y n")
		switch g.r.IntN(9) {
		case 0:
			b.WriteString(tag("if "+x) + in + tag("else") + g.body(depth-1) + tag("endif"))
		case 1:
			b.WriteString(tag("for "+v+" in "+g.pick("l w e range(3) m s [1,2] rows|map(attribute='a')")) + in + tag("endfor"))
		case 2:
			b.WriteString(tag("for i in l if i > 1") + in + tag("else") + "none" + tag("endfor"))
		case 3:
			b.WriteString(tag("set "+v+" = "+x) + in)
		case 4:
			b.WriteString(tag("set "+v) + in + tag("endset") + "{{ " + v + " }}")
		case 5:
			b.WriteString(tag("macro f(x, y="+v+")") + in + tag("endmacro") + "{{ f(1) }}{{ f(" + v + ", y=2) }}")
		case 6:
			b.WriteString(tag("set ns = namespace(a=1)") + tag("for i in range(2)") + tag("set ns.a = ns.a + i") + in + tag("endfor") + "{{ ns.a }}")
		case 7:
			b.WriteString("{#" + l + " note " + e + "#}\n" + tag("filter upper") + in + tag("endfilter") + tag("with "+v+" = "+x) + in + tag("endwith"))
		case 8:
			b.WriteString(tag("for v in range(4)") + in + tag("if v == 2") + tag(g.pick("break continue")) + tag("endif") + tag("endfor") +
				tag("generation") + in + tag("endgeneration"))
		}
	}
	return strings.NewReplacer("{{_", "{{", "_}}", "}}", "{%_", "{%", "_%}", "%}", "{#_", "{#", "_#}", "#}", "_", " ").Replace(b.String())
}
