package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// verb is one conversion of a format: flags, width, precision, letter.
type verb struct {
	minus, plus, blank, zero, sharp bool
	width, prec                     int // prec -1 where it is left out
	letter                          byte
}

// format is Python's text % values.
func (r *run) format(text, with Value) (Value, error) {
	vals := []Value{with}
	if with.kind == kTuple {
		vals = with.items()
	}
	f := &formatter{r: r, vals: vals, named: with}
	if err := f.run(text.str()); err != nil {
		return Value{}, err
	}
	switch with.kind {
	case kMap, kList, kRange, kUndefined, kMissing: // may be looked into, so nothing is left over
	default:
		if f.next < len(vals) {
			return Value{}, typeError("not all arguments converted during string formatting")
		}
	}
	return like(text, string(f.dst)), nil
}

type formatter struct {
	r     *run
	dst   []byte
	vals  []Value
	named Value
	next  int
}

func (f *formatter) arg() (Value, error) {
	if f.next >= len(f.vals) {
		return Value{}, typeError("not enough arguments for format string")
	}
	f.next++
	return f.vals[f.next-1], nil
}

func (f *formatter) run(s string) error {
	for {
		n := strings.IndexByte(s, '%')
		if n < 0 {
			f.dst = append(f.dst, s...)
			return nil
		}
		f.dst = append(f.dst, s[:n]...)
		if s = s[n+1:]; s == "" {
			return valueError("incomplete format")
		}
		if s[0] == '%' {
			f.dst = append(f.dst, '%')
			s = s[1:]
			continue
		}
		var err error
		if s, err = f.one(s); err != nil {
			return err
		}
	}
}

// one formats one value and returns what follows its verb.
func (f *formatter) one(s string) (string, error) {
	var named *Value
	if s[0] == '(' {
		end := strings.IndexByte(s, ')')
		if end < 0 {
			return "", valueError("incomplete format key")
		}
		if f.named.kind != kMap {
			return "", typeError("format requires a mapping")
		}
		v, ok := f.named.mapping().Find(s[1:end])
		if !ok {
			return "", raise("KeyError", "%s", quote(s[1:end]))
		}
		named, s = &v, s[end+1:]
	}
	w, s, err := f.verb(s)
	if err != nil {
		return "", err
	}
	var v Value
	if named != nil {
		v = *named
	} else if v, err = f.arg(); err != nil {
		return "", err
	}
	text, err := f.convert(w, v)
	if err != nil {
		return "", err
	}
	n := max(w.width, len(text))
	if err := f.r.take(n); err != nil {
		return "", err
	}
	f.dst = append(f.dst, w.pad(text)...)
	return s, nil
}

func (f *formatter) verb(s string) (w verb, rest string, err error) {
	w.prec = -1
	for ; s != ""; s = s[1:] {
		switch s[0] {
		case '-':
			w.minus = true
		case '+':
			w.plus = true
		case ' ':
			w.blank = true
		case '0':
			w.zero = true
		case '#':
			w.sharp = true
		default:
			goto width
		}
	}
width:
	if w.width, s, err = f.size(s); err != nil {
		return w, s, err
	}
	if strings.HasPrefix(s, ".") {
		if w.prec, s, err = f.size(s[1:]); err != nil {
			return w, s, err
		}
	}
	s = strings.TrimLeft(s, "hlL")
	if s == "" {
		return w, s, valueError("incomplete format")
	}
	w.letter = s[0]
	return w, s[1:], nil
}

// size reads a width or precision.
func (f *formatter) size(s string) (int, string, error) {
	if strings.HasPrefix(s, "*") {
		v, err := f.arg()
		if err != nil {
			return 0, s, err
		}
		if !v.integral() {
			return 0, s, typeError("* wants int")
		}
		return max(0, min(clamped(v), 1<<20)), s[1:], nil
	}
	n := len(s) - len(strings.TrimLeft(s, decimal))
	if n > 6 {
		return 0, s, valueError("width too big")
	}
	v, _ := strconv.Atoi(s[:n])
	return v, s[n:], nil
}

