package parsers

import (
	"encoding/json"
	"slices"
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
	anID           // the call's id
	ignored        // any other key
)

// call reads the object that a call is, byte by byte. With its keys set it is
// ready for the opening brace.
type call struct {
	keys *JSON
	bare bool // no marker stands before it, so it has to look like a call

	at   where // atKey, atColon, atValue or atNext; the value's own state is in v
	v    value
	busy bool // v is under way
	is   field
	key  string

	name  string
	id    string
	args  []byte // strict JSON, not yet taken
	begun bool   // the arguments are an object that has begun
	whole bool   // and ended
	begin bool   // the opening brace was read
	inner bool   // in the object of a key that wraps the call
	fixed bool   // something was not as it should be
}

// reset makes it ready for another call.
func (c *call) reset(bare bool) {
	*c = call{keys: c.keys, v: c.v, args: c.args[:0], bare: bare}
}

// run reads at least one byte of b, which is not empty, and of arguments as
// many as there are; none of what is bad.
func (c *call) run(b []byte) (int, verdict) {
	if !c.busy || c.is != anObject {
		said := c.feed(b[0])
		if said == bad {
			return 0, bad
		}
		return 1, said
	}
	n, said := c.v.run(b)
	switch said {
	case took:
		c.args = append(c.args, c.v.take()...)
	case done:
		c.busy, said = false, took
		c.settle()
	}
	return n, said
}

// stuck reports whether a raw line feed was just read inside a string of the
// arguments. JSON allows none: where a closer follows, the closing quote is
// missing.
func (c *call) stuck() bool {
	return c.busy && c.v.at == inString && c.v.fed == '\n'
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
	case (c.is == aKey || c.is == aName || c.is == anID) && len(c.v.out) > maxName:
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
	case b == '}' && (c.at == atKey || c.at == atNext) && c.inner:
		c.inner, c.at = false, atNext
		return took
	case b == '}' && (c.at == atKey || c.at == atNext):
		return c.end()
	case b == '{' && c.at == atValue && c.wraps():
		c.inner, c.at, c.fixed = true, atKey, true
		return took
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
	c.v.reset()
}

// wraps reports whether the key just read holds the call itself, as some
// models copy it from the description of a tool.
func (c *call) wraps() bool {
	return c.key == "function" && c.name == "" && !c.begun && !c.inner && !c.keys.NameIsKey
}

// purpose tells what the value of the key just read is for; b is its first
// byte. The first of several wins.
func (c *call) purpose(b byte) field {
	switch {
	case c.keys.NameIsKey && c.name == "":
		c.name = strings.TrimSpace(c.key)
	case c.key == c.keys.Name && c.name == "":
		return aName
	case c.keys.ID != "" && c.key == c.keys.ID:
		return anID
	case !slices.Contains(c.keys.Args, c.key) || c.begun:
		return ignored
	}
	if b == '{' {
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
	c.fixed = c.fixed || c.v.fixed
	switch c.is {
	case aKey:
		c.at = atColon
		return json.Unmarshal(out, &c.key) == nil && (!c.bare || c.name != "" || c.keys.knows(c.key))
	case aName:
		var name string
		if json.Unmarshal(out, &name) != nil {
			return false
		}
		c.name = strings.TrimSpace(name)
		return c.name != ""
	case anID:
		_ = json.Unmarshal(out, &c.id) // what is no text is no id
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
	c.begun, c.whole, c.fixed = true, true, true
	return true
}

// end ends the object. Without arguments they are empty.
func (c *call) end() verdict {
	if c.name == "" {
		return bad
	}
	if !c.begun {
		if c.bare {
			return bad
		}
		c.args = append(c.args, "{}"...)
		c.begun, c.whole, c.fixed = true, true, true
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
