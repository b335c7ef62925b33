package parsers

import (
	"encoding/json"
	"strings"
)

// maxName is the longest name of a call, and of a key beside it.
const maxName = 1024

// field is what a value of a call's object is for.
type field uint8

const (
	aKey     field = iota
	aName          // "name"
	anObject       // "arguments", an object
	other          // "arguments" in another form
	ignored        // any other key
)

// call reads the object that a hermes call is, byte by byte. The zero value
// is ready for the opening brace.
type call struct {
	at   where // atKey, atColon, atValue or atNext; the value's own state is in v
	v    value
	busy bool // v is under way
	is   field
	key  string

	name  string
	args  []byte // strict JSON, not yet taken
	begun bool   // the arguments are an object that has begun
	whole bool   // and ended
	begin bool   // the opening brace was read
}

// ready reports whether the call can be announced: its name is known, and
// that its arguments are an object.
func (c *call) ready() bool { return c.name != "" && c.begun }

// take returns the arguments read since the last take. They are good until
// the next byte is read.
func (c *call) take() []byte {
	args := c.args
	c.args = c.args[:0]
	return args
}

// feed reads one byte.
func (c *call) feed(b byte) verdict {
	if !c.begin {
		c.begin, c.at = true, atKey
		return took
	}
	if c.busy {
		switch said := c.v.feed(b); said {
		case took:
			return c.follow()
		case bad:
			return bad
		default:
			c.busy = false
			if !c.settle() {
				return bad
			}
			if said == done {
				return took
			}
		}
	}
	return c.structure(b)
}

// follow hands on what a value has written so far.
func (c *call) follow() verdict {
	switch {
	case c.is == anObject:
		c.args = append(c.args, c.v.take()...)
	case (c.is == aKey || c.is == aName) && len(c.v.out) > maxName:
		return bad
	case c.is == ignored:
		c.v.out = c.v.out[:0]
	}
	return took
}

// structure reads a byte between keys and values.
func (c *call) structure(b byte) verdict {
	switch {
	case isSpace(b):
		return took
	case b == '}' && (c.at == atKey || c.at == atNext):
		return c.end()
	case b == ',' && (c.at == atKey || c.at == atNext):
		c.at = atKey
		return took
	case b == ':' && c.at == atColon:
		c.at = atValue
		return took
	case (c.at == atKey || c.at == atNext) && (b == '"' || b == '\''):
		c.read(aKey)
	case c.at == atValue && begins(b):
		c.read(c.purpose(b))
	default:
		return bad
	}
	c.v.feed(b)
	return c.follow()
}

// read starts a value.
func (c *call) read(is field) {
	c.is, c.busy = is, true
	c.v = value{out: c.v.out[:0], sep: c.v.sep[:0], stack: c.v.stack[:0]}
}

// purpose tells what the value of the key just read is for; b is its first
// byte. The first of several wins.
func (c *call) purpose(b byte) field {
	switch {
	case c.key == "name" && c.name == "":
		return aName
	case c.key != "arguments" && c.key != "parameters" || c.begun:
		return ignored
	case b == '{':
		c.begun = true
		return anObject
	}
	return other
}

// settle takes in a value that is whole. It reports whether the object can
// still be a call.
func (c *call) settle() bool {
	out := c.v.take()
	c.at = atNext
	switch c.is {
	case aKey:
		c.at = atColon
		return json.Unmarshal(out, &c.key) == nil
	case aName:
		var name string
		if json.Unmarshal(out, &name) != nil {
			return false
		}
		c.name = strings.TrimSpace(name)
		return c.name != ""
	case anObject:
		c.args = append(c.args, out...)
		c.whole = true
	case other:
		return c.unwrap(out)
	}
	return true
}

// unwrap takes arguments that came as null, or as a string that holds an
// object.
func (c *call) unwrap(out []byte) bool {
	var text string
	if string(out) != "null" && json.Unmarshal(out, &text) != nil {
		return false
	}
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		text = "{}"
	}
	if text[0] != '{' {
		return false
	}
	c.args = append(c.args, Repair(text)...)
	c.begun, c.whole = true, true
	return true
}

// end ends the object. Without arguments they are empty.
func (c *call) end() verdict {
	if c.name == "" {
		return bad
	}
	if !c.begun {
		c.args = append(c.args, "{}"...)
		c.begun, c.whole = true, true
	}
	return done
}

// finish closes a call that breaks off, as far as it can be one; it reports
// whether it is one. With cut nothing is added to the arguments.
func (c *call) finish(cut bool) bool {
	if c.busy && (c.is == aName || c.is == aKey) {
		c.busy = false
	}
	if c.name == "" {
		return false
	}
	switch {
	case c.whole:
	case c.begun && !cut:
		c.v.finish()
		c.args = append(c.args, c.v.take()...)
	case c.busy && c.is == other:
		c.busy = false
		c.v.finish()
		if !c.unwrap(c.v.take()) {
			return false
		}
	case !c.begun && !cut:
		c.args = append(c.args, "{}"...)
	}
	c.begun, c.whole = true, true
	return true
}

// Repair returns the whole JSON object that args is, or begins: what is open
// is closed, what is no JSON made JSON. What does not begin with a brace is
// an empty object.
func Repair(args string) string {
	args = strings.TrimLeft(args, spaces)
	if args == "" || args[0] != '{' {
		return "{}"
	}
	var v value
	for i := 0; i < len(args); i++ {
		if v.feed(args[i]) != took {
			break
		}
	}
	if v.at != atEnd {
		v.finish()
	}
	return string(v.out)
}
