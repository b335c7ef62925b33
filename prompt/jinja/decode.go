package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// deepest is how far JSON may nest, and how deep values are compared and
// printed.
const deepest = 500

// Decode makes a value of one JSON document. Objects keep their order; the
// last of equal keys wins and keeps the place of the first. A lone surrogate
// becomes U+FFFD. The value's strings share one buffer; nothing of data is
// kept.
func Decode(data []byte) (Value, error) {
	d := &decoder{s: unsafe.String(unsafe.SliceData(data), len(data)), buf: make([]byte, 0, len(data))}
	v, err := d.value(0)
	if err != nil {
		return Value{}, fmt.Errorf("decode json at byte %d: %w", d.i, err)
	}
	if d.space(); d.i < len(d.s) {
		return Value{}, fmt.Errorf("decode json at byte %d: text after the value", d.i)
	}
	return v, nil
}

type decoder struct {
	s     string
	i     int
	buf   []byte  // of the strings; it has room for all of them
	stack []Value // members of the lists and objects under way
}

var errEnd = errors.New("unexpected end")

func (d *decoder) space() {
	for d.i < len(d.s) && (d.s[d.i] == ' ' || d.s[d.i] == '\n' || d.s[d.i] == '\t' || d.s[d.i] == '\r') {
		d.i++
	}
}

// next is the next byte that is no white space, 0 at the end.
func (d *decoder) next() byte {
	if d.space(); d.i < len(d.s) {
		return d.s[d.i]
	}
	return 0
}

func (d *decoder) value(depth int) (Value, error) {
	if depth > deepest {
		return Value{}, fmt.Errorf("nested deeper than %d: %w", deepest, ErrLimit)
	}
	switch c := d.next(); c {
	case 0:
		return Value{}, errEnd
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		s, err := d.str()
		return String(s), err
	case 't':
		return d.word("true", yes)
	case 'f':
		return d.word("false", no)
	case 'n':
		return d.word("null", none)
	}
	return d.num()
}

func (d *decoder) word(w string, v Value) (Value, error) {
	if !strings.HasPrefix(d.s[d.i:], w) {
		return Value{}, errors.New("unexpected character")
	}
	d.i += len(w)
	return v, nil
}

