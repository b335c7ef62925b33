package dialect

import (
	"bytes"
	"encoding/json"
	"strings"
	"unsafe"

	"github.com/agentinfer/dyn/server/dialect/tape"
)

// Args makes valid JSON of what a model or client gave as a call's arguments:
// JSON stays as it was written, nothing becomes {}, and what is no JSON (an
// answer that was cut off, say) becomes a JSON string of the text. Decoders
// use it for replayed calls; who keeps an answer to compare it with its
// replay must use it too. The result may be text's own bytes: nobody may write
// to it.
func Args(text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return json.RawMessage("{}")
	}
	if raw := unsafe.Slice(unsafe.StringData(trimmed), len(trimmed)); tape.Valid(raw) {
		return raw
	}
	return appendString(nil, text)
}

// inputArgs makes the arguments of a free-text tool's call.
func inputArgs(text string) json.RawMessage {
	return append(appendString([]byte(`{"input":`), text), '}')
}

// inputText takes the free text out of such arguments. Models err: another
// field is taken when it is the only text, and what is no object is taken
// whole.
func inputText(args string) string {
	doc, err := tape.Parse(completed(args))
	if err != nil {
		return args
	}
	defer doc.Free()
	root := doc.Root()
	if v := root.Key("input"); v.Kind() == tape.String {
		return v.Text()
	}
	texts, only := 0, ""
	for _, v := range root.Fields() {
		if v.Kind() == tape.String {
			texts, only = texts+1, v.Text()
		}
	}
	switch {
	case texts == 1:
		return only
	case root.Kind() == tape.String:
		return root.Text()
	}
	return args
}

// argsObject returns arguments as a JSON object for APIs that have no text form:
// as they are, or completed where the answer was cut off in their middle.
// What can not be made an object goes into one as text.
func argsObject(args string) []byte {
	raw := completed(args)
	if len(raw) > 0 && raw[0] == '{' && tape.Valid(raw) {
		return raw
	}
	return inputArgs(args)
}

// completed closes what is open in a prefix of a JSON object: an unfinished
// string is ended, an unfinished number, word, key or field is dropped.
func completed(args string) []byte {
	raw := bytes.TrimSpace([]byte(args))
	if len(raw) == 0 {
		return []byte("{}")
	}
	if tape.Valid(raw) {
		return raw
	}
	return complete(raw)
}
