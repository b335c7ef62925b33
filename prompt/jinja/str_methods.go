package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var stringMethods map[string]method

func init() {
	stringMethods = map[string]method{
		"capitalize": changed(capitalize), "casefold": changed(lower), "lower": changed(lower), "upper": changed(upper),
		"swapcase": changed(swapcase), "title": changed(titleText),
		"isalnum":   asked(func(s string) bool { return every(s, isAlnum) }),
		"isalpha":   asked(func(s string) bool { return every(s, unicode.IsLetter) }),
		"isascii":   asked(isASCII),
		"isdecimal": asked(func(s string) bool { return every(s, func(c rune) bool { return unicode.Is(unicode.Nd, c) }) }),
		"isdigit":   asked(func(s string) bool { return every(s, isDigit) }),
		"isnumeric": asked(func(s string) bool { return every(s, func(c rune) bool { return unicode.Is(unicode.N, c) }) }),
		"isspace":   asked(func(s string) bool { return every(s, isSpace) }),
		"islower":   asked(isLower), "isupper": asked(isUpper),
		"istitle":      asked(func(s string) bool { return titleText(s) == s && strings.IndexFunc(s, unicode.IsLetter) >= 0 }),
		"isidentifier": asked(func(s string) bool { return s != "" && word(s) == len(s) }),
		"isprintable":  asked(func(s string) bool { return s == "" || every(s, unicode.IsPrint) }),
		"startswith":   affix("startswith", strings.HasPrefix), "endswith": affix("endswith", strings.HasSuffix),
		"removeprefix": without(strings.TrimPrefix), "removesuffix": without(strings.TrimSuffix),
		"strip": stripping(true, true), "lstrip": stripping(true, false), "rstrip": stripping(false, true),
		"split": methodSplit, "rsplit": methodRsplit, "splitlines": methodSplitlines,
		"partition": parting(strings.Index, false), "rpartition": parting(strings.LastIndex, true),
		"replace": methodReplace, "join": methodJoin, "count": methodCount,
		"find": finding(strings.Index, false), "rfind": finding(strings.LastIndex, false),
		"index": finding(strings.Index, true), "rindex": finding(strings.LastIndex, true),
		"ljust":  func(r *run, v Value, a *args) (Value, error) { return r.justify(v, a, false, true) },
		"rjust":  func(r *run, v Value, a *args) (Value, error) { return r.justify(v, a, true, false) },
		"center": func(r *run, v Value, a *args) (Value, error) { return r.justify(v, a, true, true) },
		"zfill":  methodZfill, "format": methodFormat, "expandtabs": methodExpandtabs,
	}
}

func isLower(s string) bool {
	return cased(s, unicode.IsLower, func(c rune) bool { return unicode.IsUpper(c) || unicode.IsTitle(c) })
}

func isUpper(s string) bool {
	return cased(s, unicode.IsUpper, func(c rune) bool { return unicode.IsLower(c) || unicode.IsTitle(c) })
}

func changed(change func(string) string) method {
	return func(r *run, v Value, a *args) (Value, error) {
		if err := a.plain("method", 0, 0); err != nil {
			return v, err
		}
		if err := r.take(len(v.str())); err != nil {
			return v, err
		}
		return like(v, change(v.str())), nil
	}
}

func asked(ask func(string) bool) method {
	return func(r *run, v Value, a *args) (Value, error) {
		if err := a.plain("method", 0, 0); err != nil {
			return v, err
		}
		return Bool(ask(v.str())), r.spend(len(v.str()) >> 5)
	}
}

// text is the argument at a place, which must be a string.
func (a *args) text(fn string, i int) (string, error) {
	if v := a.pos[i]; v.kind != kString {
		if v.undefined() {
			return "", typeError("%s argument must be str, not Undefined", fn)
		}
		return "", typeError("%s argument must be str, not %s", fn, typeName(v))
	}
	return a.pos[i].str(), nil
}

// affix makes startswith and endswith, which also take a tuple of texts and
// bounds.
func affix(name string, has func(s, x string) bool) method {
	return func(r *run, v Value, a *args) (Value, error) {
		if err := a.plain(name, 1, 3); err != nil {
			return v, err
		}
		if len(a.pos) > 1 {
			var err error
			if v, err = r.slice(v, a.pos[1], at3(a.pos), none); err != nil {
				return v, err
			}
		}
		switch x := a.pos[0]; x.kind {
		case kString:
			return Bool(has(v.str(), x.str())), nil
		case kTuple:
			for _, t := range x.items() {
				if t.kind != kString {
					return v, typeError("tuple for %s must only contain str, not %s", name, typeName(t))
				}
				if has(v.str(), t.str()) {
					return yes, nil
				}
			}
			return no, r.spend(len(x.items()))
		default:
			return v, typeError("%s first arg must be str or a tuple of str, not %s", name, typeName(x))
		}
	}
}

