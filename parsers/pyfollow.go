package parsers

import "bytes"

// follows says whether b may stand behind a string that ends here, by what the
// string stands in. Where the text ends before it is known, it may.
func (v *pyValue) follows(b []byte, last bool) guess {
	c, here, said := look(b, last)
	if said != yes || len(here) == 0 {
		return said
	}
	rest := here[1:]
	if len(v.stack) == 0 {
		switch {
		case c == ',':
			return v.anotherArg(rest, last)
		case c == ')':
			return v.callEnds(rest, last)
		case c == ']' && v.scope.listed:
			return v.sectionEnds(rest, last)
		}
		return v.marked(here, last)
	}
	switch l := v.stack[len(v.stack)-1]; {
	case (c == ':' || c == '=' && v.outer()) && l.busy:
		return yes
	case c == ',':
		return anotherItem(rest, last)
	case c == l.closer():
		return v.closes(rest, last)
	case c == ')':
		return v.callEnds(rest, last)
	}
	return v.marked(here, last)
}

// look finds the first byte of b that is no white space, and what begins with
// it. With nothing there the answer is yes at the end of the text.
func look(b []byte, last bool) (c byte, here []byte, said guess) {
	n := 0
	for n < len(b) && n < maxAhead && isSpace(b[n]) {
		n++
	}
	if n == len(b) {
		return 0, nil, short(last)
	}
	return b[n], b[n:], yes
}

// short is the answer where b ends too early.
func short(last bool) guess {
	if last {
		return yes
	}
	return wait
}

// marked says whether b begins with a marker of the section's end, or the
// piece of one that the text ends with.
func (v *pyValue) marked(b []byte, last bool) guess {
	_, said := v.mark(b, false)
	if said == wait {
		return short(last)
	}
	return said
}

// anotherArg says whether b may stand behind the comma that follows an
// argument: a key and its sign, or the end of the call.
func (v *pyValue) anotherArg(b []byte, last bool) guess {
	c, here, said := look(b, last)
	switch {
	case said != yes || len(here) == 0:
		return said
	case c == ')' || c == '*':
		return yes
	case v.scope.positional && (begins(c) || c == '('), v.scope.colons && (c == '"' || c == '\''):
		return yes
	}
	if n, said := spelled(here, last, v.scope.keys); said == wait || said == yes && n > 0 {
		return said
	}
	n, said := named(here, last, v.scope.colons)
	if said == yes && v.scope.loose && v.scope.keys != nil && n > 0 && !v.declared(here[:n]) {
		return v.undeclared(here[n:], last)
	}
	return said
}

// undeclared says whether b, behind the key of an argument that the tool does
// not have, is an argument all the same: a value with the end of the call or
// another argument behind it.
func (v *pyValue) undeclared(b []byte, last bool) guess {
	_, here, said := look(b, last)
	if said != yes || len(here) == 0 {
		return said
	}
	c, value, said := look(here[1:], last)
	if said != yes || len(value) == 0 {
		return said
	}
	n := bareRun(value)
	if c == '"' || c == '\'' {
		if n = len(value); bytes.IndexByte(value[1:], c) >= 0 {
			n = bytes.IndexByte(value[1:], c) + 2
		}
	}
	switch {
	case n == 0:
		return yes // a container
	case n == len(value):
		if len(value) > maxAhead {
			return no
		}
		return short(last)
	}
	c, here, said = look(value[n:], last)
	switch {
	case said != yes || len(here) == 0 || c == ',':
		return said
	case c == ')':
		return v.callEnds(here[1:], last)
	}
	return no
}

// declared reports whether the tool has an argument of that name.
func (v *pyValue) declared(key []byte) bool {
	for _, k := range v.scope.keys {
		if k == string(key) {
			return true
		}
	}
	return false
}

// maxKey is the longest name of an argument, in bytes.
const maxKey = 128