func (f *formatter) convert(w verb, v Value) (string, error) {
	switch w.letter {
	case 's':
		s, err := f.r.text(v)
		return w.cut(s), err
	case 'r', 'a':
		b, err := f.r.appendRepr(nil, v, 0)
		return w.cut(string(b)), err
	case 'c':
		return charOf(v)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		return w.integer(v)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if v.undefined() {
			return "", v.fault()
		}
		if !v.number() {
			return "", typeError("must be real number, not %s", typeName(v))
		}
		x, err := asFloat(v)
		if err != nil {
			return "", err
		}
		return w.real(x)
	}
	return "", valueError("unsupported format character '%c' (0x%x)", w.letter, w.letter)
}

func charOf(v Value) (string, error) {
	switch {
	case v.kind == kString && utf8.RuneCountInString(v.str()) == 1:
		return v.str(), nil
	case v.kind == kInt || v.kind == kBool:
		if v.n < 0 || v.n > utf8.MaxRune {
			return "", raise("OverflowError", "%%c arg not in range(0x110000)")
		}
		return string(rune(v.n)), nil
	}
	return "", typeError("%%c requires int or char")
}

func (w verb) cut(s string) string {
	if w.prec >= 0 && utf8.RuneCountInString(s) > w.prec {
		return s[:offset(s, w.prec)]
	}
	return s
}

func (w verb) integer(v Value) (string, error) {
	if v.undefined() {
		return "", v.fault()
	}
	if v.kind == kFloat && strings.IndexByte("diu", w.letter) >= 0 {
		var err error
		if v, err = truncate(v.float()); err != nil {
			return "", err
		}
	}
	if !v.integral() {
		return "", typeError("%%%c format: a real number is required, not %s", w.letter, typeName(v))
	}
	base, prefix := 10, ""
	switch w.letter {
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0o"
	}
	n := v.big()
	s := new(big.Int).Abs(n).Text(base)
	if len(s) < w.prec {
		s = strings.Repeat("0", w.prec-len(s)) + s
	}
	if w.sharp {
		s = prefix + s
	}
	if w.letter == 'X' {
		s = strings.ToUpper(s)
	}
	return w.signed(s, n.Sign() < 0), nil
}

func (w verb) signed(s string, negative bool) string {
	switch {
	case negative:
		return "-" + s
	case w.plus:
		return "+" + s
	case w.blank:
		return " " + s
	}
	return s
}

func (w verb) real(x float64) (string, error) {
	prec := w.prec
	if prec < 0 {
		prec = 6
	}
	if prec > 5000 {
		return "", valueError("precision too big")
	}
	s := general(math.Abs(x), w.letter|0x20, prec, w.sharp)
	if w.letter < 'a' {
		s = strings.ToUpper(s)
	}
	return w.signed(s, math.Signbit(x) && !math.IsNaN(x)), nil
}

// general is C's conversion of a float that is not negative.
func general(x float64, letter byte, prec int, keep bool) string {
	switch {
	case math.IsInf(x, 0):
		return "inf"
	case math.IsNaN(x):
		return "nan"
	case letter != 'g':
		return strconv.FormatFloat(x, letter, prec, 64)
	}
	prec = max(prec, 1)
	e := strconv.FormatFloat(x, 'e', prec-1, 64)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	s, tail := e[:strings.IndexByte(e, 'e')], e[strings.IndexByte(e, 'e'):]
	if exp >= -4 && exp < prec {
		s, tail = strconv.FormatFloat(x, 'f', prec-1-exp, 64), ""
	}
	if !keep && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + tail
}

// pad brings a converted value to its width.
func (w verb) pad(s string) string {
	n := w.width - utf8.RuneCountInString(s)
	switch {
	case n <= 0:
		return s
	case w.minus:
		return s + strings.Repeat(" ", n)
	case w.zero && strings.IndexByte("src", w.letter) < 0:
		at := 0
		if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
			at = 1
		}
		return s[:at] + strings.Repeat("0", n) + s[at:]
	}
	return strings.Repeat(" ", n) + s
}
