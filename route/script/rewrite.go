package script

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// rewrite makes the operations of a file calls of builtins that weigh what
// they are given (x + y becomes (+)(x, y)), and refuses what cannot be weighed:
//
//	x + y, x == y, x in y …     the operator's builtin; and, or and not stay
//	x += y                      x = x + y, x being a name or an element of one
//	x.method(y)                 (call)(x, "method", y)
//	x[y], {y: z}, x[y] = z      y is weighed, since it is hashed
//	x[y:z], (x, y)              x is weighed, since it is copied; the tuple is,
//	                            since freezing it goes through all that it holds
//
// The rest does at most as much as its number of steps.
func rewrite(f *syntax.File) error {
	w := &rewriter{}
	w.stmts(f.Stmts)
	return w.err
}

// rewriter keeps the first thing that is not there.
type rewriter struct{ err error }

func (w *rewriter) refuse(at syntax.Node, format string, args ...any) {
	if w.err == nil {
		start, _ := at.Span()
		w.err = fmt.Errorf("%s: %s", start, fmt.Sprintf(format, args...))
	}
}

func (w *rewriter) stmts(list []syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *rewriter) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		w.assign(s)
	case *syntax.DefStmt:
		w.params(s.Params)
		w.stmts(s.Body)
	case *syntax.ExprStmt:
		s.X = w.expr(s.X)
	case *syntax.IfStmt:
		s.Cond = w.expr(s.Cond)
		w.stmts(s.True)
		w.stmts(s.False)
	case *syntax.ForStmt:
		w.target(s.Vars)
		s.X = w.expr(s.X)
		w.stmts(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = w.expr(s.Result)
		}
	case *syntax.BranchStmt:
	default: // load and while
		w.refuse(s, "this statement is not there")
	}
}

// assign rewrites an assignment; one with an operator becomes a plain one.
func (w *rewriter) assign(s *syntax.AssignStmt) {
	if s.Op == syntax.EQ {
		w.target(s.LHS)
		s.RHS = w.expr(s.RHS)
		return
	}
	old := again(s.LHS)
	if old == nil {
		w.refuse(s, "%v works on a name, or an element x[y] with names or a text", s.Op)
		return
	}
	// The tokens of the assignments stand in the order of their operators'.
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	s.RHS = w.expr(&syntax.BinaryExpr{X: old, OpPos: s.OpPos, Op: op, Y: s.RHS})
	s.Op = syntax.EQ
	w.target(s.LHS)
}

// again is another copy of what an assignment changes; nil where to compute it
// twice would be something else.
func again(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		return &syntax.Ident{NamePos: e.NamePos, Name: e.Name}
	case *syntax.Literal:
		return &syntax.Literal{Token: e.Token, TokenPos: e.TokenPos, Raw: e.Raw, Value: e.Value}
	case *syntax.DotExpr:
		if x := again(e.X); x != nil {
			return &syntax.DotExpr{X: x, Dot: e.Dot, NamePos: e.NamePos, Name: &syntax.Ident{NamePos: e.NamePos, Name: e.Name.Name}}
		}
	case *syntax.IndexExpr:
		if x, y := again(e.X), again(e.Y); x != nil && y != nil {
			return &syntax.IndexExpr{X: x, Lbrack: e.Lbrack, Y: y, Rbrack: e.Rbrack}
		}
	}
	return nil
}

// target rewrites what is assigned to.
func (w *rewriter) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Ident:
		w.name(e)
	case *syntax.ParenExpr:
		w.target(e.X)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			w.target(x)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			w.target(x)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = w.expr(e.X), w.weigh(w.expr(e.Y))
	default:
		w.refuse(e, "nothing can be assigned to this")
	}
}

// params rewrites the defaults of parameters.
func (w *rewriter) params(list []syntax.Expr) {
	for _, p := range list {
		if p, ok := p.(*syntax.BinaryExpr); ok {
			p.Y = w.expr(p.Y)
		}
	}
}

// name refuses names of builtins that are left out.
func (w *rewriter) name(e *syntax.Ident) {
	switch e.Name {
	case "None", "True", "False":
		return
	}
	if _, there := builtinNames[e.Name]; starlark.Universe.Has(e.Name) && !there {
		w.refuse(e, "%s is not there", e.Name)
	}
}

func (w *rewriter) exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = w.expr(list[i])
	}
}

