package jinja

import "fmt"

// macro is a macro or the body of a call block as a value: its text and the
// frame it was made in.
type macro struct {
	decl *macroStmt
	up   *frame
}

// function is a global or a method as a value.
type function struct {
	name  string
	class string
	call  func(r *run, a *args) (Value, error)
	// members are the attributes, nil if there are none.
	members func(name string) (Value, bool)
}

func native(name string, call func(*run, *args) (Value, error)) Value {
	return boxed(kFunc, &function{name: name, class: "builtin_function_or_method", call: call})
}

func (s *macroStmt) exec(r *run) (signal, error) {
	r.fr.vars[s.target.at.slot] = boxed(kMacro, &macro{s, r.fr})
	return done, nil
}

func (r *run) tooDeepCall() error {
	return fmt.Errorf("render template: more than %d calls inside each other: %w", r.o.Depth, ErrLimit)
}

// call runs a macro and returns its text.
func (m *macro) call(r *run, a *args, caller Value) (Value, error) {
	before := r.fr
	if err := m.enter(r, a, caller); err != nil {
		return Value{}, err
	}
	text, _, err := r.capture(m.decl.body)
	m.leave(r, before)
	return String(text), err
}

// print runs a macro whose text is written as it comes.
func (m *macro) print(r *run, a *args, caller Value) error {
	before := r.fr
	if err := m.enter(r, a, caller); err != nil {
		return err
	}
	_, err := r.exec(m.decl.body)
	m.leave(r, before)
	return err
}

// enter makes the frame of a call the one at hand, with the arguments in it.
func (m *macro) enter(r *run, a *args, caller Value) error {
	d := m.decl
	if r.depth++; r.depth > r.o.Depth {
		return r.tooDeepCall()
	}
	if err := r.spend(2 + d.weight); err != nil {
		return err
	}
	f, err := r.frame(d.fn, m.up)
	if err != nil {
		return err
	}
	if err := d.fill(r, f, a, caller); err != nil {
		return err
	}
	r.fr = f
	r.begin(d.init)
	return d.complete(r)
}

// leave goes back to the frame of the caller.
func (m *macro) leave(r *run, before *frame) {
	if f := r.fr; !m.decl.fn.holds {
		r.free = append(r.free, f) // whoever enters it sets all that is read
	}
	r.fr = before
	r.depth--
}

// frame makes or reuses a frame.
func (r *run) frame(fn *layout, up *frame) (*frame, error) {
	if n := len(r.free); n > 0 {
		f := r.free[n-1]
		r.free = r.free[:n-1]
		if cap(f.vars) >= fn.slots {
			f.vars, f.up = f.vars[:fn.slots], up
			return f, nil
		}
	}
	n := (fn.slots + 1) * perItem
	if err := r.take(n); err != nil {
		return nil, err
	}
	r.framed += n
	return &frame{vars: make([]Value, fn.slots), up: up}, nil
}

// fill puts the arguments in their places.
func (d *macroStmt) fill(r *run, f *frame, a *args, caller Value) error {
	n := min(len(a.pos), len(d.params))
	for i, v := range a.pos[:n] {
		f.vars[d.params[i].at.slot] = v
	}
	for _, p := range d.params[n:] {
		f.vars[p.at.slot] = Value{}
	}
	var rest *Map
	callerSet := false
	for i, name := range a.names {
		at := -1
		for j := n; j < len(d.params); j++ {
			if d.params[j].name == name {
				at = j
			}
		}
		switch {
		case at >= 0:
			f.vars[d.params[at].at.slot] = a.kw[i]
		case name == "caller" && d.caller != nil:
			f.vars[d.caller.at.slot], callerSet = a.kw[i], true
		case d.kwargs == nil:
			return typeError("macro %s takes no keyword argument %s", quote(d.name), quote(name))
		default:
			if rest == nil {
				rest = &Map{}
			}
			rest.Set(name, a.kw[i])
		}
	}
	if d.kwargs != nil {
		if rest == nil {
			rest = &Map{}
		}
		f.vars[d.kwargs.at.slot] = Mapping(rest)
	}
	if len(a.pos) > n && d.varargs == nil {
		return typeError("macro %s takes not more than %d argument(s)", quote(d.name), len(d.params))
	}
	if d.varargs != nil {
		f.vars[d.varargs.at.slot] = tuple(append([]Value(nil), a.pos[n:]...)...)
	}
	return d.fillCaller(f, caller, callerSet)
}

func (d *macroStmt) fillCaller(f *frame, caller Value, set bool) error {
	switch {
	case caller.kind == kMissing:
		if d.caller != nil && !set {
			f.vars[d.caller.at.slot] = undefinedHint("No caller defined")
		}
	case d.caller != nil:
		f.vars[d.caller.at.slot] = caller
	case d.explicitCaller:
		for _, p := range d.params {
			if p.name == "caller" {
				f.vars[p.at.slot] = caller
			}
		}
	default:
		return typeError("macro %s was invoked with two values for the special caller argument. This is most likely a bug.", quote(d.name))
	}
	return nil
}

