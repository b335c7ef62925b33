package parsers

import (
	"encoding/json"

	"github.com/agentinfer/dyn/turn"
)

// pyAt says what a pyValue expects next.
type pyAt uint8

const (
	pyItem   pyAt = iota // a value, or an item of a container, or its end
	pyMember             // what stands behind a key and its colon
	pyString
	pyBehind
	pyDone
)

// pyLevel is an open container.
type pyLevel struct {
	open byte // [, ( or {; s for a set
	free bool // it is not yet known to be a list, a set, an object, or nothing
	from int  // where in out it, or the key under way, begins, with the comma before it
	mark int  // where in out it begins
	key  int  // where in out the key under way begins
	n    int  // items so far
	busy bool // the item is a key until no colon follows it
}

// pyValue reads one literal of Python, or of JSON, and writes it as strict
// JSON. What it hands out is at any time the beginning of a valid value; what
// is not yet known to be a list, a set or just a value in parentheses, and a
// key without its colon, is kept until it is.
//
// A quote ends a string only where what follows it may follow a string, since
// models and templates leave quotes in strings unescaped.
type pyValue struct {
	out   []byte // strict JSON, not yet taken
	at    pyAt
	off   bool // a marker of the section's end stands in it
	stack []pyLevel
	flaws turn.Flaw

	quote  byte
	triple bool // the string ends with three of them
	plain  bool // a backslash is one: r''
	dict   bool // it has to be an object: a set is none

	scope pyScope
}

// pyScope is what a value stands in: what may come behind it depends on that.
type pyScope struct {
	ends       []string   // markers that end the section
	stop       *[256]bool // bytes that need a look inside a string
	keys       []string   // of the arguments that may follow; any when nil
	listed     bool       // the call is an item of a list
	positional bool       // the value has no key, nor need the next
	colons     bool       // colons stand behind keys
	loose      bool       // the family prints strings without escapes
}

// begin makes it ready for a value. With dict braces around it are those of an
// object.
func (v *pyValue) begin(dict bool) {
	v.at, v.off, v.stack, v.dict = pyItem, false, v.stack[:0], dict
}

// outer reports whether it is directly in the braces of an object that it has
// to be. There = stands for a colon too, as in the arguments of a call.
func (v *pyValue) outer() bool { return v.dict && len(v.stack) == 1 }

// drain moves what was written and can change no more to dst.
func (v *pyValue) drain(dst []byte) []byte {
	n := len(v.out)
	for i := range v.stack {
		if l := &v.stack[i]; l.free || l.busy {
			n = l.from
			break
		}
	}
	dst = append(dst, v.out[:n]...)
	v.out = v.out[:copy(v.out, v.out[n:])]
	for i := range v.stack {
		v.stack[i].from -= n
		v.stack[i].mark -= n
		v.stack[i].key -= n
	}
	return dst
}

// read takes in what is settled of b and returns how much that is. It is
// whole where the value ends, which may be in front of b[n:], and broken where
// a marker of the section's end stands in it.
func (v *pyValue) read(b []byte, last bool) (n int, p progress) {
	for v.at != pyDone && !v.off {
		k, ok := v.step(b[n:], last)
		n += k
		if !ok {
			return n, more
		}
	}
	if v.off {
		return n, broken
	}
	return n, whole
}

// step reads a piece; false means that more is needed.
func (v *pyValue) step(b []byte, last bool) (int, bool) {
	if v.at == pyString {
		return v.str(b, last)
	}
	n := 0
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	if n > 0 || len(b) == 0 {
		return n, len(b) > n
	}
	if v.at == pyBehind {
		return v.behind(b, last)
	}
	if _, said := v.mark(b, last); said != no {
		return v.halt(said)
	}
	switch c := b[0]; c {
	case '[', '(', '{':
		return 1, v.push(c)
	case ']', ')', '}':
		return v.close(c), true
	case ',', ';':
		if v.at == pyMember {
			v.null()
			return 0, true
		}
		if len(v.stack) > 0 {
			return 1, true
		}
	}
	switch n, said := v.opening(b, last); said {
	case wait:
		return 0, false
	case yes:
		v.item()
		v.out = append(v.out, '"')
		v.at = pyString
		return n, true
	}
	return v.word(b, last)
}

// item writes what stands before an item and returns where that begins.
func (v *pyValue) item() int {
	from := len(v.out)
	if v.at == pyMember || len(v.stack) == 0 {
		return from
	}
	l := &v.stack[len(v.stack)-1]
	if l.n > 0 {
		v.out = append(v.out, ',')
	}
	l.n++
	if l.open == '{' {
		l.busy, l.key = true, len(v.out)
		if !l.free {
			l.from = from
		}
	}
	return from
}

