package tape

// want is what the grammar allows next.
type want uint8

const (
	aValue      want = iota // a value
	anElement               // after '[': a value or ']'
	aKey                    // after ',' in an object
	aKeyOrEnd               // after '{'
	commaOrEnd              // after a value inside a container
	nothingMore             // after the document
)

// scan fills the tape from src.
func (d *Doc) scan() error {
	w := aValue
	i := 0
	for {
		if i = d.space(i); i == len(d.src) {
			if w == nothingMore {
				return nil
			}
			if len(d.nodes) == 0 {
				return &Error{i, "empty document"}
			}
			return &Error{i, "unexpected end of document"}
		}
		if len(d.nodes)+d.skipped > MaxValues {
			return &Error{i, "too many values"}
		}
		var err error
		switch w {
		case aValue, anElement:
			i, w, err = d.value(i, w)
		case aKey, aKeyOrEnd:
			i, w, err = d.key(i, w)
		case commaOrEnd:
			i, w, err = d.after(i)
		default:
			err = &Error{i, "data after the document"}
		}
		if err != nil {
			return err
		}
	}
}

// value reads a scalar whole, or opens a container.
func (d *Doc) value(i int, w want) (int, want, error) {
	var end int
	n := node{start: uint32(i)}
	switch c := d.src[i]; c {
	case '{', '[':
		return d.open(i)
	case ']':
		if w == anElement {
			return d.close(i)
		}
	case '"':
		n.kind = String
		end = d.quoted(i, &n)
	case 't':
		n.kind, end = True, d.literal(i, "true")
	case 'f':
		n.kind, end = False, d.literal(i, "false")
	case 'n':
		n.kind, end = Null, d.literal(i, "null")
	default:
		n.kind, end = Number, d.number(i)
	}
	if end <= 0 {
		return 0, 0, &Error{max(i, -end), "invalid value"}
	}
	d.push(n, end)
	return end, d.next(), nil
}

// key reads a key and its colon, or ends the object.
func (d *Doc) key(i int, w want) (int, want, error) {
	if d.src[i] == '}' && w == aKeyOrEnd {
		return d.close(i)
	}
	if d.src[i] != '"' {
		return 0, 0, &Error{i, "expected a key"}
	}
	n := node{start: uint32(i), kind: String}
	end := d.quoted(i, &n)
	if end <= 0 {
		return 0, 0, &Error{-end, "invalid key"}
	}
	d.push(n, end)
	i = d.space(end)
	if i == len(d.src) || d.src[i] != ':' {
		return 0, 0, &Error{i, "expected a colon"}
	}
	if i++; d.look != nil && len(d.stack) == 1 && !n.escaped {
		return d.skip(i)
	}
	return i, aValue, nil
}

// after reads what follows a value inside a container.
func (d *Doc) after(i int) (int, want, error) {
	object := d.nodes[d.stack[len(d.stack)-1]].kind == Object
	switch c := d.src[i]; {
	case c == ',' && object:
		return i + 1, aKey, nil
	case c == ',':
		return i + 1, aValue, nil
	case c == '}' && object, c == ']' && !object:
		return d.close(i)
	}
	return 0, 0, &Error{i, "expected a comma or an end"}
}

func (d *Doc) open(i int) (int, want, error) {
	if len(d.stack) == MaxDepth {
		return 0, 0, &Error{i, "nested too deep"}
	}
	d.stack = append(d.stack, uint32(len(d.nodes)))
	if d.src[i] == '{' {
		d.push(node{start: uint32(i), kind: Object}, 0)
		return i + 1, aKeyOrEnd, nil
	}
	d.push(node{start: uint32(i), kind: Array}, 0)
	return i + 1, anElement, nil
}

func (d *Doc) close(i int) (int, want, error) {
	n := &d.nodes[d.stack[len(d.stack)-1]]
	n.end, n.next = uint32(i+1), uint32(len(d.nodes))
	d.stack = d.stack[:len(d.stack)-1]
	return i + 1, d.next(), nil
}

// next tells what may follow a whole value.
func (d *Doc) next() want {
	if len(d.stack) == 0 {
		return nothingMore
	}
	return commaOrEnd
}

func (d *Doc) push(n node, end int) {
	n.end, n.next = uint32(end), uint32(len(d.nodes)+1)
	d.nodes = append(d.nodes, n)
}

// space returns the offset of the next byte at or after i that is no space.
func (d *Doc) space(i int) int {
	if i < len(d.src) && d.src[i] > ' ' {
		return i
	}
	return d.spaces(i)
}

func (d *Doc) spaces(i int) int {
	for i < len(d.src) {
		switch d.src[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// literal returns the end of word at i, or 0 when it is not there.
func (d *Doc) literal(i int, word string) int {
	if len(d.src)-i < len(word) || string(d.src[i:i+len(word)]) != word {
		return 0
	}
	return i + len(word)
}

// number returns the end of the number at i, or 0 when there is none.
func (d *Doc) number(i int) int {
	if d.src[i] == '-' {
		i++
	}
	j := d.digits(i)
	if j == i || j > i+1 && d.src[i] == '0' {
		return 0
	}
	i = j
	if i < len(d.src) && d.src[i] == '.' {
		if j = d.digits(i + 1); j == i+1 {
			return 0
		}
		i = j
	}
	if i < len(d.src) && (d.src[i] == 'e' || d.src[i] == 'E') {
		i++
		if i < len(d.src) && (d.src[i] == '+' || d.src[i] == '-') {
			i++
		}
		if j = d.digits(i); j == i {
			return 0
		}
		i = j
	}
	return i
}

func (d *Doc) digits(i int) int {
	for i < len(d.src) && d.src[i]-'0' < 10 {
		i++
	}
	return i
}
