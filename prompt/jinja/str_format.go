package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// methodFormat is str.format: fields by place, number or name, with look-ups,
// conversions and the common part of format specifications.
func methodFormat(r *run, v Value, a *args) (Value, error) {
	f := &formatFields{r: r, a: a}
	if err := f.run(v.str()); err != nil {
		return v, err
	}
	return like(v, string(f.dst)), nil
}

type formatFields struct {
	r    *run
	a    *args
	dst  []byte
	next int
}

func (f *formatFields) run(s string) error {
	for s != "" {
		n := strings.IndexAny(s, "{}")
		if n < 0 {
			f.dst = append(f.dst, s...)
			break
		}
		f.dst = append(f.dst, s[:n]...)
		c := s[n]
		s = s[n+1:]
		if s != "" && s[0] == c {
			f.dst = append(f.dst, c)
			s = s[1:]
			continue
		}
		if c == '}' {
			return valueError("Single '}' encountered in format string")
		}
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return valueError("expected '}' before end of string")
		}
		if err := f.field(s[:end]); err != nil {
			return err
		}
		s = s[end+1:]
		if err := f.r.take(n + end); err != nil {
			return err
		}
	}
	return nil
}

// field writes one replacement field, written name!conversion:spec.
func (f *formatFields) field(s string) error {
	s, spec, _ := strings.Cut(s, ":")
	name, conv, _ := strings.Cut(s, "!")
	v, err := f.value(name)
	if err != nil {
		return err
	}
	var text string
	switch conv {
	case "":
		text, err = f.spec(v, spec)
	case "r", "s":
		if conv == "r" {
			var b []byte
			b, err = f.r.appendRepr(nil, v, 0)
			text = string(b)
		} else {
			text, err = f.r.text(v)
		}
		if err == nil {
			text, err = f.spec(String(text), spec)
		}
	default:
		return valueError("unknown conversion")
	}
	if err != nil {
		return err
	}
	if err := f.r.take(len(text)); err != nil {
		return err
	}
	f.dst = append(f.dst, text...)
	return nil
}

func (f *formatFields) value(name string) (Value, error) {
	first := name
	if i := strings.IndexAny(name, ".["); i >= 0 {
		first = name[:i]
	}
	name = name[len(first):]
	if first == "" {
		first = strconv.Itoa(f.next)
		f.next++
	}
	v, ok := Value{}, false
	if n, err := strconv.Atoi(first); err == nil {
		if ok = n >= 0 && n < len(f.a.pos); !ok {
			return v, raise("IndexError", "Replacement index %d out of range for positional args tuple", n)
		}
		v = f.a.pos[n]
	} else if v, ok = f.a.find(-1, first); !ok {
		return v, raise("KeyError", "%s", quote(first))
	}
	for name != "" {
		var err error
		if name[0] == '.' {
			n := strings.IndexAny(name[1:], ".[") + 1
			if n == 0 {
				n = len(name)
			}
			v, err = f.r.attr(v, name[1:n])
			name = name[n:]
		} else {
			n := strings.IndexByte(name, ']')
			if n < 0 {
				return v, valueError("Missing ']' in format string")
			}
			k := String(name[1:n])
			if i, err := strconv.ParseInt(k.str(), 10, 64); err == nil {
				k = Int(i)
			}
			v, err = f.r.item(v, k)
			name = name[n+1:]
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// spec formats a value by [[fill]align][sign][#][0][width][,][.precision][type].
func (f *formatFields) spec(v Value, spec string) (string, error) {
	if spec == "" {
		return f.r.text(v)
	}
	fill, align, w := " ", byte(0), verb{prec: -1}
	if _, n := utf8.DecodeRuneInString(spec); len(spec) > n && strings.IndexByte("<>^=", spec[n]) >= 0 {
		fill, align, spec = spec[:n], spec[n], spec[n+1:]
	} else if strings.IndexByte("<>^=", spec[0]) >= 0 {
		align, spec = spec[0], spec[1:]
	}
	spec, w.plus = strings.CutPrefix(spec, "+")
	spec, w.blank = strings.CutPrefix(strings.TrimPrefix(spec, "-"), " ")
	spec, w.sharp = strings.CutPrefix(spec, "#")
	if strings.HasPrefix(spec, "0") && align == 0 {
		fill, align = "0", '='
	}
	var err error
	form := &formatter{r: f.r}
	if w.width, spec, err = form.size(strings.TrimPrefix(spec, "*")); err != nil {
		return "", err
	}
	spec, commas := strings.CutPrefix(spec, ",")
	if strings.HasPrefix(spec, ".") {
		if w.prec, spec, err = form.size(strings.TrimPrefix(spec[1:], "*")); err != nil {
			return "", err
		}
	}
	if len(spec) > 1 {
		return "", valueError("Invalid format specifier")
	}
	text, err := f.typed(form, w, v, spec)
	if err != nil {
		return "", err
	}
	if commas {
		text = grouped(text)
	}
	if align == 0 {
		align = '<'
		if v.number() {
			align = '>'
		}
	}
	return aligned(text, fill, align, w.width), f.r.take(w.width * len(fill))
}

func (f *formatFields) typed(form *formatter, w verb, v Value, spec string) (string, error) {
	switch {
	case spec == "%":
		x, err := asFloat(v)
		if err != nil || !v.number() {
			return "", typeError("unsupported format string passed to %s.__format__", typeName(v))
		}
		w.letter = 'f'
		s, err := w.real(x * 100)
		return s + "%", err
	case spec != "":
		if (v.kind == kString) != (spec == "s") {
			return "", valueError("Unknown format code '%s' for object of type '%s'", spec, typeName(v))
		}
		w.letter = spec[0]
		if spec == "b" {
			if !v.integral() {
				return "", valueError("Unknown format code 'b' for object of type '%s'", typeName(v))
			}
			return v.big().Text(2), nil
		}
	case v.kind == kFloat && w.prec >= 0:
		w.letter = 'g'
	case v.integral() && v.kind != kBool:
		w.letter = 'd'
	default:
		s, err := f.r.text(v)
		if v.kind == kFloat {
			return w.signed(strings.TrimPrefix(s, "-"), strings.HasPrefix(s, "-")), err
		}
		return w.cut(s), err
	}
	w.width = 0
	return form.convert(w, v)
}

// grouped puts commas between thousands.
func grouped(s string) string {
	whole, rest := s, ""
	if i := strings.IndexAny(s, ".e"); i >= 0 {
		whole, rest = s[:i], s[i:]
	}
	sign := len(whole) - len(strings.TrimLeft(whole, "+- "))
	var b strings.Builder
	b.WriteString(whole[:sign])
	whole = whole[sign:]
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	return b.String() + rest
}

func aligned(s, fill string, align byte, width int) string {
	n := width - utf8.RuneCountInString(s)
	if n <= 0 {
		return s
	}
	switch align {
	case '<':
		return s + strings.Repeat(fill, n)
	case '^':
		return strings.Repeat(fill, n/2) + s + strings.Repeat(fill, n-n/2)
	case '=':
		sign := len(s) - len(strings.TrimLeft(s, "+- "))
		return s[:sign] + strings.Repeat(fill, n) + s[sign:]
	}
	return strings.Repeat(fill, n) + s
}
