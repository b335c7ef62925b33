package parsers

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// delimited reads a piece of a string between delimiters, or of another value
// that stands between them too: then the schema says what it is.
func (p *pseudo) delimited(b []byte, last bool) (n int, ok bool) {
	for n < len(b) {
		from := n
		for n < len(b) && !p.stop[b[n]] {
			n++
		}
		if p.told != 0 {
			p.held = append(p.held, b[from:n]...)
		} else {
			p.out = append(p.out, b[from:n]...)
		}
		if n == len(b) {
			break
		}
		switch c := b[n]; {
		case p.told != 0:
		case c == '\\' || c == '"' && c != p.spec.Values.Quote[0]:
			p.out = append(p.out, '\\', c)
			n++
			continue
		case c < ' ':
			p.out = appendEscaped(p.out, c)
			n++
			continue
		}
		switch k, said := p.endsAt(b[n:], last); said {
		case wait:
			return n, false
		case yes:
			p.undelimited()
			p.off = k == 0
			return n + k, true
		}
		if p.told != 0 {
			p.held = append(p.held, b[n])
		} else {
			p.out = append(p.out, b[n])
		}
		n++
	}
	return n, false
}

// undelimited ends what stands between delimiters.
func (p *pseudo) undelimited() {
	if p.told != 0 {
		var f turn.Flaw
		p.out, f = coerce(p.out, p.held, p.told)
		p.o.flaw(f)
	} else {
		p.out = append(p.out, '"')
	}
	p.ended()
}

// endsAt says whether a delimited string ends at the beginning of b: with its
// delimiter, which is k bytes long, or with a marker of the call's end that
// nothing follows, so that the delimiter is missing.
func (p *pseudo) endsAt(b []byte, last bool) (k int, said guess) {
	n, more := meets(b, last, Marks{p.spec.Values.Quote})
	if more {
		return 0, wait
	}
	if n > 0 {
		if said := p.follows(b[n:], last); said != no {
			return n, said
		}
		p.flawed(true)
		return 0, no
	}
	n, more = meets(b, last, p.ends)
	if more {
		return 0, wait
	}
	if n == 0 || len(b)-n > maxAhead || len(bytes.TrimLeft(b[n:], spaces)) > 0 {
		return 0, no
	}
	return 0, short(last)
}

// follows says whether b may stand behind a value: a mark of the syntax, or
// the key of the next.
func (p *pseudo) follows(b []byte, last bool) guess {
	c, here, said := look(b, last)
	if said != yes || len(here) == 0 || bytes.IndexByte([]byte(",}])"), c) >= 0 {
		return said
	}
	if said := p.marked(here, last); said != no {
		return said
	}
	return p.keyFollows(here, last)
}

// keyFollows says whether b begins with a key and its colon.
func (p *pseudo) keyFollows(b []byte, last bool) guess {
	if p.top().close == ']' {
		return no
	}
	if quote, more := p.opener(b, last); more {
		return wait
	} else if quote != "" {
		return yes
	}
	n := 0
	for n < len(b) && n < maxKey && isWord(b[n]) {
		n++
	}
	switch {
	case n == len(b):
		return short(last)
	case n > 0 && (b[n] == ':' || b[n] == '=' && p.top().close == ')'):
		return yes
	}
	return no
}

// quoted reads a piece of a string in JSON's quotes.
func (p *pseudo) quoted(b []byte, last bool) (n int, ok bool) {
	for n < len(b) {
		c := b[n]
		switch {
		case c == p.quote:
			switch p.follows(b[n+1:], last) {
			case wait:
				return n, false
			case yes:
				p.out = append(p.out, '"')
				p.ended()
				return n + 1, true
			}
			p.out = appendText(p.out, b[n:n+1])
		case c == '\\':
			if n+1 == len(b) && !last {
				return n, false
			}
			k, ok := jsonEscape(b[n:], last)
			if !ok {
				return n, false
			}
			p.out = append(p.out, b[n:n+k]...)
			if k == 1 {
				p.out = append(p.out, '\\')
			}
			n += k
			continue
		default:
			p.out = appendText(p.out, b[n:n+1])
		}
		n++
	}
	return n, false
}

// jsonEscape is how long the escape at the beginning of b is, 1 when it is
// none; false means that more is needed.
func jsonEscape(b []byte, last bool) (int, bool) {
	switch {
	case len(b) == 1:
		return 1, last
	case bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) >= 0:
		return 2, true
	case b[1] != 'u':
		return 1, true
	}
	n := 2
	for n < len(b) && n < 6 && isHex(b[n]) {
		n++
	}
	switch {
	case n == 6:
		return 6, true
	case n == len(b) && !last:
		return 0, false
	}
	return 1, true
}

// bare reads a value without delimiters. Its schema says what it is; without
// one, what it looks like.
func (p *pseudo) bare(b []byte, last bool, of *schema) (int, bool) {
	n, said := p.bareEnd(b, last)
	if said == wait {
		return 0, false
	}
	p.comma()
	w := trimEnd(b[:n])
	t := of.types()
	switch {
	case len(w) == 0:
		p.out = append(p.out, "null"...)
		p.flawed(true)
	case t == 0:
		var ok bool
		if p.out, ok = appendPyLiteral(p.out, w); !ok {
			p.out = appendString(p.out, w)
			p.flawed(true)
		}
	default:
		var f turn.Flaw
		if t&typeString == 0 {
			if plain, ok := appendPyLiteral(nil, w); ok {
				w = plain
			}
		}
		p.out, f = coerce(p.out, w, t)
		p.o.flaw(f)
	}
	if p.ended(); n >= maxWord {
		p.off = true
	}
	return n, true
}

// bareEnd finds where a bare value ends: at a mark of the syntax, where a
// comma is none unless a literal stands before it or a key follows.
func (p *pseudo) bareEnd(b []byte, last bool) (int, guess) {
	list := p.top().close == ']'
	n := bareRun(b)
	if n < len(b) && n > 0 && n < maxWord && (b[n] == '}' || b[n] == ']' || b[n] == ',' && list) {
		return n, yes
	}
	for ; n < min(len(b), maxWord); n++ {
		c, said := b[n], no
		switch {
		case c == '}' || c == ']' || c == ')' && p.stack[0].close == ')':
			said = yes
		case c == ',' && (list || isPyLiteral(b[:n])):
			said = yes
		case c == ',':
			_, here, s := look(b[n+1:], last)
			if said = s; s == yes && len(here) > 0 {
				said = p.keyFollows(here, last)
			}
		case p.stop[c]:
			said = p.marked(b[n:], last)
		}
		if said != no {
			return n, said
		}
	}
	if len(b) < maxWord && !last {
		return 0, wait
	}
	return min(len(b), maxWord), yes
}
