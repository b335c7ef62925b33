package remote

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// Body is a JSON object in the making. The zero value is ready. Members are
// written in the order of the calls; Open and Close make an object inside.
type Body struct {
	b     []byte
	next  bool     // a member was written at this depth
	texts [][]byte // of a prompt, as they lie elsewhere
	at    int      // where in b they belong
}

// Pieces ends the object and returns it in pieces, which are not to be
// written. The Body is of no use then.
func (o *Body) Pieces() [][]byte {
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	}
	o.b = append(o.b, '}')
	if len(o.texts) == 0 {
		return [][]byte{o.b}
	}
	return slices.Concat([][]byte{o.b[:o.at]}, o.texts, [][]byte{o.b[o.at:]})
}

// Bytes is Pieces in one piece.
func (o *Body) Bytes() []byte {
	if p := o.Pieces(); len(p) > 1 {
		return bytes.Join(p, nil)
	}
	return o.b
}

func (o *Body) name(name string) {
	switch {
	case len(o.b) == 0:
		o.b = append(o.b, '{')
	case o.next:
		o.b = append(o.b, ',')
	}
	o.next = true
	o.b = append(strconv.AppendQuote(o.b, name), ':')
}

// Open begins an object inside.
func (o *Body) Open(name string) {
	o.name(name)
	o.b = append(o.b, '{')
	o.next = false
}

// Close ends the object that was begun last.
func (o *Body) Close() {
	o.b = append(o.b, '}')
	o.next = true
}

// Text writes a string.
func (o *Body) Text(name, value string) {
	o.name(name)
	q, _ := json.Marshal(value) // a string can always be written
	o.b = append(o.b, q...)
}

// Int writes a whole number.
func (o *Body) Int(name string, n int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// Float writes a number; nil, and what JSON cannot say, is left out.
func (o *Body) Float(name string, x *float64) {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return
	}
	o.name(name)
	o.b = strconv.AppendFloat(o.b, *x, 'g', -1, 64)
}

// Bool writes true or false.
func (o *Body) Bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

// Raw writes a value that is JSON already.
func (o *Body) Raw(name string, value []byte) {
	o.name(name)
	o.b = append(o.b, value...)
}

// Prompt writes a prompt's ids; there is one in a Body. Texts that the prompt
// holds are pieces as they lie.
func (o *Body) Prompt(name string, ids turn.IDs) {
	o.name(name)
	var held int
	o.texts, held = ids.Texts(nil)
	o.b = append(slices.Grow(o.b, 7*(ids.Len()-held)+1024), '[')
	o.at = len(o.b)
	o.b = append(bytes.TrimSuffix(ids.AppendText(o.b, held), []byte(",")), ']')
}

// Members writes what is members already, without a comma before the first.
func (o *Body) Members(members []byte) {
	switch {
	case len(o.b) == 0:
		o.b = append(o.b, '{')
	case o.next:
		o.b = append(o.b, ',')
	}
	o.next = true
	o.b = append(o.b, members...)
}

// IDs writes a list of ids.
func (o *Body) IDs(name string, ids []uint32) {
	o.name(name)
	o.b = append(slices.Grow(o.b, 8*len(ids)+2), '[')
	for i, id := range ids {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = strconv.AppendUint(o.b, uint64(id), 10)
	}
	o.b = append(o.b, ']')
}
