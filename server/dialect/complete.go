package dialect

// complete returns a prefix of a JSON object as a whole object, or what is
// close to one when raw is no such prefix; the caller checks. It keeps the
// longest part after which only closing brackets are missing.
func complete(raw []byte) []byte {
	var (
		open   []byte // the closing brackets that are missing, innermost last
		good   int    // raw[:good] can be closed
		closer []byte // with these, reversed
	)
	keep := func(n int) { good, closer = n, append(closer[:0], open...) }
	key := false // the next string is a key
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '{', '[':
			open = append(open, c+2)
			key = c == '{'
			i++
			keep(i)
		case '}', ']':
			if len(open) == 0 {
				return raw
			}
			open = open[:len(open)-1]
			i++
			keep(i)
		case '"':
			end, whole := stringEnd(raw, i)
			if !whole && !key {
				raw = append(raw[:end:end], '"')
				end++
			}
			if !key {
				keep(end)
			}
			if !whole {
				return finish(raw[:good], closer)
			}
			i = end
		case ',':
			key = len(open) > 0 && open[len(open)-1] == '}'
			i++
		case ':':
			key = false
			i++
		case ' ', '\n', '\t', '\r':
			i++
		default:
			for i < len(raw) && !separator(raw[i]) {
				i++
			}
			if i < len(raw) {
				keep(i)
			}
		}
	}
	return finish(raw[:good], closer)
}

// finish appends closing brackets, innermost first.
func finish(raw, closer []byte) []byte {
	out := append([]byte(nil), raw...)
	for i := len(closer) - 1; i >= 0; i-- {
		out = append(out, closer[i])
	}
	return out
}

// stringEnd returns the offset after the string at i, and whether its quote
// is there; of a string without, the end of its last whole character.
func stringEnd(raw []byte, i int) (end int, whole bool) {
	for i++; i < len(raw); {
		switch {
		case raw[i] == '"':
			return i + 1, true
		case raw[i] != '\\':
			i++
		case i+1 < len(raw) && raw[i+1] != 'u':
			i += 2
		case i+6 <= len(raw):
			i += 6
		default:
			return i, false
		}
	}
	return len(raw), false
}

func separator(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}