// push opens a container. Deeper than the limit nothing goes on.
func (v *pyValue) push(c byte) bool {
	if len(v.stack) == maxDepth {
		v.off = true
		return true
	}
	from := v.item()
	v.stack = append(v.stack, pyLevel{open: c, from: from, mark: len(v.out), free: c != '[' && !(v.dict && len(v.stack) == 0)})
	if c == '(' {
		c = '['
	}
	v.out = append(v.out, c)
	v.at = pyItem
	return true
}

// ended goes on behind a whole item.
func (v *pyValue) ended() {
	v.at = pyBehind
	if len(v.stack) == 0 {
		v.at = pyDone
	}
}

// halt stops at a marker, or waits until it is one.
func (v *pyValue) halt(said guess) (int, bool) {
	if said == wait {
		return 0, false
	}
	v.off = true
	return 0, true
}

// null writes the value that is missing behind a key.
func (v *pyValue) null() {
	v.out = append(v.out, "null"...)
	v.flaws |= turn.Repaired
	v.ended()
}

// behind reads what stands behind an item.
func (v *pyValue) behind(b []byte, last bool) (int, bool) {
	l := &v.stack[len(v.stack)-1]
	switch c := b[0]; {
	case (c == ':' || c == '=' && v.outer()) && l.busy:
		v.keyed(l)
		v.out = append(v.out, ':')
		v.at = pyMember
		return 1, true
	case c == ']' || c == ')' || c == '}':
		return v.close(c), true
	case c == ',' || c == ';':
		v.settle(l)
		v.at = pyItem
		return 1, true
	}
	if _, said := v.mark(b, last); said != no {
		return v.halt(said)
	}
	v.settle(l) // a comma is missing
	v.flaws |= turn.Repaired
	v.at = pyItem
	return 0, true
}

// keyed makes a JSON string of the key that was just written.
func (v *pyValue) keyed(l *pyLevel) {
	l.busy, l.free = false, false
	if key := v.out[l.key:]; len(key) == 0 || key[0] != '"' {
		text, _ := json.Marshal(string(key))
		v.out = append(v.out[:l.key], text...)
	}
}

// settle decides what a container is when its item has no colon.
func (v *pyValue) settle(l *pyLevel) {
	switch {
	case l.open == '(':
		l.free = false
	case l.busy && l.free:
		l.busy, l.free, l.open = false, false, 's'
		v.out[l.mark] = '['
	case l.busy:
		v.keyed(l)
		v.out = append(v.out, ":null"...)
		v.flaws |= turn.Repaired
	}
}

// close ends containers up to the one that c closes and returns how many bytes
// that takes. What fits none ends the value, since it may be the call's; a
// brace cannot be that and is dropped.
func (v *pyValue) close(c byte) int {
	n := len(v.stack) - 1
	for n >= 0 && v.stack[n].closer() != c {
		n--
	}
	if n < 0 && c == '}' && len(v.stack) > 0 {
		v.flaws |= turn.Repaired
		return 1
	}
	if n < len(v.stack)-1 {
		v.flaws |= turn.Repaired
	}
	for len(v.stack) > max(n, 0) {
		v.pop()
	}
	if v.ended(); n < 0 {
		v.at = pyDone
		return 0
	}
	return 1
}

// closer is what ends the container.
func (l pyLevel) closer() byte {
	switch l.open {
	case '[':
		return ']'
	case '(':
		return ')'
	}
	return '}'
}

// pop ends the innermost container.
func (v *pyValue) pop() {
	l := &v.stack[len(v.stack)-1]
	if v.at == pyMember {
		v.null()
	}
	if l.open == '(' && l.free && l.n == 1 { // just a value in parentheses
		v.out = append(v.out[:l.mark], v.out[l.mark+1:]...)
		v.stack = v.stack[:len(v.stack)-1]
		v.at = pyBehind
		return
	}
	v.settle(l)
	if l.open == '{' {
		v.out = append(v.out, '}')
	} else {
		v.out = append(v.out, ']')
	}
	v.stack = v.stack[:len(v.stack)-1]
	v.at = pyBehind
}

// finish closes what is open. A value that has not begun becomes null.
func (v *pyValue) finish() {
	if v.at == pyDone {
		return
	}
	v.flaws |= turn.Repaired
	switch {
	case v.at == pyString:
		v.out = append(v.out, '"')
	case v.at == pyItem && len(v.stack) == 0:
		v.out = append(v.out, "null"...)
	}
	if v.at != pyMember {
		v.at = pyBehind
	}
	for len(v.stack) > 0 {
		if l := &v.stack[len(v.stack)-1]; l.busy {
			v.keyed(l)
			v.out = append(v.out, ":null"...)
		}
		v.pop()
	}
	v.at = pyDone
}