// named says whether b begins with a name and an equals sign, or a colon where
// those are used, and how long the name is.
func named(b []byte, last, colons bool) (n int, said guess) {
	for n < len(b) && n < maxKey && isWord(b[n]) {
		n++
	}
	switch {
	case n == len(b):
		return 0, short(last)
	case n == 0 || b[0] >= '0' && b[0] <= '9':
		return 0, no
	}
	c, here, said := look(b[n:], last)
	switch {
	case said != yes || len(here) == 0:
		return 0, said
	case c == ':' && colons:
		return n, yes
	case c != '=':
		return 0, no
	case len(here) == 1:
		return n, short(last)
	case here[1] == '=':
		return 0, no
	}
	return n, yes
}

// spelled says whether b begins with the key of an argument that the tool
// declares and an equals sign, where the key is none that Python allows, and
// how long it is: templates print such keys as they are.
func spelled(b []byte, last bool, declared []string) (n int, said guess) {
	said = no
	for _, key := range declared {
		if len(key) == 0 || len(key) > maxKey || isKey(key) || b[0] != key[0] {
			continue
		}
		k := min(len(b), len(key))
		if string(b[:k]) != key[:k] {
			continue
		}
		c, here, is := byte(0), []byte(nil), wait
		if k == len(key) {
			c, here, is = look(b[k:], false)
		}
		switch {
		case is == wait || c == '=' && len(here) == 1:
			if !last {
				said = wait
			}
		case c == '=' && here[1] != '=':
			return k, yes
		}
	}
	return 0, said
}

// isKey reports whether a key is read as one wherever it stands.
func isKey(key string) bool {
	for i := range len(key) {
		if !isWord(key[i]) {
			return false
		}
	}
	return key[0] < '0' || key[0] > '9'
}

// isWord reports whether c can stand in the name of an argument.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '.' || c >= 0x80
}

// callEnds says whether b may stand behind the parenthesis that ends a call.
func (v *pyValue) callEnds(b []byte, last bool) guess {
	c, here, said := look(b, last)
	if said != yes || len(here) == 0 {
		return said
	}
	if said := v.marked(here, last); said != no {
		return said
	}
	switch {
	case c == ']' && v.scope.listed:
		if !v.scope.loose {
			return yes
		}
		return v.sectionEnds(here[1:], last)
	case c == ',' || c == ';':
		return v.anotherCall(here[1:], last)
	case v.scope.listed:
		return no
	case len(v.scope.ends) > 0:
		return called(here, last)
	}
	return yes
}

// anotherCall says whether b may stand behind the comma between two calls.
func (v *pyValue) anotherCall(b []byte, last bool) guess {
	c, here, said := look(b, last)
	switch {
	case said != yes || len(here) == 0:
		return said
	case c == ']' && v.scope.listed:
		return yes
	}
	return called(here, last)
}

// sectionEnds says whether b may stand behind the bracket that ends a list of
// calls: where calls have an end marker, that.
func (v *pyValue) sectionEnds(b []byte, last bool) guess {
	if len(v.scope.ends) == 0 {
		return yes
	}
	_, here, said := look(b, last)
	if said != yes || len(here) == 0 {
		return said
	}
	return v.marked(here, last)
}

// called says whether b begins with a name and a parenthesis.
func called(b []byte, last bool) guess {
	n := 0
	for n < len(b) && n < maxKey && isCallName(b[n]) {
		n++
	}
	switch {
	case n == len(b):
		return short(last)
	case n > 0 && b[n] == '(':
		return yes
	}
	return no
}

// anotherItem says whether b may stand behind the comma of a container.
func anotherItem(b []byte, last bool) guess {
	c, here, said := look(b, last)
	if said != yes || len(here) == 0 || begins(c) || c == '(' || c == ']' || c == ')' || c == '}' {
		return said
	}
	return no
}

// closes says whether b may stand behind the mark that ends a container.
func (v *pyValue) closes(b []byte, last bool) guess {
	c, here, said := look(b, last)
	if said != yes || len(here) == 0 || bytes.IndexByte([]byte(",;:)]}"), c) >= 0 {
		return said
	}
	return v.marked(here, last)
}
