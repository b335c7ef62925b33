package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func filterAbs(_ *run, v Value, a *args) (Value, error) {
	if err := a.plain("abs", 0, 0); err != nil {
		return v, err
	}
	switch {
	case v.undefined():
		return v, v.fault()
	case v.kind == kFloat:
		return Float(math.Abs(v.float())), nil
	case v.integral():
		return integer(new(big.Int).Abs(v.big())), nil
	}
	return v, typeError("bad operand type for abs(): %s", quote(typeName(v)))
}

// truncate is Python's int() of a float.
func truncate(f float64) (Value, error) {
	switch {
	case math.IsNaN(f):
		return Value{}, valueError("cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		return Value{}, raise("OverflowError", "cannot convert float infinity to integer")
	}
	b, _ := big.NewFloat(f).Int(nil)
	return integer(b), nil
}

// readInt is Python's int() of a text.
func readInt(s string, base int) (Value, bool) {
	s = strings.Map(digit, strings.TrimFunc(s, isSpace))
	t := strings.TrimLeft(s, "+-")
	if len(s)-len(t) > 1 || t == "" || len(t) > longestInt || t[0] == '_' || strings.HasSuffix(t, "_") || strings.Contains(t, "__") {
		return Value{}, false
	}
	t = strings.ReplaceAll(t, "_", "")
	if base == 16 || base == 8 || base == 2 {
		p := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]
		t = strings.TrimPrefix(strings.ToLower(t), p)
	}
	b, ok := new(big.Int).SetString(t, base)
	if !ok || strings.ContainsAny(t, "+-") {
		return Value{}, false
	}
	if s[0] == '-' {
		b.Neg(b)
	}
	return integer(b), true
}

// digit makes a decimal digit of any script one of ours: Unicode has them in
// runs of ten.
func digit(r rune) rune {
	if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, run := range unicode.Nd.R16 {
		if lo := rune(run.Lo); r >= lo && r <= rune(run.Hi) {
			return '0' + (r-lo)%10
		}
	}
	for _, run := range unicode.Nd.R32 {
		if lo := rune(run.Lo); r >= lo && r <= rune(run.Hi) {
			return '0' + (r-lo)%10
		}
	}
	return r
}

// readFloat is Python's float() of a text.
func readFloat(s string) (float64, bool) {
	s = strings.Map(digit, strings.TrimFunc(s, isSpace))
	if strings.ContainsAny(s, "xXpP") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || math.IsInf(f, 0)
}

func filterInt(_ *run, v Value, a *args) (Value, error) {
	or, base := a.opt(0, "default", Int(0)), a.opt(1, "base", Int(10))
	if err := a.done("int", 2); err != nil {
		return v, err
	}
	switch {
	case v.undefined():
		return v, v.fault()
	case v.kind == kFloat:
		n, err := truncate(v.float())
		if kindOf(err) == "ValueError" {
			return or, nil
		}
		return n, err
	case v.integral():
		return integer(v.big()), nil
	case v.kind != kString:
		return or, nil
	}
	b := clamped(base)
	if !base.integral() || b < 2 || b > 36 {
		b = 10
	}
	if n, ok := readInt(v.str(), b); ok {
		return n, nil
	}
	if f, ok := readFloat(v.str()); ok {
		if n, err := truncate(f); err == nil {
			return n, nil
		}
	}
	return or, nil
}

func filterFloat(_ *run, v Value, a *args) (Value, error) {
	or := a.opt(0, "default", Float(0))
	if err := a.done("float", 1); err != nil {
		return v, err
	}
	switch {
	case v.undefined():
		return v, v.fault()
	case v.number():
		f, err := asFloat(v)
		return Float(f), err
	case v.kind == kString:
		if f, ok := readFloat(v.str()); ok {
			return Float(f), nil
		}
	}
	return or, nil
}

// filterRound rounds half to even, as Python does; ints stay ints.
func filterRound(_ *run, v Value, a *args) (Value, error) {
	precision, how := a.opt(0, "precision", Int(0)), a.opt(1, "method", String("common"))
	if err := a.done("round", 2); err != nil {
		return v, err
	}
	switch {
	case how.str() != "common" && how.str() != "ceil" && how.str() != "floor":
		return v, raise("FilterArgumentError", "method must be common, ceil or floor")
	case v.undefined():
		return v, v.fault()
	case !v.number():
		return v, typeError("type %s doesn't define __round__ method", typeName(v))
	case !precision.integral():
		return v, typeError("%s object cannot be interpreted as an integer", quote(typeName(precision)))
	}
	n := clamped(precision)
	if how.str() == "common" && v.kind != kFloat {
		return roundInt(v, n)
	}
	f, err := asFloat(v)
	if err != nil {
		return v, err
	}
	if how.str() == "common" {
		return Float(roundFloat(f, n)), nil
	}
	scale := math.Pow(10, float64(n))
	if f *= scale; how.str() == "ceil" {
		f = math.Ceil(f)
	} else {
		f = math.Floor(f)
	}
	if scale == 0 || math.IsInf(scale, 0) || math.IsNaN(f) || math.IsInf(f, 0) {
		return v, raise("OverflowError", "cannot round")
	}
	return Float(f / scale), nil
}

func roundInt(v Value, n int) (Value, error) {
	if n >= 0 {
		return integer(v.big()), nil
	}
	if n < -longestInt {
		return Int(0), nil
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	q, m := new(big.Int).DivMod(v.big(), unit, new(big.Int))
	if c := new(big.Int).Lsh(m, 1).Cmp(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return integer(q.Mul(q, unit)), nil
}

func roundFloat(f float64, n int) float64 {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || n > 330:
		return f
	case n < -330:
		return math.Copysign(0, f)
	case n >= 0:
		x, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		return x
	}
	scale := math.Pow(10, float64(-n))
	return math.RoundToEven(f/scale) * scale
}

// size is an integer as a Go int, cut to what counts of things can be.
func (r *run) size(v Value) (int, error) {
	if v.undefined() {
		return 0, v.fault()
	}
	if !v.integral() {
		return 0, typeError("%s object cannot be interpreted as an integer", quote(typeName(v)))
	}
	return clamped(v), nil
}
