package remote

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// maxDepth is how deep JSON of a server may be nested. What reads it calls
// itself for each level, and a goroutine's stack that is used up ends the whole
// program.
const maxDepth = 256

// Valid reports whether data is JSON, and not nested deeper than that of any
// server is.
func Valid(data []byte) bool { return shallow(data) && gjson.ValidBytes(data) }

// shallow reports whether data is not nested too deep.
func shallow(data []byte) bool {
	if bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) <= maxDepth {
		return true
	}
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case b == '"':
			text = !text
		case text && b == '\\':
			i++
		case text:
		case b == '[', b == '{':
			if depth++; depth > maxDepth {
				return false
			}
		case b == ']', b == '}':
			depth--
		}
	}
	return true
}
