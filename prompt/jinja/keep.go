package jinja

import "sync/atomic"

// keptJSON is the JSON of a mapping that is written again and again, in the
// style in which it was written first.
type keptJSON struct{ text atomic.Pointer[jsonText] }

type jsonText struct {
	style jsonStyle
	depth int // where the style indents
	text  string

	steps, used int // and bytes
}

// keptDepth is how far down Keep goes.
const keptDepth = 4

// Keep has the JSON of the mappings in a value kept once it is written, in one
// style each: for values that many renderings print, such as lists of tools.
// The text lives as long as the value. Keep must be called before others see
// the value.
func Keep(v Value) { keep(v, 0) }

func keep(v Value, depth int) {
	if depth == keptDepth {
		return
	}
	switch v.kind {
	case kList, kTuple:
		for _, x := range v.items() {
			keep(x, depth+1)
		}
	case kMap:
		m := v.mapping()
		if m.Len() > 0 {
			m.json = new(keptJSON)
		}
		for _, x := range m.vals {
			keep(x, depth+1)
		}
	}
}

// kept writes a mapping, from the text that is kept of it if there is one. It
// counts as if it had been made. What stands inside of a text that is kept is
// not kept once more.
func (w *jsonWriter) kept(m *Map, depth int) error {
	k := m.json
	if k == nil || w.keeps {
		return w.object(m, depth)
	}
	from, at := len(w.dst), 0
	if w.lines {
		at = depth
	}
	if t := k.text.Load(); t != nil {
		if t.style != w.jsonStyle || t.depth != at || t.used > w.r.bytes {
			return w.object(m, depth)
		}
		w.dst = append(w.dst, t.text...)
		w.r.bytes -= t.used
		w.tookUpTo = from + t.used
		return w.r.spend(t.steps)
	}
	steps, used := w.r.steps, w.r.bytes
	w.keeps = true
	err := w.object(m, depth)
	w.keeps = false
	if err == nil {
		k.text.Store(&jsonText{w.jsonStyle, at, string(w.dst[from:]), steps - w.r.steps, used - w.r.bytes})
	}
	return err
}
