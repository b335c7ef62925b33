package tape

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// Limits of a document.
const (
	MaxDepth  = 512     // arrays and objects inside one another
	MaxValues = 2 << 20 // values and keys
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. None is a value that is not there.
const (
	None Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// Doc is a checked document.
type Doc struct {
	src   []byte
	nodes []node
	stack []uint32 // containers that are open, while parsing

	look    Look
	skips   []skipped
	skipped int // nodes that were not made

	texts []byte // of strings with escapes, a length before each
	own   own
}

// node is one value or key: src[start:end], and the index of the node after
// it and all it holds.
type node struct {
	start, end, next uint32
	text             uint32 // of a string with escapes, where its text is in Doc.texts; 0 elsewhere
	kind             Kind
	escaped          bool // a string with backslashes
}

// Error says what is wrong with a document, and where.
type Error struct {
	Offset int // bytes from the start
	What   string
}

// Error returns one line.
func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.Offset) }

var pool = sync.Pool{New: func() any { return new(Doc) }}

// What is kept for the next body, at most: nodes of a tape, bytes of texts.
const (
	keep     = 64 << 10
	keepText = 1 << 20
)

// Parse checks src and returns its tape. src must not change while the Doc
// is used. An error is always an *Error.
func Parse(src []byte) (*Doc, error) {
	if uint64(len(src)) >= 1<<32 {
		return nil, &Error{0, "document over 4 GiB"}
	}
	if !utf8.Valid(src) {
		return nil, &Error{invalidAt(src), "invalid UTF-8"}
	}
	return parse(src, nil)
}

func parse(src []byte, look Look) (*Doc, error) {
	d := pool.Get().(*Doc)
	d.src, d.nodes, d.stack, d.texts = src, d.nodes[:0], d.stack[:0], d.texts[:0]
	d.look, d.skips, d.skipped = look, d.skips[:0], 0
	if err := d.scan(); err != nil {
		d.Free()
		return nil, err
	}
	return d, nil
}

// Free gives the tape back. No Value of d may be used afterwards.
func (d *Doc) Free() {
	d.src, d.look, d.own = nil, nil, own{}
	if cap(d.nodes) > keep {
		d.nodes = nil
	}
	if cap(d.texts) > keepText {
		d.texts = nil
	}
	pool.Put(d)
}

// Root returns the document's value.
func (d *Doc) Root() Value { return Value{d, 0} }

// Valid reports whether src is one JSON value inside the limits.
func Valid(src []byte) bool {
	d, err := Parse(src)
	if err != nil {
		return false
	}
	d.Free()
	return true
}

// invalidAt returns the offset of the first byte that is no UTF-8.
func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}
