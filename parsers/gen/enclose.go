package gen

import (
	"encoding/json"
	"strings"
)

// found is a JSON value or Python literal in a text.
type found struct {
	at, end int
	value   any
	python  bool
}

// enclosing returns the largest value around a place of a text.
func enclosing(s string, place int) (best found, ok bool) {
	for at := place - 1; at >= 0; at-- {
		if s[at] != '{' && s[at] != '[' {
			continue
		}
		if f, good := decode(s, at); good && f.end > place {
			best, ok = f, true
		}
	}
	return best, ok
}

// decode reads the value that begins at a place: JSON, else a Python literal.
func decode(s string, at int) (found, bool) {
	f := found{at: at}
	d := json.NewDecoder(strings.NewReader(s[at:]))
	if d.Decode(&f.value) == nil {
		f.end = at + int(d.InputOffset())
		return f, true
	}
	text, n := pythonJSON(s[at:])
	if n == 0 || json.Unmarshal([]byte(text), &f.value) != nil {
		return f, false
	}
	f.end, f.python = at+n, true
	return f, true
}

// pythonJSON writes the Python container that s begins with as JSON, and tells
// how long it is; 0 when it does not end.
func pythonJSON(s string) (text string, n int) {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"':
			t, k := pythonString(s[i:])
			if k == 0 {
				return "", 0
			}
			b.WriteString(quoted(t))
			i += k
			continue
		case strings.IndexByte("[{", c) >= 0:
			depth++
			b.WriteByte(c)
		case strings.IndexByte("]}", c) >= 0:
			depth--
			b.WriteByte(c)
			if depth == 0 {
				return b.String(), i + 1
			}
		case c >= 'A' && c <= 'Z':
			k := i
			for k < len(s) && (s[k]|0x20 >= 'a' && s[k]|0x20 <= 'z') {
				k++
			}
			word, known := map[string]string{"True": "true", "False": "false", "None": "null"}[s[i:k]]
			if !known {
				return "", 0
			}
			b.WriteString(word)
			i = k
			continue
		default:
			b.WriteByte(c)
		}
		i++
	}
	return "", 0
}

// pythonString reads the string literal that s begins with.
func pythonString(s string) (text string, n int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case s[0]:
			return b.String(), i + 1
		case '\\':
			if i++; i == len(s) {
				return "", 0
			}
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0
}

// Steps of a path that are no keys.
const (
	asKey  = "\x00key"  // the word is the key itself
	asText = "\x00text" // behind this, a string holds JSON
)

// path finds a word in a value: the keys on the way to it.
func path(v any, word string) ([]string, bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, in := range v {
			if k == word {
				return []string{asKey}, true
			}
			if p, ok := path(in, word); ok {
				return append([]string{k}, p...), true
			}
		}
	case []any:
		for _, in := range v {
			if p, ok := path(in, word); ok {
				return p, true
			}
		}
	case string:
		if v == word {
			return nil, true
		}
		if strings.HasPrefix(strings.TrimSpace(v), "{") && strings.Contains(v, word) {
			var in any
			if json.Unmarshal([]byte(v), &in) == nil {
				if p, ok := path(in, word); ok {
					return append([]string{asText}, p...), true
				}
			}
		}
	}
	return nil, false
}
