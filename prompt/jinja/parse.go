package jinja

import "slices"

// parser makes a tree of tokens. It follows Jinja2's own parser rule by rule,
// oddities included.
type parser struct {
	toks  []token
	i     int
	depth int
}

// highest is how high the tree of a template may be, and how deep its
// brackets and blocks may nest.
const highest = 400

func (p *parser) cur() token { return p.toks[p.i] }

func (p *parser) next() token {
	t := p.toks[p.i]
	if p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

func (p *parser) peek() token { return p.toks[min(p.i+1, len(p.toks)-1)] }

// is reports whether the current token is an operator or tag end.
func (p *parser) is(sort string) bool { return p.cur().sort == sort }

// isName reports whether the current token is one of the given words.
func (p *parser) isName(words ...string) bool {
	return p.cur().sort == tName && slices.Contains(words, p.cur().text)
}

func (p *parser) skip(sort string) bool {
	if p.is(sort) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipName(word string) bool {
	if p.isName(word) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(sort string) (token, error) {
	if !p.is(sort) {
		return token{}, syntax(p.cur().line, "expected token '%s', got '%s'", sort, p.cur().shown())
	}
	return p.next(), nil
}

func (p *parser) expectName(word string) error {
	if !p.skipName(word) {
		return syntax(p.cur().line, "expected token '%s', got '%s'", word, p.cur().shown())
	}
	return nil
}

// shown is a token as messages name it.
func (t token) shown() string {
	if t.sort == tName {
		return t.text
	}
	return t.sort
}

// enter counts how deep the parser is; leave takes it back.
func (p *parser) enter() error {
	if p.depth++; p.depth > highest {
		return tooHigh(p.cur().line)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// body reads statements up to a tag that begins with one of the given words,
// or to the end of the template without any; the word is the current token
// afterwards.
func (p *parser) body(ends ...string) ([]stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var out []stmt
	for {
		switch t := p.next(); t.sort {
		case tEOF:
			if len(ends) > 0 {
				return nil, syntax(t.line, "Unexpected end of template. Jinja was looking for the following tags: '%s'.", ends[0])
			}
			return out, nil
		case tData:
			out = append(out, &dataStmt{t.text})
		case tVarBegin:
			x, err := p.tuple(nil)
			if err != nil {
				return nil, err
			}
			if _, err := p.expect(tVarEnd); err != nil {
				return nil, err
			}
			out = append(out, &printStmt{x: x, line: t.line})
		case tBegin:
			if p.isName(ends...) {
				return out, nil
			}
			s, err := p.statement()
			if err != nil {
				return nil, err
			}
			if _, err := p.expect(tEnd); err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
}

// block reads the end of a tag, and the body up to one of the given tags.
func (p *parser) block(ends ...string) ([]stmt, error) {
	p.skip(":")
	if _, err := p.expect(tEnd); err != nil {
		return nil, err
	}
	return p.body(ends...)
}

// closed is a block up to the one tag that ends it.
func (p *parser) closed(end string) ([]stmt, error) {
	body, err := p.block(end)
	p.next()
	return body, err
}

func (p *parser) statement() (stmt, error) {
	t := p.cur()
	if t.sort != tName {
		return nil, syntax(t.line, "tag name expected")
	}
	p.next()
	switch t.text {
	case "if":
		return p.ifStmt()
	case "for":
		return p.forStmt(t.line)
	case "set":
		return p.setStmt(t.line)
	case "macro":
		return p.macroStmt(t.line)
	case "call":
		return p.callBlock(t.line)
	case "filter":
		return p.filterBlock(t.line)
	case "with":
		return p.withStmt(t.line)
	case "generation":
		body, err := p.closed("endgeneration")
		return &scopeStmt{body: body}, err
	case "break":
		return breakStmt{}, nil
	case "continue":
		return continueStmt{}, nil
	case "print":
		x, err := p.tuple(nil)
		return &printStmt{x: x, line: t.line}, err
	case "block", "extends", "include", "import", "from", "autoescape":
		return nil, syntax(t.line, "the tag '%s' is outside of what chat templates may use", t.text)
	}
	return nil, syntax(t.line, "Encountered unknown tag '%s'.", t.text)
}

func (p *parser) ifStmt() (stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	test, err := p.tupleNoCond()
	if err != nil {
		return nil, err
	}
	s := &ifStmt{test: test}
	if s.then, err = p.block("elif", "else", "endif"); err != nil {
		return nil, err
	}
	switch p.next().text {
	case "elif":
		rest, err := p.ifStmt()
		s.rest = []stmt{rest}
		return s, err
	case "else":
		s.rest, err = p.closed("endif")
	}
	return s, err
}

func (p *parser) forStmt(line int) (stmt, error) {
	s := &forStmt{line: line}
	var err error
	if s.target, err = p.target(func() bool { return p.isName("in") }); err != nil {
		return nil, err
	}
	if err := p.expectName("in"); err != nil {
		return nil, err
	}
	if s.iter, err = p.tupleOf(p.or, func() bool { return p.isName("recursive") }); err != nil {
		return nil, err
	}
	if p.skipName("if") {
		if s.test, err = p.expression(); err != nil {
			return nil, err
		}
	}
	s.recursive = p.skipName("recursive")
	if s.body, err = p.block("endfor", "else"); err != nil {
		return nil, err
	}
	if p.next().text == "else" {
		s.other, err = p.closed("endfor")
	}
	return s, err
}

// target reads what a loop or an assignment may store in.
func (p *parser) target(end func() bool) (expr, error) {
	x, err := p.tupleOf(p.primary, end)
	if err != nil {
		return nil, err
	}
	return x, p.assignable(x)
}

func (p *parser) assignable(x expr) error {
	switch x := x.(type) {
	case *nameExpr:
		return nil
	case *tupleExpr:
		for _, item := range x.items {
			if err := p.assignable(item); err != nil {
				return err
			}
		}
		return nil
	}
	return syntax(p.cur().line, "can't assign to '%s'", p.cur().shown())
}

func (p *parser) setStmt(line int) (stmt, error) {
	var target expr
	var err error
	if p.cur().sort == tName && p.peek().sort == "." {
		ns := &nameExpr{name: p.next().text}
		p.next()
		attr, err := p.expect(tName)
		if err != nil {
			return nil, err
		}
		target = &fieldExpr{ns: ns, attr: attr.text, line: line}
	} else if target, err = p.target(func() bool { return p.is("=") }); err != nil {
		return nil, err
	}
	if p.skip("=") {
		x, err := p.tuple(nil)
		return &setStmt{target, x, line}, err
	}
	s := &setBlock{target: target, line: line}
	if s.filter, err = p.filters(nil); err != nil {
		return nil, err
	}
	s.body, err = p.closed("endset")
	return s, err
}