func (d *decoder) object(depth int) (Value, error) {
	d.i++
	if d.next() == '}' {
		d.i++
		return Mapping(&Map{}), nil
	}
	from := len(d.stack)
	for {
		if d.next() != '"' {
			return Value{}, errors.New("expected a key")
		}
		k, err := d.str()
		if err != nil {
			return Value{}, err
		}
		if d.next() != ':' {
			return Value{}, errors.New("expected a colon")
		}
		d.i++
		d.stack = append(d.stack, String(k))
		v, err := d.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		d.stack = append(d.stack, v)
		more, err := d.more('}')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	m := NewMap((len(d.stack) - from) / 2)
	for i := from; i < len(d.stack); i += 2 {
		m.Set(d.stack[i].str(), d.stack[i+1])
	}
	d.stack = d.stack[:from]
	return Mapping(m), nil
}

func (d *decoder) array(depth int) (Value, error) {
	d.i++
	if d.next() == ']' {
		d.i++
		return List([]Value{}...), nil
	}
	from := len(d.stack)
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		d.stack = append(d.stack, v)
		more, err := d.more(']')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	vs := append(make([]Value, 0, len(d.stack)-from), d.stack[from:]...)
	d.stack = d.stack[:from]
	return List(vs...), nil
}

// more reads a comma, or the end of a list or object.
func (d *decoder) more(end byte) (bool, error) {
	switch d.next() {
	case ',':
		d.i++
		return true, nil
	case end:
		d.i++
		return false, nil
	case 0:
		return false, errEnd
	}
	return false, errors.New("expected a comma")
}

func (d *decoder) str() (string, error) {
	d.i++
	start := len(d.buf)
	for {
		from := d.i
		d.i = special(d.s, from)
		d.buf = append(d.buf, d.s[from:d.i]...)
		if d.i >= len(d.s) {
			return "", errEnd
		}
		switch d.s[d.i] {
		case '"':
			d.i++
			s := d.buf[start:]
			if !utf8.Valid(s) {
				d.buf = d.buf[:start]
				return strings.ToValidUTF8(string(s), "\ufffd"), nil
			}
			return unsafe.String(unsafe.SliceData(s), len(s)), nil
		case '\\':
			if err := d.escape(); err != nil {
				return "", err
			}
		default:
			return "", errors.New("control character in a string")
		}
	}
}

// special is the place from i on of the first quote, backslash or control
// character, or the end.
func special(s string, i int) int {
	for {
		i = plainJSON(s, i)
		for end := min(i+8, len(s)); i < end; i++ {
			if c := s[i]; c < ' ' || c == '"' || c == '\\' {
				return i
			}
		}
		if i == len(s) {
			return i
		}
	}
}

// escape reads what a backslash begins.
func (d *decoder) escape() error {
	if d.i++; d.i >= len(d.s) {
		return errEnd
	}
	c := d.s[d.i]
	d.i++
	if c == 'u' {
		r, err := d.hex()
		d.buf = utf8.AppendRune(d.buf, r)
		return err
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return errors.New("unknown escape")
	}
	d.buf = append(d.buf, "\"\\/\b\f\n\r\t"[i])
	return nil
}

// hex reads the digits after \u, of a surrogate pair both halves.
func (d *decoder) hex() (rune, error) {
	r, err := d.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(d.s[d.i:], `\u`) {
		back := d.i
		d.i += 2
		low, err := d.hex4()
		if err != nil {
			return 0, err
		}
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, nil
		}
		d.i = back
	}
	return utf8.RuneError, nil
}

func (d *decoder) hex4() (rune, error) {
	if d.i+4 > len(d.s) {
		return 0, errEnd
	}
	n, err := strconv.ParseUint(d.s[d.i:d.i+4], 16, 16)
	if err != nil {
		return 0, errors.New("expected four hexadecimal digits")
	}
	d.i += 4
	return rune(n), nil
}

func (d *decoder) num() (Value, error) {
	from := d.i
	for d.i < len(d.s) && strings.IndexByte("+-.eE0123456789", d.s[d.i]) >= 0 {
		d.i++
	}
	t := d.s[from:d.i]
	if t == "" || !validNumber(t) {
		return Value{}, errors.New("unexpected character")
	}
	if strings.ContainsAny(t, ".eE") {
		f, err := strconv.ParseFloat(t, 64)
		if err != nil && !math.IsInf(f, 0) {
			return Value{}, err
		}
		return Float(f), nil
	}
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		return Int(n), nil
	}
	if len(t) > longestInt {
		return Value{}, fmt.Errorf("integer of %d digits: %w", len(t), ErrLimit)
	}
	b, _ := new(big.Int).SetString(t, 10)
	return integer(b), nil
}

// longestInt is how many digits an integer may have, Python's own limit.
const longestInt = 4300

// validNumber checks a text against JSON's grammar of numbers.
func validNumber(t string) bool {
	digits := func() bool {
		n := 0
		for n < len(t) && t[n] >= '0' && t[n] <= '9' {
			n++
		}
		t = t[n:]
		return n > 0
	}
	t = strings.TrimPrefix(t, "-")
	if strings.HasPrefix(t, "0") {
		t = t[1:]
	} else if !digits() {
		return false
	}
	if strings.HasPrefix(t, ".") {
		if t = t[1:]; !digits() {
			return false
		}
	}
	if t != "" && (t[0] == 'e' || t[0] == 'E') {
		if t = t[1:]; t != "" && (t[0] == '+' || t[0] == '-') {
			t = t[1:]
		}
		return digits() && t == ""
	}
	return t == ""
}
