package parsers

import "encoding/json"

// Opening returns the text with which an answer begins that is a call: of the
// named tool, or of any when name is "". Put behind the prompt, it leaves the
// model nothing else to say. It is "" for a format that has no such text.
func Opening(format, name string) string {
	if format != "hermes" {
		return ""
	}
	if name == "" {
		return openCall + "\n"
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return ""
	}
	return openCall + "\n{\"name\": " + string(quoted) + ", \"arguments\": "
}

// Closing returns the text that goes behind the arguments of a call that was
// begun with the Opening of a named tool; "" for a format without one.
func Closing(format string) string {
	if format != "hermes" {
		return ""
	}
	return "}\n" + closeCall
}

// CallEnd returns the text that ends a call, "" when the format has none. As a
// stop string it holds an answer to one call.
func CallEnd(format string) string {
	if format != "hermes" {
		return ""
	}
	return closeCall
}
