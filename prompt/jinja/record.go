package jinja

// record is one round of a loop: its item, its text, what it looked at and
// set.
type record struct {
	item        Value
	at, size    int // its text in that of the rendering
	sh          *shape
	more        *more // nil for most
	steps, used int   // and bytes
	end         signal
	lost        bool  // it cannot be reused
	missed      uint8 // renderings in a row that could not reuse it
}

// more is what few rounds have.
type more struct {
	text  string // in place of that in the rendering, where it was captured
	marks []mark
}

// recording is what the round under way has looked at and done so far.
type recording struct {
	looks  []look
	writes []write
	marks  []mark // messages printed by loops inside
	set    []cell // what it has written already
	index  bool   // it looked at its number
	lost   bool   // it did what cannot be watched
	from   int    // where in the output it began
	born   int64  // the newest namespace then
}

// cell is an attribute of one namespace.
type cell struct {
	ns   *Map
	attr string
}

// mark is a message that a loop inside of a round printed.
type mark struct {
	m        *Map
	at, size int // from where the round began
}

// mostLooks is how much a round may look at and still be worth reusing.
const mostLooks = 96

func (c *recording) reset(r *run) {
	c.from, c.born = r.pos(), r.born
	c.looks, c.writes, c.marks, c.set = c.looks[:0], c.writes[:0], c.marks[:0], c.set[:0]
	c.index, c.lost = false, false
}

// note keeps what a watcher gave.
func (c *recording) note(r *run, w watcher, bare []place, key, v Value) {
	if c.lost {
		return
	}
	for i := range c.looks {
		if c.looks[i].at == w && (key.kind == kMissing || key.kind == c.looks[i].key.kind && key.n == c.looks[i].key.n && key.str() == c.looks[i].key.str()) {
			return
		}
	}
	for _, p := range bare {
		c.lost = c.lost || fleeting(r.read(p))
	}
	switch key.kind {
	case kMissing, kInt, kString, kBool, kNone:
	default:
		c.lost = true
	}
	if v.kind == kMacro {
		m := as[macro](v)
		c.lost = c.lost || m.up != r.root
		v = boxed(kMacro, &m.decl.alone)
	}
	if c.lost = c.lost || fleeting(v) || len(c.looks) >= mostLooks; !c.lost {
		c.looks = append(c.looks, look{w, key, v})
	}
}

// alias keeps the value of a variable that becomes one of the round's own. A
// namespace may be copied so: what then is done to it shows it.
func (c *recording) alias(r *run, w *watchExpr, v Value) {
	if v.kind == kNamespace {
		c.looks = append(c.looks, look{at: (*watchAlias)(w)})
		return
	}
	c.note(r, w, nil, Value{}, v)
}

// fleeting reports a value that is not the same forever, or that cannot be
// found again in another rendering.
func fleeting(v Value) bool {
	switch v.kind {
	case kNamespace, kIter, kLoop:
		return true
	case kFunc:
		f := as[function](v)
		return globals[f.name].p != v.p
	}
	return false
}

// cell keeps the value that an attribute of a namespace had at the beginning.
func (c *recording) cell(r *run, w *watchCell, v Value) {
	of := w.x.of.(*nameExpr).ref(r)
	if of.kind != kNamespace {
		c.note(r, w, nil, Value{}, v)
		return
	}
	for _, s := range c.set {
		if s.ns == of.mapping() && s.attr == w.x.name {
			return
		}
	}
	c.note(r, w, nil, Value{}, v)
}

// write keeps an assignment to a namespace.
func (c *recording) write(r *run, t *fieldExpr, ns, v Value) {
	if !t.outside {
		c.lost = c.lost || r.old(ns)
		return
	}
	if v.kind == kMacro || fleeting(v) {
		c.lost = true
	}
	c.writes = append(c.writes, write{t, v})
	c.set = append(c.set, cell{ns.mapping(), t.attr})
	if len(c.writes) > mostLooks {
		c.lost = true
	}
}

// old reports a namespace from outside of the round under way: what looks at
// one is watched, or else makes the round one that cannot be reused.
func (r *run) old(v Value) bool {
	return r.rec != nil && v.kind == kNamespace && v.n <= r.rec.born
}

// unsteady tells the round under way that it did what cannot be watched.
func (r *run) unsteady() {
	if r.rec != nil {
		r.rec.lost = true
	}
}
