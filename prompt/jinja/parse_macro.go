package jinja

func (p *parser) macroStmt(line int) (stmt, error) {
	name, err := p.expect(tName)
	if err != nil {
		return nil, err
	}
	m := &macroStmt{name: name.text, target: &nameExpr{name: name.text}, line: line}
	if err := p.signature(m); err != nil {
		return nil, err
	}
	m.body, err = p.closed("endmacro")
	return m, err
}

// signature reads the parameters of a macro or call block.
func (p *parser) signature(m *macroStmt) error {
	if _, err := p.expect("("); err != nil {
		return err
	}
	for !p.is(")") {
		if len(m.params) > 0 {
			if _, err := p.expect(","); err != nil {
				return err
			}
			if p.is(")") {
				break
			}
		}
		name, err := p.expect(tName)
		if err != nil {
			return err
		}
		m.params = append(m.params, &nameExpr{name: name.text})
		if name.text == "caller" {
			m.explicitCaller = true
		}
		switch {
		case p.skip("="):
			x, err := p.expression()
			if err != nil {
				return err
			}
			m.defaults = append(m.defaults, x)
		case len(m.defaults) > 0:
			return syntax(p.cur().line, "non-default argument follows default argument")
		}
	}
	p.next()
	return nil
}

func (p *parser) callBlock(line int) (stmt, error) {
	m := &macroStmt{name: "caller", line: line}
	if p.is("(") {
		if err := p.signature(m); err != nil {
			return nil, err
		}
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	call, ok := x.(*callExpr)
	if !ok {
		return nil, syntax(line, "expected call")
	}
	call.caller = m
	m.body, err = p.closed("endcall")
	return &callBlock{call, line}, err
}

func (p *parser) filterBlock(line int) (stmt, error) {
	f, err := p.oneFilter(nil)
	if err != nil {
		return nil, err
	}
	if f, err = p.filters(f); err != nil {
		return nil, err
	}
	s := &filterBlock{filter: f, line: line}
	s.body, err = p.closed("endfilter")
	return s, err
}

func (p *parser) withStmt(line int) (stmt, error) {
	s := &withStmt{line: line}
	for !p.is(tEnd) {
		if len(s.targets) > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
		}
		target, err := p.target(func() bool { return p.is("=") })
		if err != nil {
			return nil, err
		}
		if _, err := p.expect("="); err != nil {
			return nil, err
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		s.targets, s.values = append(s.targets, target), append(s.values, x)
	}
	var err error
	s.body, err = p.closed("endwith")
	return s, err
}
