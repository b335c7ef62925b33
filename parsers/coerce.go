package parsers

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// coerce appends the value that text stands for where a schema allows the
// types t, and says what was wrong with it. Text that is of none of them stays
// text and is flagged.
//
// Where a string is allowed, text is another type only when it is exactly
// JSON of that type; "" and None are then text too.
func coerce(dst, text []byte, t types) ([]byte, turn.Flaw) {
	if t == 0 {
		t = typeString | typeObject | typeArray
	}
	if t&typeString != 0 {
		if exactly(text, t) {
			return append(dst, bytes.TrimSpace(text)...), 0
		}
		return appendString(dst, text), 0
	}
	s := bytes.TrimSpace(text)
	if t&typeNull != 0 && (len(s) == 0 || string(s) == "null" || string(s) == "None") {
		return append(dst, "null"...), 0
	}
	if t&typeBoolean != 0 {
		for _, word := range [...]string{"true", "false"} {
			if bytes.EqualFold(s, []byte(word)) {
				return append(dst, word...), 0
			}
		}
	}
	if t&(typeNumber|typeInteger) != 0 {
		if out, ok := appendNumber(dst, s, t&typeNumber == 0); ok {
			return out, 0
		}
	}
	if t&(typeObject|typeArray) != 0 {
		if out, flaw, ok := appendContainer(dst, s, t); ok {
			return out, flaw
		}
	}
	return appendString(dst, text), turn.Mistyped
}

// told appends the value of text that is said to be JSON, by a tag. What is
// none stays text and is flagged.
func told(dst, text []byte) ([]byte, turn.Flaw) {
	s := bytes.TrimSpace(text)
	switch {
	case json.Valid(s):
		return append(dst, s...), 0
	case string(s) == "True":
		return append(dst, "true"...), 0
	case string(s) == "False":
		return append(dst, "false"...), 0
	case string(s) == "None":
		return append(dst, "null"...), 0
	}
	if out, flaw, ok := appendContainer(dst, s, typeObject|typeArray); ok {
		return out, flaw
	}
	return appendString(dst, text), turn.Mistyped
}

// exactly reports whether text is JSON of one of the types other than string.
// White space may stand around a container only.
func exactly(text []byte, t types) bool {
	s := bytes.TrimSpace(text)
	if len(s) == 0 || !json.Valid(s) {
		return false
	}
	switch k := kind(s); k {
	case typeObject, typeArray:
		return t&k != 0
	case typeString:
		return false
	case typeInteger:
		return len(s) == len(text) && t&(typeInteger|typeNumber) != 0
	default:
		return len(s) == len(text) && t&k != 0
	}
}

// kind is the type of valid JSON without white space in front.
func kind(s []byte) types {
	switch s[0] {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	if bytes.ContainsAny(s, ".eE") {
		return typeNumber
	}
	return typeInteger
}

// appendNumber appends a number as strict JSON: without a plus or leading
// zeros, and where only integers are allowed, without a fraction.
func appendNumber(dst, s []byte, integer bool) ([]byte, bool) {
	sign, digits := "", bytes.TrimPrefix(s, []byte("+"))
	if rest, ok := bytes.CutPrefix(s, []byte("-")); ok {
		sign, digits = "-", rest
	}
	for len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		digits = digits[1:]
	}
	if len(digits) > 1 && digits[0] == '.' {
		digits = append([]byte{'0'}, digits...)
	}
	if len(digits) > 1 && digits[len(digits)-1] == '.' {
		digits = digits[:len(digits)-1]
	}
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' || !json.Valid(digits) {
		return dst, false
	}
	if integer && kind(digits) == typeNumber {
		f, err := strconv.ParseFloat(string(digits), 64)
		if err != nil || f != math.Trunc(f) || f >= 1<<53 {
			return dst, false
		}
		return strconv.AppendInt(append(dst, sign...), int64(f), 10), true
	}
	return append(append(dst, sign...), digits...), true
}

// appendContainer appends an object or a list: JSON as it stands, JSON that
// was encoded twice, or what is nearly JSON, a Python literal above all.
func appendContainer(dst, s []byte, t types) ([]byte, turn.Flaw, bool) {
	if len(s) == 0 {
		return dst, 0, false
	}
	k := kind(s)
	if k == typeString {
		var inner string
		if json.Unmarshal(s, &inner) != nil {
			return dst, 0, false
		}
		in := bytes.TrimSpace([]byte(inner))
		if len(in) > 0 && kind(in)&t&(typeObject|typeArray) != 0 && json.Valid(in) {
			return append(dst, in...), 0, true
		}
		return dst, 0, false
	}
	if k&t&(typeObject|typeArray) == 0 {
		return dst, 0, false
	}
	if json.Valid(s) {
		return append(dst, s...), 0, true
	}
	var v value
	for i, c := range s {
		switch v.feed(c) {
		case bad, past:
			return dst, 0, false
		case done:
			return append(dst, v.take()...), 0, i == len(s)-1
		}
	}
	v.finish()
	return append(dst, v.take()...), turn.Repaired, true
}

// appendString appends text as a JSON string.
func appendString(dst, text []byte) []byte {
	return append(appendText(append(dst, '"'), text), '"')
}

// appendText appends what stands between the quotes of a JSON string.
func appendText(dst, text []byte) []byte {
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		if c == '\\' {
			dst = append(dst, '\\', '\\')
		} else {
			dst = appendEscaped(dst, c)
		}
		from = i + 1
	}
	return append(dst, text[from:]...)
}
