package parsers

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// python reads calls in the syntax of Python: f(a='x', b=[1, True]), one, one
// a line, or several in a list.
//
// An argument without a key gets the key that stands at its place in the
// tool's schema, else arg0, arg1 and so on. A single dict without a key is the
// arguments themselves.
type python struct {
	o    *out
	spec *Spec
	on   *tools
	v    pyValue
	at   pythonAt

	listed bool     // the calls stand in brackets
	keys   []string // of the arguments that the tool declares; nil when unknown
	seen   []string // keys of the call so far
	place  int      // of the next argument without a key
	again  bool     // the value is of a key that was there before: it is dropped
	whole  bool     // the value is the arguments' object itself
	begun  bool     // the arguments' brace was handed on
	ready  []byte   // of the arguments, to be handed on
}

// pythonAt says what a python reader expects.
type pythonAt uint8

const (
	pyCall   pythonAt = iota // a name, or what stands around calls
	pyArg                    // an argument, or the call's end
	pyArgKey                 // the value behind a key
	pyArgIn                  // a value is under way
	pyArgEnd                 // what stands behind a value
)

// newPython returns a reader of calls in Python's syntax.
func newPython(spec *Spec, on *tools) *python {
	p := &python{spec: spec, on: on}
	p.v.scope = pyScope{ends: spec.Section.Close, stop: stops(spec.Section.Close), loose: spec.Values.String == "raw"}
	return p
}

func (p *python) begin(o *out) {
	if !o.again {
		p.listed, p.v.scope.listed = false, false
	}
	p.o, p.at = o, pyCall
}

func (p *python) read(b []byte, last bool) (n int, said progress) {
	for {
		k, ok, said := p.step(b[n:], last)
		n += k
		if !ok {
			p.hand()
			return n, said
		}
	}
}

// step reads a piece. With ok it goes on at once, else said is the answer.
func (p *python) step(b []byte, last bool) (n int, ok bool, said progress) {
	switch p.at {
	case pyArgIn:
		return p.value(b, last)
	case pyArgKey:
		return p.start(b)
	}
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	if n > 0 || len(b) == 0 {
		return n, n < len(b), more
	}
	switch p.at {
	case pyCall:
		return p.call(b, last)
	case pyArg:
		return p.arg(b, last)
	}
	return p.behind(b, last)
}

// call reads a call's name, or the bracket before it.
func (p *python) call(b []byte, last bool) (int, bool, progress) {
	switch {
	case b[0] == '[' && !p.listed:
		p.listed, p.v.scope.listed = true, true
		return 1, true, more
	case p.o.bare && !p.listed:
		return 0, false, broken
	}
	n, said := callName(b, last)
	switch said {
	case wait:
		return 0, false, more
	case no:
		return 0, false, broken
	}
	p.named(string(bytes.TrimRight(b[:n-1], " ")))
	return n, !p.o.refused, broken
}

// callName reads a name and the parenthesis behind it.
func callName(b []byte, last bool) (n int, said guess) {
	for n < len(b) && n < maxKey && isCallName(b[n]) {
		n++
	}
	if n == 0 || !isLetter(b[0]) {
		return 0, no
	}
	for n < len(b) && n < maxKey && b[n] == ' ' {
		n++
	}
	switch {
	case n == len(b):
		return 0, unless(last)
	case b[n] == '(':
		return n + 1, yes
	}
	return 0, no
}

// next looks for another call: the next item of the list, or one that follows
// the last where there is no list.
func (p *python) next(b []byte, last bool) (n int, said progress) {
	for n < len(b) && n < maxWhite && (isSpace(b[n]) || b[n] == ',' || b[n] == ';') {
		n++
	}
	rest := b[n:]
	if p.listed && len(rest) > 0 && rest[0] == ']' {
		return n + 1, broken
	}
	k, is := 0, unless(last)
	if len(rest) > 0 {
		k, is = callName(rest, last)
	}
	switch {
	case is == wait:
		return 0, more
	case k > 0 && (p.listed || len(p.spec.Section.Open) > 0):
		return n, whole
	case p.listed && len(rest) == 0:
		return n, broken
	}
	return 0, broken
}

