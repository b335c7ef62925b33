package jinja

// A round of a loop over messages gives the same text again if its item and
// all that it read from outside of itself are the same. What it reads is found
// in two steps. When a template is compiled, every largest expression inside
// of such a loop, or of a macro, that depends on outside things alone is put
// into a watch; when a round runs under a Memo, the watches it passes note
// what they gave. A later round is the same if they give that again: each is
// asked only where the answers before it were the same, so the round would
// have asked it too.

// watcher is something outside of a round that it may look at.
type watcher interface {
	// holds reports whether a look gives the same again. It may renew want
	// with an equal value that is faster to compare the next time.
	holds(r *run, key Value, want *Value) bool
	// reach is how far what it gives may differ from round to round.
	reach() reach
}

// watchExpr is an expression that nothing inside of a round changes: its value
// is the same whenever in the round it is asked for.
type watchExpr struct {
	x     expr
	depth int // of functions around it
	bare  []place
	far   reach
	// index is set where it is the number of the round.
	index bool
}

// watchTest is a watchExpr of which only the truth counts.
type watchTest watchExpr

func (w *watchExpr) eval(r *run) (Value, error) {
	rec := r.rec
	if rec == nil {
		return w.x.eval(r)
	}
	r.rec = nil
	v, err := w.x.eval(r)
	switch r.rec = rec; {
	case w.index:
		rec.index = true
	case err == nil:
		rec.note(r, w, w.bare, Value{}, v)
	}
	return v, err
}

func (w *watchExpr) reach() reach { return w.far }

func (w *watchTest) reach() reach { return w.far }

func (w *watchExpr) test(r *run) (bool, error) {
	rec := r.rec
	if rec == nil {
		return w.x.test(r)
	}
	r.rec = nil
	ok, err := w.x.test(r)
	if r.rec = rec; err == nil {
		rec.note(r, (*watchTest)(w), w.bare, Value{}, Bool(ok))
	}
	return ok, err
}

func (w *watchExpr) holds(r *run, _ Value, want *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	v, err := w.x.eval(r)
	r.fr = before
	return err == nil && r.memo.renew(r, v, want)
}

func (w *watchTest) holds(r *run, _ Value, want *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	ok, err := w.x.test(r)
	r.fr = before
	return err == nil && ok == (want.n != 0)
}

// watchCell is an attribute of a namespace that rounds set: what counts is its
// value when the round begins.
type watchCell struct {
	x     *attrExpr
	depth int
}

func (w *watchCell) reach() reach { return allReach }

func (w *watchCell) eval(r *run) (Value, error) {
	rec := r.rec
	if rec == nil {
		return w.x.eval(r)
	}
	r.rec = nil
	v, err := w.x.eval(r)
	if r.rec = rec; err == nil {
		rec.cell(r, w, v)
	}
	return v, err
}

func (w *watchCell) test(r *run) (bool, error) {
	if r.rec == nil {
		return w.x.test(r)
	}
	v, err := w.eval(r)
	if err != nil {
		return false, err
	}
	return truth(v), nil
}

func (w *watchCell) holds(r *run, _ Value, want *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	v, err := w.x.eval(r)
	r.fr = before
	return err == nil && r.memo.renew(r, v, want)
}

// watchItem is a member of something outside under a key from inside, such as
// messages[i].
type watchItem struct {
	x     *itemExpr
	depth int
	bare  []place
	far   reach
}

func (w *watchItem) reach() reach { return w.far }

func (w *watchItem) eval(r *run) (Value, error) {
	rec := r.rec
	if rec == nil {
		return w.x.eval(r)
	}
	r.rec = nil
	of, err := w.x.of.eval(r)
	if r.rec = rec; err != nil {
		return of, err
	}
	k, err := w.x.key.eval(r)
	if err != nil {
		return k, err
	}
	v, err := r.item(of, k)
	if err == nil {
		r.rec.note(r, w, w.bare, k, v)
	}
	return v, at(w.x.line, err)
}

func (w *watchItem) test(r *run) (bool, error) {
	v, err := w.eval(r)
	if err != nil {
		return false, err
	}
	return truth(v), nil
}

func (w *watchItem) holds(r *run, key Value, want *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	of, err := w.x.of.eval(r)
	r.fr = before
	if err != nil {
		return false
	}
	v, err := r.item(of, key)
	return err == nil && r.memo.renew(r, v, want)
}

// tookKey is the key of a loop that has run so many rounds over a list from a
// place on. Loops over different parts of a list have different keys.
func tookKey(from, turns int, all bool) Value {
	key := int64(from)<<32 | int64(turns)<<1
	if all {
		key++
	}
	return Int(key)
}

func tookAll(key Value) bool { return key.n&1 != 0 }

// watchLoop is a list outside that an inner loop goes through from its
// beginning, perhaps not to its end. Want is what it took; the key says how
// much that was and whether it was all, see tookKey.
type watchLoop watchExpr

func (w *watchLoop) reach() reach { return w.far }

func (w *watchLoop) holds(r *run, key Value, want *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	v, err := w.x.eval(r)
	r.fr = before
	if err != nil || v.kind != want.kind {
		return false
	}
	if v.kind == kRange {
		s, w := *as[span](v), *as[span](*want)
		n, took := s.count(), w.count()
		return n == took && tookAll(key) || n >= took && !tookAll(key) && s.start == w.start && s.step == w.step
	}
	vs, n := v.items(), len(want.items())
	if len(vs) < n || tookAll(key) && len(vs) != n {
		return false
	}
	return r.memo.renew(r, members(v.kind, vs[:n]), want)
}

// watchTail is the rest of a list outside, from a place that the round knows,
// which an inner loop goes through, perhaps not to its end. Want is what it
// took; the key holds the place too.
type watchTail struct {
	of    expr
	depth int
	bare  []place
	far   reach
}

func (w *watchTail) reach() reach { return w.far }

func (w *watchTail) holds(r *run, key Value, want *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	v, err := w.of.eval(r)
	r.fr = before
	if err != nil || v.kind != want.kind {
		return false
	}
	vs, n := v.items(), len(want.items())
	vs = vs[min(int(key.n>>32), len(vs)):]
	if len(vs) < n || tookAll(key) && len(vs) != n {
		return false
	}
	return r.memo.renew(r, members(v.kind, vs[:n]), want)
}

// watchAlias is a variable that holds a namespace, whichever.
type watchAlias watchExpr

func (w *watchAlias) reach() reach { return allReach }

func (w *watchAlias) holds(r *run, _ Value, _ *Value) bool {
	before := r.fr
	r.fr = r.below(w.depth)
	v, err := w.x.eval(r)
	r.fr = before
	return err == nil && v.kind == kNamespace
}

// below is a frame in which an expression of a function so deep finds the
// variables of the template itself.
func (r *run) below(depth int) *frame {
	f := r.fr
	for i := range depth {
		if i == len(r.under) {
			r.under = append(r.under, &frame{up: f})
		}
		f = r.under[i]
	}
	return f
}
