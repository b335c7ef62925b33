package jinja

import (
	"math"
	"math/big"
	"strings"
)

func (x *binExpr) eval(r *run) (Value, error) {
	a, err := x.a.eval(r)
	if err != nil {
		return a, err
	}
	b, err := x.b.eval(r)
	if err != nil {
		return b, err
	}
	if a.kind == kInt && b.kind == kInt {
		switch x.op {
		case "+":
			if n := a.n + b.n; (n > a.n) == (b.n > 0) {
				return Int(n), nil
			}
		case "-":
			if n := a.n - b.n; (n < a.n) == (b.n > 0) {
				return Int(n), nil
			}
		}
	}
	v, err := r.binary(x.op, a, b)
	return v, at(x.line, err)
}

func (x *signExpr) eval(r *run) (Value, error) {
	v, err := x.x.eval(r)
	switch {
	case err != nil:
		return v, err
	case v.undefined():
		return v, at(x.line, v.fault())
	case v.kind == kFloat && x.neg:
		return Float(-v.float()), nil
	case v.kind == kFloat:
		return v, nil
	case !v.integral():
		op := "+"
		if x.neg {
			op = "-"
		}
		return v, at(x.line, typeError("bad operand type for unary %s: %s", op, quote(typeName(v))))
	case x.neg && v.kind == kInt && v.n != math.MinInt64:
		return Int(-v.n), nil
	case x.neg:
		return integer(new(big.Int).Neg(v.big())), nil
	}
	return integer(v.big()), nil
}

// binary is one of Python's operators on two values.
func (r *run) binary(op string, a, b Value) (Value, error) {
	if op == "+" && a.kind == kString && b.kind == kString && !a.safe && !b.safe {
		s, err := r.concat(a.str(), b.str())
		return String(s), err
	}
	switch {
	case op == "%" && a.kind == kString:
		return r.format(a, b)
	case a.undefined():
		return Value{}, a.fault()
	case b.undefined():
		return Value{}, b.fault()
	case a.number() && b.number():
		return arithmetic(op, a, b)
	case op == "+":
		return r.addSequences(a, b)
	case op == "*" && b.integral():
		return r.repeat(a, b)
	case op == "*" && a.integral():
		return r.repeat(b, a)
	}
	return Value{}, unsupported(op, a, b)
}

func unsupported(op string, a, b Value) error {
	if op == "**" {
		op = "** or pow()"
	}
	return typeError("unsupported operand type(s) for %s: %s and %s", op, quote(typeName(a)), quote(typeName(b)))
}

// addSequences adds two sequences.
func (r *run) addSequences(a, b Value) (Value, error) {
	switch {
	case a.kind == kString && b.kind == kString:
		if !a.safe {
			a = String(escapeHTML(a.str()))
		}
		if !b.safe {
			b = String(escapeHTML(b.str()))
		}
		if err := r.take(len(a.str()) + len(b.str())); err != nil {
			return Value{}, err
		}
		return markup(a.str() + b.str()), nil
	case a.kind == b.kind && (a.kind == kList || a.kind == kTuple):
		vs, err := r.addLists(a.items(), b.items())
		return members(a.kind, vs), err
	case a.kind == kString || a.kind == kList || a.kind == kTuple:
		t := typeName(a)
		return Value{}, typeError("can only concatenate %s (not \"%s\") to %s", t, typeName(b), t)
	}
	return Value{}, unsupported("+", a, b)
}

// repeat is a sequence so many times over.
func (r *run) repeat(v, times Value) (Value, error) {
	if times.kind == kBig && (v.kind == kString || v.kind == kList || v.kind == kTuple) {
		return Value{}, raise("OverflowError", "cannot fit 'int' into an index-sized integer")
	}
	n := max(0, clamped(times))
	switch v.kind {
	case kString:
		if len(v.str()) > 0 && n > r.bytes/len(v.str()) {
			return Value{}, r.take(r.bytes + 1)
		}
		if err := r.take(n * len(v.str())); err != nil {
			return Value{}, err
		}
		return like(v, strings.Repeat(v.str(), n)), nil
	case kList, kTuple:
		vs := v.items()
		if len(vs) == 0 {
			return v, nil
		}
		if n > r.bytes/perItem/len(vs) {
			return Value{}, r.take(r.bytes + 1)
		}
		if err := r.take(n * len(vs) * perItem); err != nil {
			return Value{}, err
		}
		out := make([]Value, 0, n*len(vs))
		for range n {
			out = append(out, vs...)
		}
		return members(v.kind, out), r.spend(len(out))
	}
	return Value{}, unsupported("*", v, times)
}

