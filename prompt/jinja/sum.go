package jinja

import "strings"

// sumExpr is a + b + c, which is ((a + b) + c): mostly texts, which are then
// put together once. The lines are those of the operators.
type sumExpr struct {
	parts []expr
	lines []int
}

// newSum is a + b. The left operand may be a sum itself.
func newSum(a, b expr, line int) expr {
	if c, ok := b.(*constExpr); ok && c.v.kind != kString {
		return &binExpr{"+", a, b, line}
	}
	if s, ok := a.(*sumExpr); ok {
		s.parts, s.lines = append(s.parts, b), append(s.lines, line)
		return s
	}
	return &sumExpr{[]expr{a, b}, []int{line}}
}

// push evaluates texts onto the stack of arguments. What is no text ends that:
// the sum is then worked out step by step.
func (x *sumExpr) push(r *run) (v Value, whole bool, err error) {
	from := len(r.args)
	for i, part := range x.parts {
		v, err := part.eval(r)
		if err != nil {
			return v, false, err
		}
		if v.kind != kString || v.safe {
			v, err = x.stepwise(r, from, i, v)
			return v, false, err
		}
		r.args = append(r.args, v)
	}
	return Value{}, true, nil
}

// stepwise adds v, the value of part i, to the texts before it and the rest to
// that.
func (x *sumExpr) stepwise(r *run, from, i int, v Value) (Value, error) {
	if i > 0 {
		s, err := r.joined(from)
		if err == nil {
			v, err = r.binary("+", String(s), v)
		}
		if err != nil {
			return v, at(x.lines[i-1], err)
		}
	}
	for j := i + 1; j < len(x.parts); j++ {
		b, err := x.parts[j].eval(r)
		if err != nil {
			return b, err
		}
		if v, err = r.binary("+", v, b); err != nil {
			return v, at(x.lines[j-1], err)
		}
	}
	return v, nil
}

func (x *sumExpr) eval(r *run) (Value, error) {
	from := len(r.args)
	v, whole, err := x.push(r)
	if !whole || err != nil {
		return v, err
	}
	s, err := r.joined(from)
	return String(s), at(x.lines[0], err)
}

func (x *sumExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

// print writes the sum.
func (x *sumExpr) print(r *run) error {
	from := len(r.args)
	v, whole, err := x.push(r)
	switch {
	case err != nil:
		return err
	case whole:
		r.write(from)
		return nil
	}
	return r.print(v)
}

// write writes the texts on the stack of arguments, down to where they began.
func (r *run) write(from int) {
	for _, v := range r.args[from:] {
		r.put(v.str())
	}
	r.args = r.args[:from]
}

// joined takes the texts off the stack of arguments and puts them together.
func (r *run) joined(from int) (string, error) {
	parts := r.args[from:]
	r.args = r.args[:from]
	first := parts[0].str()
	if len(parts) == 1 {
		return first, nil
	}
	if len(first) >= growing {
		for _, p := range parts[1:] {
			var err error
			if first, err = r.concat(first, p.str()); err != nil {
				return "", err
			}
		}
		return first, nil
	}
	n := 0
	for _, p := range parts {
		n += len(p.str())
	}
	if err := r.take(n); err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(n)
	for _, p := range parts {
		b.WriteString(p.str())
	}
	return b.String(), nil
}

// push evaluates the parts to texts on the stack of arguments.
func (x *concatExpr) push(r *run) error {
	for _, part := range x.parts {
		v, err := part.eval(r)
		if err != nil {
			return err
		}
		if v.kind != kString {
			s, err := r.text(v)
			if err != nil {
				return err
			}
			v = String(s)
		}
		r.args = append(r.args, v)
	}
	return nil
}

func (x *concatExpr) eval(r *run) (Value, error) {
	from := len(r.args)
	if err := x.push(r); err != nil {
		return Value{}, err
	}
	s, err := r.joined(from)
	return String(s), err
}

func (x *concatExpr) print(r *run) error {
	from := len(r.args)
	err := x.push(r)
	if err == nil {
		r.write(from)
	}
	return err
}
