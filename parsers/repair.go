package parsers

import "strings"

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
