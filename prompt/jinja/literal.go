package jinja

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// run of digits with single underscores between them.
func digits(s, set string) int {
	n := 0
	for n < len(s) {
		switch {
		case strings.IndexByte(set, s[n]) >= 0:
			n++
		case s[n] == '_' && n > 0 && n+1 < len(s) && strings.IndexByte(set, s[n+1]) >= 0:
			n += 2
		default:
			return n
		}
	}
	return n
}

const decimal = "0123456789"

// number is the length and sort of the number that s begins with. After a dot
// there are no floats: x.1.2 is two look-ups.
func number(s string, dotted bool) (int, string) {
	n := digits(s, decimal)
	if n == 0 {
		return 0, ""
	}
	if !dotted {
		if m := fraction(s, n); m > 0 {
			return m, tFloat
		}
	}
	if s[0] != '0' {
		return n, tInteger
	}
	if len(s) > 2 {
		rest := strings.TrimPrefix(s[2:], "_")
		under := len(s) - 2 - len(rest)
		for prefix, set := range map[byte]string{'b': "01", 'o': "01234567", 'x': decimal + "abcdefABCDEF"} {
			if m := digits(rest, set); s[1]|0x20 == prefix && m > 0 {
				return 2 + under + m, tInteger
			}
		}
	}
	return digits(s, "0"), tInteger
}

// fraction is the length of a float whose whole part has n digits, 0 if it is
// none.
func fraction(s string, n int) int {
	end := 0
	if n+1 < len(s) && s[n] == '.' {
		if m := digits(s[n+1:], decimal); m > 0 {
			n += 1 + m
			end = n
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if d := digits(s[m:], decimal); d > 0 {
			return m + d
		}
	}
	return end
}

// constant is the value of a number token.
func constant(t token) (Value, error) {
	if t.sort == tFloat {
		f, _ := strconv.ParseFloat(t.text, 64) // too big is infinite
		return Float(f), nil
	}
	if n, err := strconv.ParseInt(t.text, 0, 64); err == nil {
		return Int(n), nil
	}
	if len(t.text) > longestInt {
		return Value{}, errors.New("integer is too long")
	}
	b, ok := new(big.Int).SetString(t.text, 0)
	if !ok {
		return Value{}, errors.New("no integer: " + t.text)
	}
	return integer(b), nil
}

// unescape reads a string literal as Python's unicode-escape does. A
// backslash before a character outside of ASCII is a backslash before that
// character's own escape.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		if i++; i >= len(s) {
			return "", errors.New(`\ at end of string`)
		}
		n, err := 0, error(nil)
		if b, n, err = escape(b, s[i:]); err != nil {
			return "", err
		}
		i += n - 1
	}
	return string(b), nil
}

// escape appends what follows a backslash, and returns how long that was.
func escape(b []byte, s string) ([]byte, int, error) {
	if i := strings.IndexByte("\\'\"abfnrtv", s[0]); i >= 0 {
		return append(b, "\\'\"\a\b\f\n\r\t\v"[i]), 1, nil
	}
	switch c := s[0]; {
	case c == '\n':
		return b, 1, nil
	case c >= '0' && c <= '7':
		n := 1
		for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[:n], 8, 16)
		return utf8.AppendRune(b, rune(v)), n, nil
	case c == 'x' || c == 'u' || c == 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(s) <= n {
			return nil, 0, errors.New(`truncated \` + s[:1] + " escape")
		}
		v, err := strconv.ParseUint(s[1:1+n], 16, 32)
		if err != nil || v > utf8.MaxRune {
			return nil, 0, errors.New(`truncated \` + s[:1] + " escape")
		}
		return utf8.AppendRune(b, rune(v)), 1 + n, nil
	case c == 'N':
		return nil, 0, errors.New(`\N escapes are not read`)
	case c >= utf8.RuneSelf:
		r, n := utf8.DecodeRuneInString(s)
		b = append(b, '\\')
		switch {
		case r <= 0xff:
			return append(append(b, 'x'), hexDigits(r, 2)...), n, nil
		case r <= 0xffff:
			return append(append(b, 'u'), hexDigits(r, 4)...), n, nil
		}
		return append(append(b, 'U'), hexDigits(r, 8)...), n, nil
	}
	return append(b, '\\', s[0]), 1, nil
}
