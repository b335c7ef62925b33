package jinja

// postfix reads look-ups and calls.
func (p *parser) postfix(x expr) (expr, error) {
	for {
		var err error
		switch p.cur().sort {
		case ".", "[":
			x, err = p.subscript(x)
		case "(":
			x, err = p.call(x)
		default:
			return x, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) filterOrTest(x expr) (expr, error) {
	for {
		var err error
		switch {
		case p.is("|"):
			x, err = p.filters(x)
		case p.isName("is"):
			x, err = p.test(x)
		case p.is("("):
			x, err = p.call(x)
		default:
			return x, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) subscript(x expr) (expr, error) {
	t := p.next()
	if t.sort == "." {
		attr := p.next()
		switch attr.sort {
		case tName:
			return newAttr(x, attr), nil
		case tInteger:
			v, err := constant(attr)
			return newItem(x, &constExpr{v}, t.line), err
		}
		return nil, syntax(attr.line, "expected name or number")
	}
	var parts []expr
	for !p.is("]") {
		if len(parts) > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
		}
		part, err := p.subscribed(x, t.line)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	p.next()
	if len(parts) == 1 {
		if s, ok := parts[0].(*sliceExpr); ok && s.of == x {
			return s, nil
		}
		return newItem(x, parts[0], t.line), nil
	}
	for _, part := range parts {
		if s, ok := part.(*sliceExpr); ok && s.of == x {
			return nil, syntax(t.line, "a slice in a tuple is outside of what chat templates may use")
		}
	}
	return newItem(x, &tupleExpr{items: parts}, t.line), nil
}

// subscribed is one part inside of brackets: an expression or a slice of of.
func (p *parser) subscribed(of expr, line int) (expr, error) {
	s := &sliceExpr{of: of, line: line}
	var err error
	if !p.is(":") {
		x, err := p.expression()
		if err != nil || !p.is(":") {
			return x, err
		}
		s.start = x
	}
	p.next()
	if !p.is(":") && !p.is("]") && !p.is(",") {
		if s.stop, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if p.skip(":") && !p.is("]") && !p.is(",") {
		s.step, err = p.expression()
	}
	return s, err
}

func (p *parser) call(fn expr) (expr, error) {
	line := p.cur().line
	args, err := p.args()
	return &callExpr{fn: fn, args: args, line: line}, err
}

func (p *parser) args() (a argList, err error) {
	t, err := p.expect("(")
	if err != nil {
		return a, err
	}
	bad := syntax(t.line, "invalid syntax for function call expression")
	for comma := false; !p.is(")"); comma = true {
		if comma {
			if _, err := p.expect(","); err != nil {
				return a, err
			}
			if p.is(")") {
				break
			}
		}
		switch {
		case p.is("*"):
			if p.next(); a.star != nil || a.starNames != nil {
				return a, bad
			}
			a.star, err = p.expression()
		case p.is("**"):
			if p.next(); a.starNames != nil {
				return a, bad
			}
			a.starNames, err = p.expression()
		case p.cur().sort == tName && p.peek().sort == "=":
			if a.starNames != nil {
				return a, bad
			}
			err = p.keyword(&a)
		default:
			if a.star != nil || a.starNames != nil || len(a.kw) > 0 {
				return a, bad
			}
			var x expr
			x, err = p.expression()
			a.pos = append(a.pos, x)
		}
		if err != nil {
			return a, err
		}
	}
	p.next()
	return a, nil
}

func (p *parser) keyword(a *argList) error {
	name := p.next().text
	p.next()
	for _, n := range a.names {
		if n == name {
			return syntax(p.cur().line, "keyword argument repeated: %s", name)
		}
	}
	x, err := p.expression()
	a.names, a.kw = append(a.names, name), append(a.kw, x)
	return err
}

// filters reads "|name(args)" as often as it comes.
func (p *parser) filters(x expr) (expr, error) {
	var err error
	for err == nil && p.skip("|") {
		x, err = p.oneFilter(x)
	}
	return x, err
}

func (p *parser) oneFilter(x expr) (expr, error) {
	f := &filterExpr{of: x, line: p.cur().line}
	var err error
	if f.name, err = p.dotted(); err != nil {
		return nil, err
	}
	if p.is("(") {
		f.args, err = p.args()
	}
	return f, err
}

// dotted is the name of a filter or test.
func (p *parser) dotted() (string, error) {
	t, err := p.expect(tName)
	name := t.text
	for err == nil && p.skip(".") {
		t, err = p.expect(tName)
		name += "." + t.text
	}
	return name, err
}

func (p *parser) test(x expr) (expr, error) {
	t := &testExpr{of: x, line: p.next().line}
	negated := p.skipName("not")
	var err error
	if t.name, err = p.dotted(); err != nil {
		return nil, err
	}
	switch p.cur().sort {
	case "(":
		t.args, err = p.args()
	case tName, tString, tInteger, tFloat, "[", "{":
		if p.isName("else", "or", "and") {
			break
		}
		if p.isName("is") {
			return nil, syntax(p.cur().line, "You cannot chain multiple tests with is")
		}
		var arg expr
		if arg, err = p.primary(); err != nil {
			return nil, err
		}
		arg, err = p.postfix(arg)
		t.args.pos = []expr{arg}
	}
	if negated {
		return &notExpr{t}, err
	}
	return t, err
}
