package tape

import "unicode/utf8"

// Look is asked for each field of the root object, with its key and the
// document from the field's value on. It answers what of the value it has seen
// before, in a document that was parsed: such bytes are not read again. The
// zero Skip is nothing.
type Look func(key, rest []byte) Skip

// Skip is what is known of a value: all of it, or the first elements of an
// array.
type Skip struct {
	Bytes    int // from the value's first byte to the end of what is known
	Nodes    int // how many values and keys that holds, without the value's own
	Elements int // 0: the whole value; else only so many elements
}

// skipped is a Skip at a node.
type skipped struct {
	node uint32
	Skip
	at int // offset of the value
}

// ParseKnown is Parse for a document of which parts may be known. Whole values
// that were skipped have nothing inside; of an array only the elements that
// were not skipped are there, and paths do not count the others. An error may
// be another one than Parse would give, and at another place.
func ParseKnown(src []byte, look Look) (*Doc, error) {
	if uint64(len(src)) >= 1<<32 {
		return nil, &Error{0, "document over 4 GiB"}
	}
	d, err := parse(src, look)
	if err != nil {
		return nil, err
	}
	from := 0
	for i := range len(d.skips) + 1 {
		s := skipped{at: len(src)} // behind the last one
		if i < len(d.skips) {
			s = d.skips[i]
		}
		if !utf8.Valid(src[from:s.at]) {
			d.Free()
			return nil, &Error{from, "invalid UTF-8"}
		}
		from = s.at + s.Bytes
	}
	return d, nil
}

// skip asks for what is known of the value of a root field, which follows the
// colon before i, and goes on behind it.
func (d *Doc) skip(i int) (int, want, error) {
	key := d.nodes[len(d.nodes)-1]
	if i = d.space(i); i == len(d.src) {
		return i, aValue, nil
	}
	s := d.look(d.src[key.start+1:key.end-1], d.src[i:])
	if s.Bytes == 0 {
		return i, aValue, nil
	}
	d.skips = append(d.skips, skipped{uint32(len(d.nodes)), s, i})
	d.skipped += s.Nodes
	if s.Elements > 0 {
		if _, _, err := d.open(i); err != nil {
			return 0, 0, err
		}
		return i + s.Bytes, commaOrEnd, nil
	}
	n := node{start: uint32(i), kind: String}
	switch d.src[i] {
	case '{':
		n.kind = Object
	case '[':
		n.kind = Array
	default:
		n.escaped = true // it may have escapes
	}
	d.push(n, i+s.Bytes)
	return i + s.Bytes, commaOrEnd, nil
}

// Skipped returns what was not read of the value; it is zero of most.
func (v Value) Skipped() Skip {
	if v.d != nil {
		for _, s := range v.d.skips {
			if s.node == v.i {
				return s.Skip
			}
		}
	}
	return Skip{}
}

// Nodes returns how many values and keys the value holds, with its own and
// without those that were skipped.
func (v Value) Nodes() int {
	if v.d == nil {
		return 0
	}
	return int(v.d.nodes[v.i].next - v.i)
}

// Start and End are the offsets of the value's first byte and of the byte
// after its last one.
func (v Value) Start() int { return int(v.d.nodes[v.i].start) }

// End is the offset after the value's last byte.
func (v Value) End() int { return int(v.d.nodes[v.i].end) }
