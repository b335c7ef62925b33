package script

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// weighed is the builtin that passes its argument on once it is weighed. No
// file can name it.
const weighed = "(weighed)"

// calling is the builtin that calls a method. No file can name it.
const calling = "(call)"

// operators are the binary operators that are made calls; false are those that
// compare.
var operators = map[syntax.Token]bool{
	syntax.PLUS: true, syntax.MINUS: true, syntax.STAR: true, syntax.SLASH: true, syntax.SLASHSLASH: true, syntax.PERCENT: true,
	syntax.AMP: true, syntax.PIPE: true, syntax.CIRCUMFLEX: true, syntax.LTLT: true, syntax.GTGT: true,
	syntax.EQL: false, syntax.NEQ: false, syntax.LT: false, syntax.GT: false, syntax.LE: false, syntax.GE: false,
	syntax.IN: true, syntax.NOT_IN: true,
}

// light are the methods that do not go through what they belong to.
var light = map[string]bool{"append": true, "clear": true, "extend": true, "get": true, "setdefault": true, "update": true}

// methods are those that a file may call. What they make is no longer than
// what they are given.
var methods = func() map[string]bool {
	all := maps.Clone(light)
	for _, name := range []string{
		"index", "insert", "pop", "remove", "items", "keys", "values",
		"count", "endswith", "find", "isdigit", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip", "split", "startswith",
		"strip", "upper",
	} {
		all[name] = true
	}
	return all
}()

// builtinNames are the builtins of the language that a file has.
var builtinNames = func() map[string]struct{} {
	all := map[string]struct{}{}
	for _, name := range []string{
		"abs", "all", "any", "bool", "dict", "enumerate", "fail", "float", "hash", "int", "len", "list", "max", "min", "range", "reversed",
		"sorted", "str", "tuple", "type", "zip",
	} {
		all[name] = struct{}{}
	}
	return all
}()

// function is what a builtin is made of.
type function = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// builtins are what a file knows, each weighing what it is given.
func builtins() starlark.StringDict {
	known := starlark.StringDict{"math": math.Module}
	add := func(name string, f function) { known[name] = starlark.NewBuiltin(name, f) }
	for name := range builtinNames {
		b := starlark.Universe[name].(*starlark.Builtin)
		switch name {
		case "str", "fail":
			add(name, plain(b))
		case "range":
			known[name] = b
		default:
			add(name, guarded(b))
		}
	}
	add(weighed, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], meterOf(t).weigh(args[0])
	})
	add(calling, call)
	for op := range operators {
		add(op.String(), operator(op))
	}
	return known
}

// guarded is a builtin that weighs its arguments first.
func guarded(b *starlark.Builtin) function {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		if err := weighArgs(t, args, named); err != nil {
			return nil, err
		}
		args, named = slices.Clone(args), slices.Clone(named)
		for i := range args {
			args[i] = keyed(args[i])
		}
		for i, pair := range named {
			named[i] = starlark.Tuple{pair[0], keyed(pair[1])}
		}
		return bounded(b.CallInternal(t, args, named))
	}
}

func weighArgs(t *starlark.Thread, args starlark.Tuple, named []starlark.Tuple) error {
	if err := meterOf(t).weighAll(args, 0); err != nil {
		return err
	}
	for _, pair := range named {
		if err := meterOf(t).weighAll(pair, 0); err != nil {
			return err
		}
	}
	return nil
}

// keyed makes a function whose answers a builtin compares, as sorted does,
// weigh them.
func keyed(v starlark.Value) starlark.Value {
	f, ok := v.(starlark.Callable)
	if !ok {
		return v
	}
	return starlark.NewBuiltin(f.Name(), func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		answer, err := starlark.Call(t, f, args, named)
		if err != nil {
			return nil, err
		}
		return answer, meterOf(t).weigh(answer)
	})
}

// plain is a builtin that makes text, of one value that is none of many.
func plain(b *starlark.Builtin) function {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		if len(args) != 1 || len(named) > 0 {
			return nil, fmt.Errorf("%s takes one value", b.Name())
		}
		switch args[0].(type) {
		case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, *worker:
			if err := meterOf(t).weigh(args[0]); err != nil {
				return nil, err
			}
			return b.CallInternal(t, args, nil)
		}
		return nil, fmt.Errorf("%s of a %s: only of text and numbers", b.Name(), args[0].Type())
	}
}

// call calls a method.
func call(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	of, name := args[0], string(args[1].(starlark.String))
	if err := weighArgs(t, args[2:], named); err != nil {
		return nil, err
	}
	if !light[name] {
		if err := meterOf(t).weigh(of); err != nil {
			return nil, err
		}
	}
	has, ok := of.(starlark.HasAttrs)
	if !ok {
		return nil, fmt.Errorf("%s has no .%s", of.Type(), name)
	}
	method, err := has.Attr(name)
	if err != nil || method == nil {
		return nil, fmt.Errorf("%s has no .%s", of.Type(), name)
	}
	return starlark.Call(t, method, args[2:], named)
}

// operator is a binary operator as a builtin.
func operator(op syntax.Token) function {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		x, y := args[0], args[1]
		if err := allow(meterOf(t), op, x, y); err != nil {
			return nil, err
		}
		if !operators[op] {
			is, err := starlark.Compare(op, x, y)
			return starlark.Bool(is), err
		}
		return bounded(starlark.Binary(op, x, y))
	}
}

// allow weighs what an operator is given, and what it will make of it.
func allow(m *meter, op syntax.Token, x, y starlark.Value) error {
	if number(x) && number(y) {
		return nil
	}
	if err := m.weigh(x); err != nil {
		return err
	}
	if _, hashed := y.(*starlark.Dict); hashed && (op == syntax.IN || op == syntax.NOT_IN) {
		return nil
	}
	if err := m.weigh(y); err != nil {
		return err
	}
	switch _, text := x.(starlark.String); {
	case op == syntax.PERCENT && text:
		return fmt.Errorf("%% on text is not there; use str(x) and +")
	case op == syntax.STAR:
		return repeat(m, x, y)
	}
	return nil
}

// repeat weighs a sequence as often as it is wanted.
func repeat(m *meter, x, y starlark.Value) error {
	if number(x) {
		x, y = y, x
	}
	times, err := starlark.AsInt32(y)
	if err != nil || times <= 0 {
		return nil // nothing, or an error of the operator's own
	}
	if n := starlark.Len(x); n > 0 && times > m.left/n {
		return m.take(m.left + 1)
	}
	return m.take(times * max(starlark.Len(x), 0))
}

func number(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}
