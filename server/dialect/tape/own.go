package tape

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// own is a copy of a part of the document, of which texts are parts.
type own struct {
	bytes    []byte
	from, to uint32 // the part
	written  span   // where texts were written over their escapes
	given    span   // where documents were handed out, which stay as they are
}

// span holds places of a document; the zero span holds none.
type span struct{ low, top uint32 }

func (s *span) add(from, to uint32) {
	if s.top == 0 || from < s.low {
		s.low = from
	}
	s.top = max(s.top, to)
}

// meets reports whether some of from to to may be in s.
func (s *span) meets(from, to uint32) bool { return from < s.top && to > s.low }

// Own makes one copy of a value of at most so many bytes: what Text and Bytes
// give of it and of what lies in it are parts of that copy, no copies of their
// own. Whoever keeps one of them keeps all, so Own is for values that are kept
// whole. It ends what Own began for another value, also when v is larger.
func (v Value) Own(most int) {
	if v.d == nil {
		return
	}
	v.d.own = own{}
	if raw := v.Raw(); len(raw) <= most {
		n := v.d.nodes[v.i]
		v.d.own = own{bytes: append([]byte(nil), raw...), from: n.start, to: n.end}
	}
}

// owned returns the place of src[from:to] in the copy, or nil.
func (o *own) owned(from, to uint32) []byte {
	if from < o.from || to > o.to {
		return nil
	}
	return o.bytes[from-o.from : to-o.from : to-o.from]
}

// Text returns a string's text with its escapes resolved; of anything else,
// "". It is a copy; see Own.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	d, n := v.d, &v.d.nodes[v.i]
	from, to := n.start+1, n.end-1
	at := d.own.owned(from, to)
	if len(at) == 0 || n.escaped && d.own.given.meets(from, to) {
		return string(d.text(n))
	}
	if n.escaped {
		d.own.written.add(from, to)
		at = at[:copy(at, d.text(n))] // a second time writes the same
	}
	return unsafe.String(unsafe.SliceData(at), len(at)) // nobody writes anything else there
}

// text returns the text of a string.
func (d *Doc) text(n *node) []byte {
	switch {
	case !n.escaped:
		return d.src[n.start+1 : n.end-1]
	case n.text == 0: // of a value that was skipped
		d.texts = append(d.texts, 0, 0, 0, 0)
		n.text = uint32(len(d.texts))
		d.texts, _ = resolve(d.texts, d.src, int(n.start)+1)
		binary.LittleEndian.PutUint32(d.texts[n.text-lengthSize:], uint32(len(d.texts))-n.text)
	}
	size := binary.LittleEndian.Uint32(d.texts[n.text-lengthSize:])
	return d.texts[n.text : n.text+size]
}

// Bytes returns a copy of the value as the client wrote it, or nil; see Own.
func (v Value) Bytes() []byte {
	if v.d == nil {
		return nil
	}
	o, n := &v.d.own, &v.d.nodes[v.i]
	if at := o.owned(n.start, n.end); at != nil && !o.written.meets(n.start, n.end) {
		o.given.add(n.start, n.end)
		return at
	}
	return bytes.Clone(v.Raw())
}
