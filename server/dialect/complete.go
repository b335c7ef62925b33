package dialect

// prefix is a prefix of a JSON object while it is read.
type prefix struct {
	open   []byte // the closing brackets that are missing, innermost last
	good   int    // so far the longest part that only lacks brackets
	closer []byte // those brackets, innermost last
}

// keep notes that the first n bytes only lack brackets.
func (p *prefix) keep(n int) { p.good, p.closer = n, append(p.closer[:0], p.open...) }

// whole returns the kept part of raw with its brackets.
func (p *prefix) whole(raw []byte) []byte {
	out := append([]byte(nil), raw[:p.good]...)
	for i := len(p.closer) - 1; i >= 0; i-- {
		out = append(out, p.closer[i])
	}
	return out
}

// complete returns a prefix of a JSON object as a whole object, or what is
// close to one when raw is no such prefix; the caller checks.
func complete(raw []byte) []byte {
	var p prefix
	key := false // the next string is a key
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '{', '[':
			p.open = append(p.open, c+2)
			key = c == '{'
			i++
			p.keep(i)
		case '}', ']':
			if len(p.open) == 0 {
				return raw
			}
			p.open = p.open[:len(p.open)-1]
			i++
			p.keep(i)
		case '"':
			end, ended := stringEnd(raw, i)
			if !ended && !key {
				raw = append(raw[:end:end], '"')
				end++
			}
			if !key {
				p.keep(end)
			}
			if !ended {
				return p.whole(raw)
			}
			i = end
		case ',', ':':
			key = c == ',' && len(p.open) > 0 && p.open[len(p.open)-1] == '}'
			i++
		case ' ', '\n', '\t', '\r':
			i++
		default:
			for i < len(raw) && !separator(raw[i]) {
				i++
			}
			if i < len(raw) {
				p.keep(i)
			}
		}
	}
	return p.whole(raw)
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
