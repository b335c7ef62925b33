package jinja

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// jsonWriter writes what json.dumps writes.
type jsonWriter struct {
	r *run
	jsonStyle
	dst      []byte
	tookUpTo int
	keeps    bool // the text under way is to be kept
}

// jsonStyle is how it is written.
type jsonStyle struct {
	ascii   bool
	sorted  bool
	indent  string // of one level
	lines   bool   // whether there is an indent at all
	itemSep string
	keySep  string
}

// count charges what was written since the last call, and a step for the
// value at hand: a few lists that hold one another are many values.
func (w *jsonWriter) count() error {
	if err := w.r.spend(1); err != nil {
		return err
	}
	n := len(w.dst) - w.tookUpTo
	w.tookUpTo = len(w.dst)
	return w.r.take(n)
}

func (w *jsonWriter) value(v Value, depth int) error {
	if depth > deepest {
		return tooDeep()
	}
	if err := w.count(); err != nil {
		return err
	}
	switch v.kind {
	case kString:
		w.str(v.str())
	case kList, kTuple:
		return w.list(v.items(), depth)
	case kMap:
		return w.kept(v.mapping(), depth)
	case kNone, kBool, kInt, kBig, kFloat:
		w.dst = append(w.dst, jsonAtom(v)...)
	default:
		return typeError("Object of type %s is not JSON serializable", typeName(v))
	}
	return nil
}

func jsonAtom(v Value) string {
	switch v.kind {
	case kNone:
		return "null"
	case kBool:
		return strings.ToLower(repr(v))
	case kFloat:
		switch f := v.float(); {
		case math.IsInf(f, 1):
			return "Infinity"
		case math.IsInf(f, -1):
			return "-Infinity"
		case math.IsNaN(f):
			return "NaN"
		}
	}
	return repr(v)
}

func (w *jsonWriter) newline(depth int) {
	if w.lines {
		w.dst = append(w.dst, '\n')
		for range depth {
			w.dst = append(w.dst, w.indent...)
		}
	}
}

func (w *jsonWriter) list(vs []Value, depth int) error {
	if len(vs) == 0 {
		w.dst = append(w.dst, "[]"...)
		return nil
	}
	w.dst = append(w.dst, '[')
	for i, v := range vs {
		if i > 0 {
			w.dst = append(w.dst, w.itemSep...)
		}
		w.newline(depth + 1)
		if err := w.value(v, depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.dst = append(w.dst, ']')
	return nil
}

func (w *jsonWriter) object(m *Map, depth int) error {
	if m.Len() == 0 {
		w.dst = append(w.dst, "{}"...)
		return nil
	}
	order, err := w.order(m)
	if err != nil {
		return err
	}
	w.dst = append(w.dst, '{')
	for n := range m.keys {
		i := n
		if order != nil {
			i = order[n]
		}
		if n > 0 {
			w.dst = append(w.dst, w.itemSep...)
		}
		w.newline(depth + 1)
		switch k := m.keys[i]; k.kind {
		case kString:
			w.str(k.str())
		case kNone, kBool, kInt, kBig, kFloat:
			w.str(jsonAtom(k))
		default:
			return typeError("keys must be str, int, float, bool or None, not %s", typeName(k))
		}
		w.dst = append(w.dst, w.keySep...)
		if err := w.value(m.vals[i], depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.dst = append(w.dst, '}')
	return nil
}

// order is in which order the entries are written, nil for their own.
func (w *jsonWriter) order(m *Map) ([]int, error) {
	if !w.sorted {
		return nil, nil
	}
	order := make([]int, m.Len())
	for i := range order {
		order[i] = i
	}
	var fail error
	slices.SortStableFunc(order, func(a, b int) int {
		less, err := w.r.less(m.keys[a], m.keys[b], "<", 0)
		fail = cmp.Or(fail, err)
		if less {
			return -1
		}
		more, err := w.r.less(m.keys[b], m.keys[a], "<", 0)
		fail = cmp.Or(fail, err)
		if more {
			return 1
		}
		return 0
	})
	return order, fail
}

func (w *jsonWriter) str(s string) {
	w.dst = append(w.dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if !w.ascii {
			i = plainJSON(s, i)
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && (c < 0x7f || !w.ascii) {
			i++
			continue
		}
		w.dst = append(w.dst, s[from:i]...)
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			w.unicode(r)
			i += n
		} else {
			w.control(c)
			i++
		}
		from = i
	}
	w.dst = append(append(w.dst, s[from:]...), '"')
}

// plainJSON is the place from i on up to which eight bytes at a time stand for
// themselves in JSON: none is a control character, a quote or a backslash.
func plainJSON(s string, i int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s[i:]), 8))
		quote, slash := x^each*'"', x^each*'\\'
		if ((x-each*' ')&^x|(quote-each)&^quote|(slash-each)&^slash)&high != 0 {
			break
		}
	}
	return i
}

