package jinja

import (
	"strings"
	"unsafe"
)

// grower lets texts that a template adds to again and again grow in place.
// Without it a loop of "text = text + more" copies all before it every time.
//
// A strings.Builder never writes again what it gave out, so adding to the
// newest text of a builder leaves all older ones as they are; adding to any
// other text copies it.
type grower struct {
	builders [2]*strings.Builder
	last     int
	list     []Value // the newest list made by adding, with room behind it
}

// growing is the length from which texts are worth a builder.
const growing = 512

// concat is a + b; it takes the bytes that are really written.
func (r *run) concat(a, b string) (string, error) {
	if len(a) < growing || b == "" {
		if err := r.take(len(a) + len(b)); err != nil {
			return "", err
		}
		return a + b, nil
	}
	g := &r.grow
	for _, w := range g.builders {
		if w != nil && w.Len() == len(a) && unsafe.StringData(w.String()) == unsafe.StringData(a) {
			return r.extend(w, b)
		}
	}
	if err := r.take(len(a)); err != nil {
		return "", err
	}
	w := &strings.Builder{}
	g.last = 1 - g.last
	g.builders[g.last] = w
	w.Grow(len(a) + len(b) + len(a)/2)
	w.WriteString(a)
	return r.extend(w, b)
}

// extend writes b behind what w holds. Growth doubles a builder, which is
// reckoned once here for every byte.
func (r *run) extend(w *strings.Builder, b string) (string, error) {
	if err := r.take(3 * len(b)); err != nil {
		return "", err
	}
	w.WriteString(b)
	return w.String(), nil
}

// addLists is a + b. The newest sum grows in place, as texts do: nothing else
// has been written behind its end.
func (r *run) addLists(a, b []Value) ([]Value, error) {
	g := &r.grow
	if n := len(a); n > few && len(b) > 0 && n == len(g.list) && &a[0] == &g.list[0] {
		if err := r.take(3 * perItem * len(b)); err != nil {
			return nil, err
		}
		g.list = append(g.list, b...)
		return g.list[:len(g.list):len(g.list)], r.spend(len(b))
	}
	n := len(a) + len(b)
	if err := r.take(2 * n * perItem); err != nil {
		return nil, err
	}
	if err := r.spend(n); err != nil {
		return nil, err
	}
	if n <= few {
		return append(append(make([]Value, 0, n), a...), b...), nil
	}
	g.list = append(append(make([]Value, 0, n+n/2), a...), b...)
	return g.list[:n:n], nil
}
