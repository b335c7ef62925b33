package jinja

import "slices"

func (p *parser) expression() (expr, error) { return p.cond() }

func (p *parser) cond() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.or()
	for err == nil && p.skipName("if") {
		c := &condExpr{then: x}
		if c.cond, err = p.or(); err != nil {
			return nil, err
		}
		if p.skipName("else") {
			if c.other, err = p.cond(); err != nil {
				return nil, err
			}
		}
		x = c
	}
	return x, err
}

func (p *parser) or() (expr, error) {
	a, err := p.and()
	for err == nil && p.skipName("or") {
		var b expr
		b, err = p.and()
		a = &orExpr{a, b}
	}
	return a, err
}

func (p *parser) and() (expr, error) {
	a, err := p.not()
	for err == nil && p.skipName("and") {
		var b expr
		b, err = p.not()
		a = &andExpr{a, b}
	}
	return a, err
}

func (p *parser) not() (expr, error) {
	if !p.skipName("not") {
		return p.compare()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.not()
	return &notExpr{x}, err
}

var orders = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) compare() (expr, error) {
	line := p.cur().line
	first, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	c := &compareExpr{first: first, line: line}
	for {
		op := p.cur().sort
		switch {
		case slices.Contains(orders, op):
			p.next()
		case p.skipName("in"):
			op = "in"
		case p.isName("not") && p.peek().sort == tName && p.peek().text == "in":
			p.next()
			p.next()
			op = "not in"
		default:
			if len(c.ops) == 0 {
				return first, nil
			}
			c.hurry()
			return c, nil
		}
		x, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, x)
	}
}

// hurry sees whether all is to compare something with one text.
func (x *compareExpr) hurry() {
	if c, ok := x.rest[0].(*constExpr); ok && len(x.ops) == 1 && c.v.kind == kString && (x.ops[0] == "==" || x.ops[0] == "!=") {
		s := c.v.str()
		x.quick, x.equal = &s, x.ops[0] == "=="
	}
}

// levels are the binary operators, loosest first. Powers bind to the left
// here, unlike in Python.
var levels = [][]string{{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}

func (p *parser) binary(level int) (expr, error) {
	if level == len(levels) {
		return p.unary(true)
	}
	a, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	var joined *concatExpr
	for {
		t := p.cur()
		if !slices.Contains(levels[level], t.sort) {
			return a, nil
		}
		p.next()
		b, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		switch {
		case t.sort == "+":
			a = newSum(a, b, t.line)
		case t.sort != "~":
			a = &binExpr{t.sort, a, b, t.line}
		case joined == nil:
			joined = &concatExpr{parts: []expr{a, b}}
			a = joined
		default:
			joined.parts = append(joined.parts, b)
		}
	}
}

func (p *parser) unary(filters bool) (x expr, err error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	switch t := p.cur(); t.sort {
	case "-", "+":
		p.next()
		x, err = p.unary(false)
		x = &signExpr{x, t.sort == "-", t.line}
	default:
		x, err = p.primary()
	}
	if err != nil {
		return nil, err
	}
	if x, err = p.postfix(x); err != nil || !filters {
		return x, err
	}
	return p.filterOrTest(x)
}

func (p *parser) primary() (expr, error) {
	switch t := p.cur(); t.sort {
	case tName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constExpr{yes}, nil
		case "false", "False":
			return &constExpr{no}, nil
		case "none", "None":
			return &constExpr{none}, nil
		}
		return &nameExpr{name: t.text}, nil
	case tString:
		s := ""
		for p.is(tString) {
			s += p.next().text
		}
		return &constExpr{String(s)}, nil
	case tInteger, tFloat:
		v, err := constant(p.next())
		if err != nil {
			return nil, syntax(t.line, "%v", err)
		}
		return &constExpr{v}, nil
	case "(":
		p.next()
		x, err := p.tupleOf(p.expression, func() bool { return p.is(")") })
		if err != nil {
			return nil, err
		}
		_, err = p.expect(")")
		return x, err
	case "[":
		p.next()
		items, err := p.sequence("]")
		if vs, ok := constants(items); ok && len(vs) > 0 {
			return &constExpr{List(vs...)}, err
		}
		return &listExpr{items: items}, err
	case "{":
		return p.dict()
	default:
		return nil, syntax(t.line, "unexpected '%s'", t.shown())
	}
}

// tuple reads an expression, or several with commas between them.
func (p *parser) tuple(end func() bool) (expr, error) { return p.tupleOf(p.expression, end) }

// tupleNoCond is a tuple of expressions without an inline if.
func (p *parser) tupleNoCond() (expr, error) { return p.tupleOf(p.or, nil) }

func (p *parser) tupleOf(one func() (expr, error), end func() bool) (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var items []expr
	comma := false
	for !p.is(tVarEnd) && !p.is(tEnd) && !p.is(")") && (end == nil || !end()) {
		x, err := one()
		if err != nil {
			return nil, err
		}
		items = append(items, x)
		if !p.skip(",") {
			break
		}
		comma = true
	}
	if !comma && len(items) == 1 {
		return items[0], nil
	}
	if len(items) == 0 && (end == nil || !p.is(")")) {
		return nil, syntax(p.cur().line, "Expected an expression, got '%s'", p.cur().shown())
	}
	if vs, ok := constants(items); ok && len(vs) > 0 {
		return &constExpr{tuple(vs...)}, nil
	}
	return &tupleExpr{items: items}, nil
}

// constants are the values of expressions that are all constants: a list of
// such is made once.
func constants(xs []expr) ([]Value, bool) {
	vs := make([]Value, len(xs))
	for i, x := range xs {
		c, ok := x.(*constExpr)
		if !ok {
			return nil, false
		}
		vs[i] = c.v
	}
	return vs, true
}

// sequence reads expressions up to a bracket; a comma may stand before it.
func (p *parser) sequence(end string) ([]expr, error) {
	var items []expr
	for !p.is(end) {
		if len(items) > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
			if p.is(end) {
				break
			}
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		items = append(items, x)
	}
	p.next()
	return items, nil
}

func (p *parser) dict() (expr, error) {
	d := &dictExpr{}
	p.next()
	for !p.is("}") {
		if len(d.keys) > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
			if p.is("}") {
				break
			}
		}
		k, err := p.expression()
		if err != nil {
			return nil, err
		}
		if _, err := p.expect(":"); err != nil {
			return nil, err
		}
		v, err := p.expression()
		if err != nil {
			return nil, err
		}
		d.keys, d.vals = append(d.keys, k), append(d.vals, v)
	}
	p.next()
	return d, nil
}