func (w *jsonWriter) control(c byte) {
	switch c {
	case '"', '\\':
		w.dst = append(w.dst, '\\', c)
	case '\n':
		w.dst = append(w.dst, `\n`...)
	case '\r':
		w.dst = append(w.dst, `\r`...)
	case '\t':
		w.dst = append(w.dst, `\t`...)
	case '\b':
		w.dst = append(w.dst, `\b`...)
	case '\f':
		w.dst = append(w.dst, `\f`...)
	default:
		w.unicode(rune(c))
	}
}

func (w *jsonWriter) unicode(r rune) {
	if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
		w.unicode(hi)
		w.unicode(lo)
		return
	}
	w.dst = append(append(w.dst, `\u`...), hexDigits(r, 4)...)
}

// filterToJSON is tojson(ensure_ascii=False, indent=None, separators=None,
// sort_keys=False), as model servers define it.
func filterToJSON(r *run, v Value, a *args) (Value, error) {
	b, err := r.json(v, a)
	return String(string(b)), err
}

// print writes what a filter gives.
func (x *filterExpr) print(r *run) error {
	if x.name != "tojson" || x.lenient {
		v, err := x.eval(r)
		if err != nil {
			return err
		}
		return r.print(v)
	}
	v, err := x.of.eval(r)
	if err != nil {
		return err
	}
	from := len(r.args)
	a, err := r.push(&x.args)
	if err == nil {
		var b []byte
		b, err = r.json(v, a)
		if err == nil {
			r.put(unsafe.String(unsafe.SliceData(b), len(b)))
		}
	}
	r.pop(a, from)
	return at(x.line, err)
}

// json is a value as JSON, as the arguments of tojson say. The text is good
// until the next call.
func (r *run) json(v Value, a *args) ([]byte, error) {
	style, err := r.jsonStyle(a)
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{r: r, jsonStyle: style, dst: r.desk.scratch[:0]}
	err = w.value(v, 0)
	if err == nil {
		err = w.count()
	}
	r.desk.scratch = w.dst[:0]
	return w.dst, err
}

var plainStyle = jsonStyle{itemSep: ", ", keySep: ": "}

func (r *run) jsonStyle(a *args) (jsonStyle, error) {
	if len(a.pos) == 0 && len(a.names) == 0 {
		return plainStyle, nil
	}
	ascii, indent := a.opt(0, "ensure_ascii", no), a.opt(1, "indent", none)
	seps, sorted := a.opt(2, "separators", none), a.opt(3, "sort_keys", no)
	w := plainStyle
	if err := a.done("tojson", 4); err != nil {
		return w, err
	}
	w.ascii, w.sorted = truth(ascii), truth(sorted)
	switch {
	case indent.kind == kString:
		w.lines, w.indent = true, indent.str()
	case indent.integral():
		n, err := r.size(indent)
		if err != nil {
			return w, err
		}
		if n > 1000 {
			return w, typeError("indent of %d", n)
		}
		w.lines, w.indent = true, strings.Repeat(" ", max(0, n))
	case indent.kind != kNone:
		return w, typeError("can't multiply sequence by non-int of type %s", quote(typeName(indent)))
	}
	if w.lines {
		w.itemSep = ","
	}
	if seps.kind != kNone {
		vs, err := r.list(seps)
		if err != nil {
			return w, err
		}
		if len(vs) != 2 || vs[0].kind != kString || vs[1].kind != kString {
			return w, valueError("separators must be two strings")
		}
		w.itemSep, w.keySep = vs[0].str(), vs[1].str()
	}
	return w, nil
}
