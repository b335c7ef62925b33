package prompt

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// appendPython appends the JSON value raw as Python's json module prints it,
// which is what chat templates call tojson: ", " and ": " between parts, keys
// in the order they came, text unescaped where JSON allows. ok is false, and
// nothing appended, when raw is no JSON value.
func appendPython(dst, raw []byte) (out []byte, ok bool) {
	p := printer{canon: canon{s: bytes.TrimSpace(raw)}, dst: dst}
	if !p.value(0) {
		return dst, false
	}
	if p.space(); p.i != len(p.s) {
		return dst, false
	}
	return p.dst, true
}

// printer reads one JSON value and prints it anew on the way.
type printer struct {
	canon
	dst []byte
}

func (p *printer) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch {
	case p.take('{'):
		return p.list('{', '}', depth)
	case p.take('['):
		return p.list('[', ']', depth)
	case p.take('"'):
		return p.str()
	}
	return p.scalar()
}

// list prints an object or an array whose opening is consumed.
func (p *printer) list(open, end byte, depth int) bool {
	p.dst = append(p.dst, open)
	for first := true; !p.take(end); first = false {
		if !first {
			if !p.take(',') {
				return false
			}
			p.dst = append(p.dst, ", "...)
		}
		if open == '{' {
			if !p.take('"') || !p.str() || !p.take(':') {
				return false
			}
			p.dst = append(p.dst, ": "...)
		}
		if !p.value(depth + 1) {
			return false
		}
	}
	p.dst = append(p.dst, end)
	return true
}

// str prints a string whose opening quote is consumed.
func (p *printer) str() bool {
	end, escaped := stringEnd(p.s, p.i)
	if end < 0 {
		return false
	}
	s := p.s[p.i:end]
	p.i = end + 1
	if escaped {
		p.buf = appendUnescaped(slices.Grow(p.buf[:0], len(s)), s)
		s = p.buf
	}
	p.dst = appendQuoted(p.dst, s)
	return true
}

// scalar prints a number or a word. Integers keep their digits; other numbers
// are printed as a Python float.
func (p *printer) scalar() bool {
	from := p.i
	for p.i < len(p.s) && bytes.IndexByte([]byte(",]}: \t\r\n\"{["), p.s[p.i]) < 0 {
		p.i++
	}
	w := p.s[from:p.i]
	switch string(w) {
	case "true", "false", "null":
		p.dst = append(p.dst, w...)
		return true
	case "-0":
		p.dst = append(p.dst, '0')
		return true
	}
	if !isNumber(w) {
		return false
	}
	if !bytes.ContainsAny(w, ".eE") {
		p.dst = append(p.dst, w...)
		return true
	}
	f, err := strconv.ParseFloat(string(w), 64)
	if err != nil && !math.IsInf(f, 0) {
		return false
	}
	p.dst = appendPyFloat(p.dst, f)
	return true
}

// isNumber reports whether w is a JSON number.
func isNumber(w []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(w) && w[i] >= '0' && w[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(w) && w[i] == '-' {
		i++
	}
	if i+1 < len(w) && w[i] == '0' && w[i+1] >= '0' && w[i+1] <= '9' || !digits() {
		return false
	}
	if i < len(w) && w[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(w) && (w[i] == 'e' || w[i] == 'E') {
		if i++; i < len(w) && (w[i] == '+' || w[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(w)
}

// appendPyFloat prints f as Python's repr does: the shortest digits that read
// back, with an exponent below 1e-4 and from 1e16 on.
func appendPyFloat(dst []byte, f float64) []byte {
	switch a := math.Abs(f); {
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[n:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendQuoted appends s as a JSON string, escaping only what it must.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscape(dst, c)
		from = i + 1
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// appendEscape appends the escape of c.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(append(dst, `\u00`...), hex[c>>4], hex[c&15])
}