// isCallName reports whether c can stand in the name of a call.
func isCallName(c byte) bool { return isWord(c) || c == ':' || c == '/' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// named begins a call. A module before a tool's name is no part of it.
func (p *python) named(name string) {
	name = strings.TrimPrefix(name, p.spec.Call.Prefix)
	if i := strings.LastIndexByte(name, '.'); i >= 0 && !p.on.has(name) {
		switch module, rest := name[:i], name[i+1:]; {
		case p.on.has(rest):
			name = rest
		case rest == "call": // of Llama's built-in tools
			name = module
		}
	}
	name, _ = p.on.find(name)
	p.o.name(name, "")
	p.keys = p.on.fields(name)
	p.v.scope.keys = p.keys
	p.seen, p.place, p.begun, p.whole = p.seen[:0], 0, false, false
	p.at = pyArg
}

// arg reads up to an argument's value, or the end of the call.
func (p *python) arg(b []byte, last bool) (int, bool, progress) {
	switch c := b[0]; c {
	case ')':
		return 1, false, p.end()
	case ']':
		if p.listed {
			p.o.flaw(turn.Repaired)
			return 0, false, p.end()
		}
		return 1, true, more
	case ',', ';', '*', '}':
		return 1, true, more
	}
	if _, said := p.v.mark(b, last); said == wait {
		return 0, false, more
	} else if said == yes {
		return 0, false, broken
	}
	n, key, said := argKey(b, last, p.keys)
	switch said {
	case wait:
		return 0, false, more
	case yes:
		p.key(key)
		p.v.scope.positional, p.v.scope.colons = false, b[n-1] == ':'
		p.at = pyArgKey
		return n, true, more
	}
	p.unnamed(b[0])
	return 0, true, more
}

// argKey reads a key and the sign behind it: a=, but a: and 'a': too, and keys
// that the tool declares however they are spelled.
func argKey(b []byte, last bool, declared []string) (n int, key string, said guess) {
	if n, said := spelled(b, last, declared); said == wait {
		return 0, "", wait
	} else if said == yes && n > 0 {
		_, here, _ := look(b[n:], last)
		return len(b) - len(here) + 1, string(b[:n]), yes
	}
	if q := b[0]; q == '"' || q == '\'' {
		end := bytes.IndexByte(b[1:min(len(b), maxKey)], q)
		switch {
		case end >= 0:
			n, key = end+2, string(b[1:1+end])
		case len(b) < maxKey:
			return 0, "", unless(last)
		default:
			return 0, "", no
		}
	} else if isLetter(q) || q >= 0x80 {
		for n < len(b) && n < maxKey && isWord(b[n]) {
			n++
		}
		key = string(b[:n])
	}
	if n == 0 {
		return 0, "", no
	}
	c, here, said := look(b[n:], false)
	switch {
	case said == wait:
		return 0, "", unless(last)
	case c != '=' && c != ':':
		return 0, "", no
	case len(here) == 1 && !last:
		return 0, "", wait
	case len(here) > 1 && here[1] == '=':
		return 0, "", no
	}
	return len(b) - len(here) + 1, key, yes
}

// unnamed begins a value without a key.
func (p *python) unnamed(c byte) {
	p.o.flaw(turn.Repaired)
	if c == '{' && !p.begun && p.place == 0 && len(p.seen) == 0 {
		p.whole, p.begun = true, true
	} else {
		key := "arg" + strconv.Itoa(p.place)
		if p.place < len(p.keys) {
			key = p.keys[p.place]
		}
		p.key(key)
		p.comma()
	}
	p.place++
	p.v.scope.positional = true
	p.v.begin(p.whole)
	p.at = pyArgIn
}

// key takes in the key of the next value. The first of several wins.
func (p *python) key(key string) {
	p.again = p.whole || slices.Contains(p.seen, key)
	if p.again {
		p.o.flaw(turn.Repaired)
		return
	}
	p.seen = append(p.seen, key)
}

// start begins the value behind a key, if there is one.
func (p *python) start(b []byte) (int, bool, progress) {
	c, here, said := look(b, false)
	if said == wait {
		return 0, false, more
	}
	if c == ',' || c == ')' || c == ']' {
		p.o.flaw(turn.Repaired)
		if !p.again {
			p.seen = p.seen[:len(p.seen)-1]
		}
		p.at = pyArg
		return len(b) - len(here), true, more
	}
	if !p.again {
		p.comma()
	}
	p.v.begin(false)
	p.at = pyArgIn
	return len(b) - len(here), true, more
}

// comma hands on what stands before a value: the key that was taken in last,
// and the brace or comma before it.
func (p *python) comma() {
	if p.again {
		return
	}
	c := byte(',')
	if !p.begun {
		c = '{'
	}
	p.begun = true
	key, _ := json.Marshal(p.seen[len(p.seen)-1])
	p.ready = append(append(append(p.ready, c), key...), ':')
}

// value reads a value.
func (p *python) value(b []byte, last bool) (int, bool, progress) {
	n, said := p.v.read(b, last)
	p.gather()
	switch said {
	case more:
		return n, false, more
	case broken:
		return n, false, broken
	}
	p.o.flaw(p.v.flaws)
	p.v.flaws = 0
	p.at = pyArgEnd
	return n, true, more
}

// gather takes what the value has written.
func (p *python) gather() {
	if p.again {
		p.v.drain(nil)
		return
	}
	p.ready = p.v.drain(p.ready)
}

// hand hands on the arguments that are settled.
func (p *python) hand() {
	if len(p.ready) > 0 {
		p.o.args(p.ready)
		p.ready = p.ready[:0]
	}
}

// behind reads what stands between arguments; a comma may be missing.
func (p *python) behind(b []byte, last bool) (int, bool, progress) {
	p.at = pyArg
	if b[0] == ',' || b[0] == ';' {
		return 1, true, more
	}
	return 0, true, more
}

// end ends a call.
func (p *python) end() progress {
	switch {
	case !p.begun:
		p.ready = append(p.ready, "{}"...)
	case !p.whole:
		p.ready = append(p.ready, '}')
	}
	p.hand()
	p.at = pyCall
	return whole
}

func (p *python) finish(cut bool) bool {
	if !p.o.said || cut {
		return p.o.said
	}
	if p.at == pyArgIn {
		p.v.finish()
		p.gather()
	}
	p.o.flaw(turn.Repaired)
	p.end()
	return true
}

// fields are the names of the arguments that a tool declares, in the order of
// its schema; nil when it says nothing of them.
func (t *tools) fields(name string) []string {
	for i := range t.list {
		if t.list[i].Name == name {
			return fields(t.list[i].Schema)
		}
	}
	return nil
}

// fields are the names of the properties that a schema declares.
func fields(schema json.RawMessage) []string {
	var s struct{ Properties json.RawMessage }
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	names := []string{}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil
		}
		names = append(names, name)
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return nil
		}
	}
	return names
}