// arithmetic computes with two numbers.
func arithmetic(op string, a, b Value) (Value, error) {
	if a.kind == kFloat || b.kind == kFloat || op == "/" {
		x, err := asFloat(a)
		if err != nil {
			return Value{}, err
		}
		y, err := asFloat(b)
		if err != nil {
			return Value{}, err
		}
		return floats(op, x, y, a.kind != kFloat && b.kind != kFloat)
	}
	if a.kind != kBig && b.kind != kBig {
		const small = 1 << 31
		if a.n > -small && a.n < small && b.n > -small && b.n < small {
			switch op {
			case "+":
				return Int(a.n + b.n), nil
			case "-":
				return Int(a.n - b.n), nil
			case "*":
				return Int(a.n * b.n), nil
			}
			if a.n >= 0 && b.n > 0 && op == "%" {
				return Int(a.n % b.n), nil
			}
			if a.n >= 0 && b.n > 0 && op == "//" {
				return Int(a.n / b.n), nil
			}
		}
	}
	return bigs(op, a.big(), b.big())
}

func asFloat(v Value) (float64, error) {
	if v.kind == kFloat {
		return v.float(), nil
	}
	f, _ := new(big.Float).SetInt(v.big()).Float64()
	if math.IsInf(f, 0) {
		return 0, raise("OverflowError", "int too large to convert to float")
	}
	return f, nil
}

func zeroDivision(text string) error { return raise("ZeroDivisionError", "%s", text) }

func floats(op string, x, y float64, ints bool) (Value, error) {
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		switch {
		case ints:
			return Value{}, zeroDivision("division by zero")
		case op == "/":
			return Value{}, zeroDivision("float division by zero")
		case op == "//":
			return Value{}, zeroDivision("float floor division by zero")
		}
		return Value{}, zeroDivision("float modulo")
	}
	switch op {
	case "+":
		return Float(x + y), nil
	case "-":
		return Float(x - y), nil
	case "*":
		return Float(x * y), nil
	case "/":
		return Float(x / y), nil
	case "//":
		return Float(math.Floor((x - floatMod(x, y)) / y)), nil
	case "%":
		return Float(floatMod(x, y)), nil
	}
	switch p := math.Pow(x, y); {
	case x == 0 && y < 0:
		return Value{}, zeroDivision("0.0 cannot be raised to a negative power")
	case math.IsNaN(p) && !math.IsNaN(x) && !math.IsNaN(y):
		return Value{}, valueError("a complex number")
	case math.IsInf(p, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
		return Value{}, raise("OverflowError", "(34, 'Numerical result out of range')")
	default:
		return Float(p), nil
	}
}

// floatMod is Python's %, whose result has the sign of the divisor.
func floatMod(x, y float64) float64 {
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	if m == 0 {
		m = math.Copysign(0, y)
	}
	return m
}

// mostBits is how long an integer may get.
const mostBits = 14_000

func bigs(op string, x, y *big.Int) (Value, error) {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "//", "%":
		if y.Sign() == 0 {
			if op == "%" {
				return Value{}, zeroDivision("integer modulo by zero")
			}
			return Value{}, zeroDivision("integer division or modulo by zero")
		}
		m := new(big.Int)
		z.QuoRem(x, y, m)
		if m.Sign() != 0 && m.Sign() != y.Sign() {
			z.Sub(z, big.NewInt(1))
			m.Add(m, y)
		}
		if op == "%" {
			z = m
		}
	case "**":
		return power(x, y)
	}
	if z.BitLen() > mostBits {
		return Value{}, raise("OverflowError", "integer of more than %d bits", mostBits)
	}
	return integer(z), nil
}

func power(x, y *big.Int) (Value, error) {
	if y.Sign() < 0 {
		if x.Sign() == 0 {
			return Value{}, zeroDivision("0.0 cannot be raised to a negative power")
		}
		fx, err := asFloat(integer(x))
		if err != nil {
			return Value{}, err
		}
		fy, err := asFloat(integer(y))
		if err != nil {
			return Value{}, err
		}
		return Float(math.Pow(fx, fy)), nil
	}
	if x.BitLen() > 1 && (!y.IsInt64() || y.Int64() > mostBits || int64(x.BitLen()-1)*y.Int64() > mostBits) {
		return Value{}, raise("OverflowError", "integer of more than %d bits", mostBits)
	}
	if x.BitLen() <= 1 { // -1, 0, 1
		if y.Bit(0) == 1 || y.Sign() == 0 {
			y = big.NewInt(int64(y.Bit(0)))
		} else {
			y = big.NewInt(2)
		}
	}
	return integer(new(big.Int).Exp(x, y, nil)), nil
}
