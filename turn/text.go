package turn

import (
	"bytes"
	"slices"
)

// Written returns the sequence with the text of its whole parts made, for
// prompts that go on from it: what is sent of them again and again is not
// written anew. A text takes five to six bytes an id.
func (s IDs) Written() IDs {
	made, whole := s.made(), s.n/partIDs
	if made == whole {
		return s
	}
	s.parts = slices.Clone(s.parts)
	room, table := make([]byte, 0, partIDs*idRoom), numbers()
	for i := made; i < whole; i++ {
		room = appendDigits(room[:0], s.parts[i].ids, table)
		s.parts[i].text = bytes.Clone(room)
	}
	return s
}

// made is how many whole parts at the start have their text.
func (s IDs) made() (n int) {
	for n < s.n/partIDs && s.parts[n].text != nil {
		n++
	}
	return n
}

// Plain returns the sequence without the texts that Written made.
func (s IDs) Plain() IDs {
	s.parts = slices.Clone(s.parts)
	for i := range s.parts {
		s.parts[i].text = nil
	}
	return s
}

// Texts appends to dst the texts that Written made of the first n ids, which are
// never all: AppendText of the rest makes the text whole. They are not to be
// written, and a comma is behind each id.
func (s IDs) Texts(dst [][]byte) (texts [][]byte, n int) {
	k := min(s.made(), max(s.n-1, 0)/partIDs)
	for _, p := range s.parts[:k] {
		dst = append(dst, p.text)
	}
	return dst, k * partIDs
}

// AppendText appends the ids from one on in decimal, a comma behind each, as
// lists in JSON have them.
func (s IDs) AppendText(b []byte, from int) []byte {
	var table []uint64
	if s.n >= tableFrom {
		table = numbers()
	}
	for from < s.n {
		some := s.parts[from/partIDs].ids[from%partIDs:]
		some = some[:min(len(some), s.n-from)]
		b = appendDigits(b, some, table)
		from += len(some)
	}
	return b
}
