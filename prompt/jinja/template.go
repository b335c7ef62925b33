package jinja

import (
	"fmt"
	"time"
)

// Template is a parsed chat template. It never changes: any number of
// goroutines may render it at once.
type Template struct {
	body  []stmt
	fn    *layout
	init  []initial
	names []string // what it asks its context for
	loops int      // whose rounds can be reused
	exact bool     // whether it can tell equal values from the same ones
}

// largest is how long the source of a template may be.
const largest = 4 << 20

// Parse compiles the source of a template. The error is an *Error of the kind
// TemplateSyntaxError or TemplateAssertionError.
func Parse(source string) (*Template, error) {
	if len(source) > largest {
		return nil, fmt.Errorf("parse template: %d bytes: %w", len(source), ErrLimit)
	}
	toks, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks}
	body, err := p.body()
	if err != nil {
		return nil, err
	}
	t := &Template{body: body, fn: &layout{}}
	b := &binder{names: contextNames{slots: map[string]int{}}}
	root := newScope(nil, t.fn)
	root.visit(body)
	if err := b.body(root, body); err != nil {
		return nil, err
	}
	t.init = root.initials(&b.names)
	t.names = b.names.list
	t.exact = b.exact
	watch(t, fold(t))
	findPrinters(t.body)
	return t, nil
}

// Names are the names that the template asks its context for, globals such as
// range included, in the order of the text.
func (t *Template) Names() []string { return append([]string(nil), t.names...) }

// run is the state of one rendering.
type run struct {
	o Options
	output
	*desk
	steps int // left
	look  int // at so many steps left the clock is read
	bytes int // left
	depth int
	// framed are the bytes that frames took.
	framed int
	ends   time.Time

	ctx   []Value // by Template.names
	fr    *frame
	root  *frame // of the template itself
	free  []*frame
	grow  grower
	memo  *Memo
	rec   *recording // of the round under way, nil if none is noted
	born  int64      // number of the newest namespace
	wild  bool       // a value that changes was put where it is not watched
	under []*frame
	turns int  // rounds that the loop that ended last has run
	broke bool // whether it was left by a break
	began int  // where the part of a list taken last begins, -1 where that depends on its length
	found map[*forStmt]*found
	// captured counts the blocks around whose text is taken as a value.
	captured int
}

// frame holds the variables of one call; up is that of the function around.
type frame struct {
	vars []Value
	up   *frame
}

// Render appends the text that the template makes of a context, a mapping.
// The context is read only. On an error the text so far is dropped and dst
// comes back as it was.
func (t *Template) Render(dst []byte, ctx Value, o Options) ([]byte, error) {
	r, err := t.start(ctx, o)
	if err != nil {
		return dst, err
	}
	defer r.clearUp()
	r.out, r.base = dst, len(dst)
	if err := t.play(r); err != nil {
		return dst, err
	}
	return r.out, nil
}

// start makes ready a rendering. Its desk is to be cleared.
func (t *Template) start(ctx Value, o Options) (*run, error) {
	if ctx.kind != kMap {
		return nil, fmt.Errorf("render template: the context is no mapping but %s", typeName(ctx))
	}
	r := &run{o: o.defaults(), desk: desks.Get().(*desk)}
	r.steps, r.bytes = r.o.Steps, r.o.Bytes
	r.look = max(0, r.steps-glance)
	r.ends = time.Now().Add(r.o.Time)
	r.ctx = make([]Value, len(t.names))
	m := ctx.mapping()
	for i, name := range t.names {
		v, ok := m.Find(name)
		if !ok {
			if v, ok = r.global(name); !ok {
				v = undefinedName(name)
			}
		}
		r.ctx[i] = v
	}
	r.root = &frame{vars: make([]Value, t.fn.slots)}
	r.fr = r.root
	return r, nil
}

// play runs it.
func (t *Template) play(r *run) error {
	r.begin(t.init)
	_, err := r.exec(t.body)
	return err
}

// begin sets the variables of a scope to what they are at its start.
func (r *run) begin(init []initial) {
	for i := range init {
		switch in := &init[i]; in.how {
		case fromNothing:
			r.fr.vars[in.slot] = Value{}
		default:
			r.fr.vars[in.slot] = r.read(in.from)
			if r.rec != nil && in.watch != nil {
				r.rec.alias(r, in.watch, r.fr.vars[in.slot])
			}
		}
	}
}

func (r *run) read(p place) Value {
	if p.context {
		return r.ctx[p.slot]
	}
	f := r.fr
	for range p.hops {
		f = f.up
	}
	return f.vars[p.slot]
}