func at3(vs []Value) Value {
	if len(vs) > 2 {
		return vs[2]
	}
	return none
}

func without(cut func(s, x string) string) method {
	return func(_ *run, v Value, a *args) (Value, error) {
		if err := a.plain("method", 1, 1); err != nil {
			return v, err
		}
		x, err := a.text("removeprefix()", 0)
		return like(v, cut(v.str(), x)), err
	}
}

func stripping(left, right bool) method {
	return func(r *run, v Value, a *args) (Value, error) {
		if err := a.plain("strip", 0, 1); err != nil {
			return v, err
		}
		chars := none
		if len(a.pos) > 0 {
			chars = a.pos[0]
		}
		return r.strip(v, chars, left, right)
	}
}

func (r *run) strip(v, chars Value, left, right bool) (Value, error) {
	drop := isSpace
	switch chars.kind {
	case kNone:
	case kString:
		set := chars.str()
		if len(set) > 64 {
			return v, typeError("strip of more than 64 bytes of characters")
		}
		drop = func(c rune) bool { return strings.ContainsRune(set, c) }
	default:
		return v, typeError("strip arg must be None or str")
	}
	s := v.str()
	if left {
		s = strings.TrimLeftFunc(s, drop)
	}
	if right {
		s = strings.TrimRightFunc(s, drop)
	}
	return like(v, s), r.reads(v.str()[:len(v.str())-len(s)])
}

// justify fills a text up to a width: on the left, the right, or both sides.
func (r *run) justify(v Value, a *args, left, right bool) (Value, error) {
	if err := a.plain("justify", 1, 2); err != nil {
		return v, err
	}
	width, err := r.size(a.pos[0])
	if err != nil {
		return v, err
	}
	fill := " "
	if len(a.pos) > 1 {
		if fill, err = a.text("justify()", 1); err != nil {
			return v, err
		}
		if utf8.RuneCountInString(fill) != 1 {
			return v, typeError("The fill character must be exactly one character long")
		}
	}
	have, _ := length(v)
	n := width - have
	if n <= 0 {
		return v, nil
	}
	if n > r.bytes/len(fill) {
		return v, r.take(r.bytes + 1)
	}
	if err := r.take(n*len(fill) + len(v.str())); err != nil {
		return v, err
	}
	before := 0
	switch {
	case left && right:
		before = n/2 + n&width&1
	case left:
		before = n
	}
	return like(v, strings.Repeat(fill, before)+v.str()+strings.Repeat(fill, n-before)), nil
}

func methodZfill(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("zfill", 1, 1); err != nil {
		return v, err
	}
	if v.str() != "" && (v.str()[0] == '-' || v.str()[0] == '+') && a.pos[0].integral() {
		n := Int(int64(clamped(a.pos[0])) - 1)
		rest, err := r.justify(like(v, v.str()[1:]), &args{pos: []Value{n, String("0")}}, true, false)
		return like(v, v.str()[:1]+rest.str()), err
	}
	return r.justify(v, &args{pos: []Value{a.pos[0], String("0")}}, true, false)
}

func methodExpandtabs(r *run, v Value, a *args) (Value, error) {
	size := a.opt(0, "tabsize", Int(8))
	if err := a.done("expandtabs", 1); err != nil {
		return v, err
	}
	n, err := r.size(size)
	if err != nil {
		return v, err
	}
	if n > 1000 {
		return v, valueError("tabs of more than 1000")
	}
	if err := r.take(len(v.str()) + strings.Count(v.str(), "\t")*max(n, 0)); err != nil {
		return v, err
	}
	var b strings.Builder
	col := 0
	for _, c := range v.str() {
		switch {
		case c == '\t' && n > 0:
			w := n - col%n
			b.WriteString(strings.Repeat(" ", w))
			col += w
		case c == '\t':
		default:
			b.WriteRune(c)
			if col++; c == '\n' || c == '\r' {
				col = 0
			}
		}
	}
	return like(v, b.String()), nil
}