// expr returns what an expression becomes.
func (w *rewriter) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		w.name(e)
	case *syntax.Literal:
	case *syntax.ParenExpr:
		e.X = w.expr(e.X)
	case *syntax.UnaryExpr:
		if e.X != nil {
			e.X = w.expr(e.X)
		}
	case *syntax.BinaryExpr:
		return w.binary(e)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = w.expr(e.Cond), w.expr(e.True), w.expr(e.False)
	case *syntax.DotExpr:
		return w.dot(e)
	case *syntax.CallExpr:
		return w.call(e)
	case *syntax.LambdaExpr:
		w.params(e.Params)
		e.Body = w.expr(e.Body)
	default:
		return w.many(e)
	}
	return e
}

// many is expr for expressions that hold several values.
func (w *rewriter) many(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.IndexExpr:
		e.X, e.Y = w.expr(e.X), w.weigh(w.expr(e.Y))
	case *syntax.SliceExpr:
		e.X = w.weigh(w.expr(e.X))
		for _, part := range []*syntax.Expr{&e.Lo, &e.Hi, &e.Step} {
			if *part != nil {
				*part = w.expr(*part)
			}
		}
	case *syntax.ListExpr:
		w.exprs(e.List)
	case *syntax.TupleExpr:
		w.exprs(e.List)
		return w.weigh(e)
	case *syntax.DictExpr:
		for _, entry := range e.List {
			w.entry(entry.(*syntax.DictEntry))
		}
	case *syntax.Comprehension:
		w.comprehension(e)
	default:
		w.refuse(e, "this expression is not there")
	}
	return e
}

func (w *rewriter) entry(e *syntax.DictEntry) {
	e.Key, e.Value = w.weigh(w.expr(e.Key)), w.expr(e.Value)
}

func (w *rewriter) comprehension(e *syntax.Comprehension) {
	for _, clause := range e.Clauses {
		switch clause := clause.(type) {
		case *syntax.ForClause:
			w.target(clause.Vars)
			clause.X = w.expr(clause.X)
		case *syntax.IfClause:
			clause.Cond = w.expr(clause.Cond)
		}
	}
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		w.entry(entry)
		return
	}
	if e.Body = w.expr(e.Body); e.Curly {
		w.refuse(e, "sets are not there")
	}
}

func (w *rewriter) binary(e *syntax.BinaryExpr) syntax.Expr {
	e.X, e.Y = w.expr(e.X), w.expr(e.Y)
	if _, ok := operators[e.Op]; !ok {
		return e // and, or
	}
	return w.made(e.Op.String(), e.OpPos, e.X, e.Y)
}

// dot lets through what is a field, and the functions of math.
func (w *rewriter) dot(e *syntax.DotExpr) syntax.Expr {
	x, ok := e.X.(*syntax.Ident)
	switch name := e.Name.Name; {
	case ok && x.Name == "math":
	case methods[name]:
		w.refuse(e, "the method %s is there to be called only", name)
	case turnFields[name] == nil && workerFields[name] == nil:
		w.refuse(e, "there is no field or method %s", name)
	}
	e.X = w.expr(e.X)
	return e
}

func (w *rewriter) call(e *syntax.CallExpr) syntax.Expr {
	for i, arg := range e.Args {
		switch arg := arg.(type) {
		case *syntax.UnaryExpr:
			if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
				w.refuse(arg, "%v in a call is not there", arg.Op)
			}
			e.Args[i] = w.expr(arg)
		case *syntax.BinaryExpr:
			if arg.Op == syntax.EQ {
				arg.Y = w.expr(arg.Y)
				continue
			}
			e.Args[i] = w.expr(arg)
		default:
			e.Args[i] = w.expr(arg)
		}
	}
	dot, ok := e.Fn.(*syntax.DotExpr)
	if !ok || !methods[dot.Name.Name] {
		e.Fn = w.expr(e.Fn)
		return e
	}
	name := &syntax.Literal{Token: syntax.STRING, TokenPos: dot.NamePos, Raw: fmt.Sprintf("%q", dot.Name.Name), Value: dot.Name.Name}
	return w.made(calling, e.Lparen, append([]syntax.Expr{w.expr(dot.X), name}, e.Args...)...)
}

// weigh makes an expression one that is weighed.
func (w *rewriter) weigh(e syntax.Expr) syntax.Expr {
	if _, ok := e.(*syntax.Literal); ok {
		return e
	}
	start, _ := e.Span()
	return w.made(weighed, start, e)
}

// made is the call of a builtin that no file can name.
func (w *rewriter) made(builtin string, at syntax.Position, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: builtin}, Lparen: at, Args: args, Rparen: at}
}
