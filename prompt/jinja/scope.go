package jinja

// place is where a variable lives: in the frame so many functions out, or
// among the names that the context answers for.
type place struct {
	context bool
	hops    int
	slot    int
}

// layout is what one function of a template needs at run time: the template
// itself, a macro, or a recursive loop.
type layout struct {
	slots int
	up    *layout
	// holds is set when something made inside may outlive the call.
	holds bool
}

// origin says what a variable is when its scope begins.
type origin uint8

const (
	fromNothing origin = iota // no value yet
	fromOuter                 // the value of an outer variable of that name
	fromContext               // what the context says
	fromCaller                // a parameter or loop target: set by whoever enters
)

// initial is what to do to a variable when its scope begins.
type initial struct {
	slot int
	how  origin
	from place
	// watch is set where a round of a loop that can be reused takes the value
	// from outside.
	watch *watchExpr
}

// scope follows Jinja2's symbol analysis, which decides by the text of the
// template alone what each name means in each block.
type scope struct {
	parent *scope
	fn     *layout
	vars   *vars // shared by the copies for the branches of an if
	refs   map[string]int
	loads  map[int]source
	stores map[string]bool
}

// vars hands out the slots of one scope's names.
type vars struct {
	slots map[string]int
	used  map[int]bool // slots that something reads
	order []string
}

type source struct {
	how   origin
	outer string // the name in the parent's scopes
}

func newScope(parent *scope, fn *layout) *scope {
	return &scope{
		parent: parent, fn: fn,
		vars: &vars{slots: map[string]int{}, used: map[int]bool{}},
		refs: map[string]int{}, loads: map[int]source{}, stores: map[string]bool{},
	}
}

func (s *scope) branch() *scope {
	c := *s
	c.refs, c.loads, c.stores = map[string]int{}, map[int]source{}, map[string]bool{}
	c.take(s)
	return &c
}

func (s *scope) take(b *scope) {
	for k, v := range b.refs {
		s.refs[k] = v
	}
	for k, v := range b.loads {
		s.loads[k] = v
	}
	for k := range b.stores {
		s.stores[k] = true
	}
}

func (s *scope) define(name string, from source) int {
	slot, ok := s.vars.slots[name]
	if !ok {
		slot = s.fn.slots
		s.fn.slots++
		s.vars.slots[name] = slot
		s.vars.order = append(s.vars.order, name)
	}
	s.refs[name] = slot
	s.loads[slot] = from
	return slot
}

// owner is the innermost scope that knows a name, nil if none does.
func (s *scope) owner(name string) *scope {
	for ; s != nil; s = s.parent {
		if _, ok := s.refs[name]; ok {
			return s
		}
	}
	return nil
}

func (s *scope) known(name string) bool { return s.owner(name) != nil }

func (s *scope) load(name string) {
	if !s.known(name) {
		s.define(name, source{how: fromContext})
	}
}

func (s *scope) store(name string) {
	s.stores[name] = true
	if _, ok := s.refs[name]; ok {
		return
	}
	if s.parent.known(name) {
		s.define(name, source{fromOuter, name})
		return
	}
	s.define(name, source{how: fromNothing})
}

func (s *scope) param(name string) int {
	s.stores[name] = true
	return s.define(name, source{how: fromCaller})
}

// join takes up what the branches of an if store: each such variable may also
// keep the value it had.
func (s *scope) join(branches ...*scope) {
	fresh := map[string]bool{}
	for _, b := range branches {
		for name := range b.stores {
			if !s.stores[name] {
				fresh[name] = true
			}
		}
	}
	for _, b := range branches {
		s.take(b)
	}
	for name := range fresh {
		how := source{how: fromContext}
		if s.parent.known(name) {
			how = source{fromOuter, name}
		}
		s.loads[s.refs[name]] = how
	}
}

// find is the place of a name that was analysed.
func (s *scope) find(name string, names *contextNames) place {
	o := s.owner(name)
	if o == nil {
		return place{context: true, slot: names.slot(name)}
	}
	slot := o.refs[name]
	if o.loads[slot].how == fromContext && !o.stores[name] {
		return place{context: true, slot: names.slot(name)}
	}
	o.vars.used[slot] = true
	hops := 0
	for fn := s.fn; fn != o.fn; fn = fn.up {
		hops++
	}
	return place{hops: hops, slot: slot}
}

// initials are what to do when the scope begins.
func (s *scope) initials(names *contextNames) []initial {
	var out []initial
	for _, name := range s.vars.order {
		slot := s.vars.slots[name]
		from, ok := s.loads[slot]
		switch {
		case !ok || from.how == fromCaller:
		case from.how == fromOuter:
			at := s.parent.find(from.outer, names)
			if s.parent.fn != s.fn {
				at.hops++
			}
			out = append(out, initial{slot: slot, how: fromOuter, from: at})
		case from.how == fromNothing:
			out = append(out, initial{slot: slot})
		case s.stores[name]:
			out = append(out, initial{slot: slot, how: fromContext, from: place{context: true, slot: names.slot(name)}})
		}
	}
	return out
}

// contextNames are the names that a template asks its context for.
type contextNames struct {
	list  []string
	slots map[string]int
}

func (c *contextNames) slot(name string) int {
	n, ok := c.slots[name]
	if !ok {
		n = len(c.list)
		c.list = append(c.list, name)
		c.slots[name] = n
	}
	return n
}