// complete gives parameters left out their defaults, in r.fr.
func (d *macroStmt) complete(r *run) error {
	without := len(d.params) - len(d.defaults)
	for i, p := range d.params {
		if r.fr.vars[p.at.slot].kind != kMissing {
			continue
		}
		if i < without {
			r.fr.vars[p.at.slot] = undefinedHint("parameter " + quote(p.name) + " was not provided")
			continue
		}
		v, err := d.defaults[i-without].eval(r)
		if err != nil {
			return at(d.line, err)
		}
		r.fr.vars[p.at.slot] = v
	}
	return nil
}

func (s *callBlock) exec(r *run) (signal, error) {
	if err := s.call.print(r); err != nil {
		return done, at(s.line, err)
	}
	return done, r.wrote()
}

// print writes what a call gives; a macro writes itself.
func (x *callExpr) print(r *run) error {
	v := Value{}
	var err error
	if _, ok := x.fn.(*attrExpr); ok {
		v, err = x.eval(r)
	} else if v, err = x.fn.eval(r); err == nil {
		if v.kind == kMacro {
			return at(x.line, x.printMacro(r, as[macro](v)))
		}
		v, err = x.invoke(r, v)
		err = at(x.line, err)
	}
	if err != nil {
		return err
	}
	return r.print(v)
}

func (x *callExpr) printMacro(r *run, m *macro) error {
	if x.fixed != nil {
		if done, err := x.fixed.print(r, m); done || err != nil {
			return err
		}
	}
	from, at, steps, used := len(r.args), r.pos(), r.steps, r.bytes+r.framed
	a, err := r.push(&x.args)
	if err != nil {
		return err
	}
	caller := Value{}
	if x.caller != nil {
		caller = boxed(kMacro, &macro{x.caller, r.fr})
	}
	err = m.print(r, a, caller)
	r.pop(a, from)
	if x.fixed != nil && err == nil {
		x.fixed.keep(r, m, at, steps, used)
	}
	return err
}

// eval calls a method, a macro or a function. Methods of strings and mappings
// are called without making a value of them first.
func (x *callExpr) eval(r *run) (Value, error) {
	v, err := x.call(r)
	return v, at(x.line, err)
}

func (x *callExpr) call(r *run) (Value, error) {
	if m, ok := x.fn.(*attrExpr); ok && x.caller == nil {
		of, err := m.of.eval(r)
		if err != nil {
			return of, err
		}
		if method := m.method(of); method != nil {
			from := len(r.args)
			a, err := r.push(&x.args)
			if err != nil {
				return Value{}, err
			}
			v, err := method(r, of, a)
			r.pop(a, from)
			return v, err
		}
		fn, err := r.attr(of, m.name)
		if err != nil {
			return fn, err
		}
		return x.invoke(r, fn)
	}
	fn, err := x.fn.eval(r)
	if err != nil {
		return fn, err
	}
	return x.invoke(r, fn)
}

func (x *callExpr) invoke(r *run, fn Value) (Value, error) {
	from := len(r.args)
	a, err := r.push(&x.args)
	if err != nil {
		return Value{}, err
	}
	var v Value
	switch {
	case x.caller == nil:
		v, err = r.invoke(fn, a)
	case fn.kind == kMacro:
		v, err = as[macro](fn).call(r, a, boxed(kMacro, &macro{x.caller, r.fr}))
	default:
		b := a.kept()
		b.names = append(b.names, "caller")
		b.kw = append(b.kw, boxed(kMacro, &macro{x.caller, r.fr}))
		v, err = r.invoke(fn, b)
	}
	r.pop(a, from)
	return v, err
}

// invoke calls any value.
func (r *run) invoke(fn Value, a *args) (Value, error) {
	switch fn.kind {
	case kMacro:
		return as[macro](fn).call(r, a, Value{})
	case kFunc:
		if err := r.spend(1); err != nil {
			return Value{}, err
		}
		if f := as[function](fn); f.call != nil {
			return f.call(r, a)
		}
	case kLoop:
		return as[loop](fn).call(r, a)
	case kMissing, kUndefined:
		return Value{}, fn.fault()
	}
	return Value{}, typeError("%s object is not callable", quote(typeName(fn)))
}

// call runs a recursive loop again, over what it is called with.
func (l *loop) call(r *run, a *args) (Value, error) {
	if l.again == nil || !l.again.recursive {
		return Value{}, typeError("The loop must have the 'recursive' marker to be called recursively.")
	}
	if err := a.plain("loop", 1, 1); err != nil {
		return Value{}, err
	}
	before, out := r.fr, r.divert()
	r.fr = l.at
	err := l.again.recur(r, a.pos[0], l.depth+1)
	r.fr = before
	if err != nil {
		return Value{}, err
	}
	text, err := r.back(out)
	return String(text), err
}
