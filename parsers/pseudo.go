package parsers

import (
	"bytes"
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// pseudo reads calls written as name{key:value,…}, where strings stand between
// delimiters with nothing escaped in them, and keys and other values are bare.
// The delimiter ends a string only where a mark of the syntax follows it.
//
// A known tool's arguments may stand in parentheses. Keys and strings in
// JSON's quotes are read too, as is an object in braces too many.
type pseudo struct {
	o    *out
	spec *Spec
	on   *tools
	ends []string   // markers that end the call or the section
	stop *[256]bool // bytes that need a look inside a delimited string

	at    pseudoAt
	off   bool // nothing goes on
	extra int  // braces too many
	stack []pseudoLevel
	seen  []string // keys of the arguments
	quote byte     // of a string in JSON's quotes
	told  types    // of a value that stands between delimiters and is no string; 0 is a string
	held  []byte   // such a value
	skip  int      // the depth of a value that is dropped, its key being there already; 0 is none
	out   []byte   // of the arguments, not yet handed on
}

// pseudoAt says what a pseudo reader expects.
type pseudoAt uint8

const (
	psName  pseudoAt = iota
	psKey            // a key, or the object's end
	psValue          // the value of a key
	psItem           // an item, or the list's end
	psDelimited
	psQuoted
	psBehind // a comma, or the container's end
	psTail   // where braces too many are closed
	psDone
)

// pseudoLevel is an open container.
type pseudoLevel struct {
	close byte // what ends it
	n     int  // keys or items so far
	of    *schema
	value *schema // of the value under way
}

// newPseudo returns a reader of such calls.
func newPseudo(spec *Spec, on *tools) *pseudo {
	ends := slices.Concat(spec.Call.Close, spec.Section.Close)
	p := &pseudo{spec: spec, on: on, ends: ends}
	p.stop = stops(append(slices.Clone([]string(ends)), spec.Values.Quote))
	p.stop['\''] = false
	return p
}

func (p *pseudo) begin(o *out) {
	p.o, p.at, p.off, p.extra = o, psName, false, 0
	p.stack, p.seen, p.out, p.skip = p.stack[:0], p.seen[:0], p.out[:0], 0
}

func (p *pseudo) read(b []byte, last bool) (n int, said progress) {
	for p.at != psDone && !p.off {
		k, ok := p.step(b[n:], last)
		n += k
		if !ok {
			p.hand()
			return n, more
		}
	}
	p.hand()
	if p.off {
		return n, broken
	}
	return n, whole
}

// hand hands on the arguments that are settled.
func (p *pseudo) hand() {
	if len(p.out) > 0 && p.skip == 0 {
		p.o.args(p.out)
		p.out = p.out[:0]
	}
}

// step reads a piece; false means that more is needed.
func (p *pseudo) step(b []byte, last bool) (int, bool) {
	switch p.at {
	case psDelimited:
		return p.delimited(b, last)
	case psQuoted:
		return p.quoted(b, last)
	case psTail:
		return p.tail(b, last)
	}
	n := 0
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	if n > 0 || len(b) == 0 {
		return n, n < len(b)
	}
	if p.at == psName {
		return p.name(b, last)
	}
	if said := p.marked(b, last); said == wait {
		return 0, false
	} else if said == yes {
		p.off = true
		return 0, true
	}
	switch p.at {
	case psKey:
		return p.key(b, last)
	case psBehind:
		return p.behind(b), true
	}
	return p.value(b, last)
}

// marked looks for a marker of the call's end.
func (p *pseudo) marked(b []byte, last bool) guess {
	if len(b) == 0 || !p.stop[b[0]] {
		return no
	}
	n, more := meets(b, last, p.ends)
	switch {
	case n > 0:
		return yes
	case more:
		return wait
	}
	return no
}

// name reads what stands before the arguments.
func (p *pseudo) name(b []byte, last bool) (int, bool) {
	from := 0
	if pre := p.spec.Call.Prefix; hasPrefix(b, pre) {
		from = len(pre)
	} else if begun(b, pre) && !last {
		return 0, false
	}
	from += blank(b[from:])
	n := from
	for n < len(b) && n < maxKey+from && isCallName(b[n]) {
		n++
	}
	name, known := p.on.find(string(b[from:n]))
	after := n + blank(b[n:])
	switch {
	case after == len(b) && !last:
		return 0, false
	case n == from || after == len(b):
	case b[after] == '{', b[after] == '(' && known:
		p.o.name(name, "")
		p.push(b[after], p.on.params(name))
		return after + 1, true
	default:
		said := p.marked(b[after:], last)
		if said == wait {
			return 0, false
		}
		if said == yes {
			p.o.name(name, "")
			p.o.flaw(turn.Repaired)
			p.out = append(p.out, "{}"...)
			p.at = psDone
			return after, true
		}
	}
	p.off = true
	return 0, true
}

// push opens a container.
func (p *pseudo) push(c byte, of *schema) {
	l := pseudoLevel{close: '}', of: of}
	switch c {
	case '[':
		l.close = ']'
	case '(':
		l.close = ')'
	}
	p.stack = append(p.stack, l)
	if c == '[' {
		p.out, p.at = append(p.out, '['), psItem
	} else {
		p.out, p.at = append(p.out, '{'), psKey
	}
}

func (p *pseudo) top() *pseudoLevel { return &p.stack[len(p.stack)-1] }

// key reads a key and its colon.
func (p *pseudo) key(b []byte, last bool) (int, bool) {
	l := p.top()
	switch c := b[0]; {
	case c == '}' || c == ']' || c == ')':
		return p.close(c), true
	case c == '{' && l.n == 0 && len(p.stack) == 1:
		p.extra++
		p.flawed(true)
		return 1, true
	case c == ',' || c == ';' || c == '{' || c == ':' || c == '=':
		p.flawed(c != ',')
		return 1, true
	}
	key, n, said := p.keyText(b, last)
	if said == wait {
		return 0, false
	}
	if said == no { // no colon: what stands there has no value
		p.flawed(true)
		p.keyed(key)
		p.out = append(p.out, "null"...)
		p.ended()
		return n, true
	}
	p.keyed(key)
	p.at = psValue
	return n, true
}

// flawed notes that something was not as it should be.
func (p *pseudo) flawed(is bool) {
	if is {
		p.o.flaw(turn.Repaired)
	}
}

// keyText reads the text of a key, between delimiters, in quotes or bare, and
// the colon behind it. It says no where there is no colon.
func (p *pseudo) keyText(b []byte, last bool) (key []byte, n int, said guess) {
	quote, wait := p.opener(b, last)
	if wait {
		return nil, 0, short(false)
	}
	in := b[:min(len(b), maxHead)]
	if quote == "" {
		n = bytes.IndexAny(in, ":=,{}[]()")
	} else if n = bytes.Index(in[len(quote):], []byte(quote)); n >= 0 {
		n += len(quote)
	}
	switch {
	case n >= 0:
	case len(in) == maxHead || last:
		return in, len(in), no
	default:
		return nil, 0, short(false)
	}
	key = bytes.TrimRight(b[len(quote):n], spaces)
	n += len(quote)
	if quote != "" {
		c, here, said := look(b[n:], false)
		if said != yes {
			return key, n, unless(last)
		}
		if c != ':' && c != '=' {
			return key, n, no
		}
		return key, len(b) - len(here) + 1, yes
	}
	if b[n] == ':' || b[n] == '=' && p.top().close == ')' {
		return key, n + 1, yes
	}
	return key, max(n, 1), no
}

// opener is what opens a string here: the delimiter, a quote, or nothing.
func (p *pseudo) opener(b []byte, last bool) (quote string, wait bool) {
	if !p.stop[b[0]] && b[0] != '\'' {
		return "", false
	}
	n, wait := meets(b, last, Marks{p.spec.Values.Quote})
	switch {
	case n > 0 || wait:
		return p.spec.Values.Quote, wait
	case b[0] == '"' || b[0] == '\'':
		return string(b[:1]), false
	}
	return "", false
}

// keyed writes a key. The first of several in the arguments wins.
func (p *pseudo) keyed(key []byte) {
	l := p.top()
	of, _ := l.of.property(string(key))
	l.value = of
	if len(p.stack) == 1 {
		if slices.Contains(p.seen, string(key)) {
			p.flawed(true)
			p.hand()
			p.skip = 1
		} else {
			p.seen = append(p.seen, string(key))
		}
	}
	if p.skip == 0 {
		if l.n > 0 {
			p.out = append(p.out, ',')
		}
		l.n++
	}
	p.out = append(appendString(p.out, key), ':')
}

// ended goes on behind a whole value.
func (p *pseudo) ended() {
	p.at = psBehind
	if p.skip > 0 && len(p.stack) == p.skip {
		p.out, p.skip = p.out[:0], 0
	}
}

// value begins a value.
func (p *pseudo) value(b []byte, last bool) (int, bool) {
	l := p.top()
	of := l.value
	if p.at == psItem {
		if c := b[0]; c == ',' || c == ';' {
			return 1, true
		} else if c == '}' || c == ']' || c == ')' {
			return p.close(c), true
		}
		of = l.of.item()
	}
	quote, wait := p.opener(b, last)
	if wait {
		return 0, false
	}
	c := b[0]
	switch {
	case (c == '{' || c == '[') && len(p.stack) == maxDepth:
		p.off = true
		return 0, true
	case quote == "" && c != '{' && c != '[':
		return p.bare(b, last, of)
	}
	p.comma()
	switch {
	case quote != "" && quote == p.spec.Values.Quote:
		p.at = psDelimited
		if p.told = of.types(); p.told&typeString == 0 && p.told != 0 {
			p.held = p.held[:0]
			return len(quote), true
		}
		p.out, p.told = append(p.out, '"'), 0
		return len(quote), true
	case quote != "":
		p.flawed(true)
		p.quote = c
		p.out, p.at = append(p.out, '"'), psQuoted
		return 1, true
	}
	p.push(c, of)
	return 1, true
}

// comma writes what stands before an item.
func (p *pseudo) comma() {
	if p.at != psItem {
		return
	}
	l := p.top()
	if l.n > 0 {
		p.out = append(p.out, ',')
	}
	l.n++
}

// behind reads what stands behind a value and returns how many bytes that is.
// A comma may be missing.
func (p *pseudo) behind(b []byte) int {
	c := b[0]
	if c == '}' || c == ']' || c == ')' {
		return p.close(c)
	}
	p.at = psKey
	if p.top().close == ']' {
		p.at = psItem
	}
	if c == ',' {
		return 1
	}
	p.flawed(true)
	if c == ':' || c == ';' {
		return 1
	}
	return 0
}

// close ends containers up to the one that c closes. What fits none is
// dropped.
func (p *pseudo) close(c byte) int {
	n := len(p.stack) - 1
	for n >= 0 && p.stack[n].close != c {
		n--
	}
	p.flawed(n < len(p.stack)-1)
	for n >= 0 && len(p.stack) > n {
		p.pop()
	}
	return 1
}

// pop ends the innermost container.
func (p *pseudo) pop() {
	if p.at == psValue {
		p.out = append(p.out, "null"...)
		p.flawed(true)
		p.ended()
	}
	end := byte('}')
	if p.top().close == ']' {
		end = ']'
	}
	p.stack = p.stack[:len(p.stack)-1]
	p.out = append(p.out, end)
	if p.ended(); len(p.stack) > 0 {
		return
	}
	if p.at = psDone; p.extra > 0 {
		p.at = psTail
	}
}

// tail reads what closes braces too many.
func (p *pseudo) tail(b []byte, last bool) (int, bool) {
	c, here, said := look(b, last)
	switch {
	case said == wait:
		return 0, false
	case len(here) == 0 || c != '}' && c != ')':
		p.at = psDone
		return 0, true
	}
	if p.extra--; p.extra == 0 {
		p.at = psDone
	}
	return len(b) - len(here) + 1, true
}

func (p *pseudo) finish(cut bool) bool {
	if !p.o.said || cut || p.at >= psTail {
		return p.o.said
	}
	p.flawed(true)
	switch {
	case p.at == psDelimited:
		p.undelimited()
	case p.at == psQuoted:
		p.out = append(p.out, '"')
		p.ended()
	}
	for len(p.stack) > 0 {
		p.pop()
	}
	p.hand()
	return true
}

// next looks for another call that stands right behind the last.
func (p *pseudo) next(b []byte, last bool) (int, progress) {
	n := blank(b)
	pre := p.spec.Call.Prefix
	switch {
	case pre == "":
	case hasPrefix(b[n:], pre):
		return n, whole
	case begun(b[n:], pre) && !last:
		return 0, more
	}
	return 0, broken
}
