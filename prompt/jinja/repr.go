package jinja

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// text is Python's str() of a value.
func (r *run) text(v Value) (string, error) {
	switch v.kind {
	case kString:
		return v.str(), nil
	case kMissing, kUndefined:
		return "", nil
	}
	b, err := r.appendRepr(nil, v, 0)
	return string(b), err
}

// appendText appends str() of a value.
func (r *run) appendText(dst []byte, v Value) ([]byte, error) {
	switch v.kind {
	case kString:
		return append(dst, v.str()...), nil
	case kMissing, kUndefined:
		return dst, nil
	}
	return r.appendRepr(dst, v, 0)
}

// print writes str() of a value.
func (r *run) print(v Value) error {
	switch v.kind {
	case kString:
		r.put(v.str())
		return nil
	case kMissing, kUndefined:
		return nil
	}
	b, err := r.appendRepr(r.desk.scratch[:0], v, 0)
	r.desk.scratch = b[:0]
	r.put(unsafe.String(unsafe.SliceData(b), len(b)))
	return err
}

// appendRepr appends repr() of a value.
func (r *run) appendRepr(dst []byte, v Value, depth int) ([]byte, error) {
	if depth > deepest {
		return dst, tooDeep()
	}
	if err := r.take(16 + len(v.str())); err != nil {
		return dst, err
	}
	switch v.kind {
	case kList:
		return r.appendItems(dst, "[", v.items(), "]", depth)
	case kTuple:
		if len(v.items()) == 1 {
			return r.appendItems(dst, "(", v.items(), ",)", depth)
		}
		return r.appendItems(dst, "(", v.items(), ")", depth)
	case kMap:
		return r.appendEntries(dst, v.mapping(), depth)
	case kNamespace:
		dst = append(dst, "<Namespace "...)
		dst, err := r.appendEntries(dst, v.mapping(), depth+1)
		return append(dst, '>'), err
	case kView:
		w := as[view](v)
		vs, err := w.values(r)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, w.name...), '(')
		dst, err = r.appendItems(dst, "[", vs, "]", depth)
		return append(dst, ')'), err
	}
	return append(dst, repr(v)...), nil
}

func (r *run) appendItems(dst []byte, open string, vs []Value, end string, depth int) ([]byte, error) {
	if err := r.spend(len(vs)); err != nil {
		return dst, err
	}
	dst = append(dst, open...)
	for i, v := range vs {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var err error
		if dst, err = r.appendRepr(dst, v, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, end...), nil
}

func (r *run) appendEntries(dst []byte, m *Map, depth int) ([]byte, error) {
	if err := r.spend(m.Len()); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i := range m.keys {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var err error
		if dst, err = r.appendRepr(dst, m.keys[i], depth+1); err != nil {
			return dst, err
		}
		dst = append(dst, ": "...)
		if dst, err = r.appendRepr(dst, m.vals[i], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// repr is repr() of a value without members.
func repr(v Value) string {
	switch v.kind {
	case kNone:
		return "None"
	case kBool:
		if v.n != 0 {
			return "True"
		}
		return "False"
	case kInt:
		return strconv.FormatInt(v.n, 10)
	case kBig:
		return v.big().String()
	case kFloat:
		return floatText(v.float())
	case kString:
		if v.safe {
			return "Markup(" + quote(v.str()) + ")"
		}
		return quote(v.str())
	case kRange:
		return as[span](v).repr()
	case kMacro:
		return "<Macro " + quote(as[macro](v).decl.name) + ">"
	case kLoop:
		l := as[loop](v)
		return "<LoopContext " + strconv.Itoa(l.index+1) + "/" + strconv.Itoa(l.index+1) + ">"
	case kIter:
		return "<" + typeName(v) + " object>"
	case kFunc:
		return "<function " + as[function](v).name + ">"
	case kMissing, kUndefined:
		return "Undefined"
	}
	return "<" + typeName(v) + ">"
}

// floatText is Python's repr() of a float: the shortest digits that read back,
// with an exponent outside of 1e-4 to 1e16.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote is repr() of a string.
func quote(s string) string {
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		q = '"'
	}
	b := make([]byte, 0, len(s)+2)
	b = append(b, q)
	for _, c := range s {
		switch {
		case c == rune(q) || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c >= ' ' && c < 0x7f || c > 0x7f && unicode.IsPrint(c):
			b = utf8.AppendRune(b, c)
		case c <= 0xff:
			b = append(append(b, `\x`...), hexDigits(c, 2)...)
		case c <= 0xffff:
			b = append(append(b, `\u`...), hexDigits(c, 4)...)
		default:
			b = append(append(b, `\U`...), hexDigits(c, 8)...)
		}
	}
	return string(append(b, q))
}

func hexDigits(c rune, width int) string {
	h := strconv.FormatInt(int64(c), 16)
	return strings.Repeat("0", max(0, width-len(h))) + h
}

// quoteKey makes the parts of a tuple's key unmistakable.
func quoteKey(k key) string { return strconv.FormatInt(k.n, 16) + strconv.Quote(k.s) }
