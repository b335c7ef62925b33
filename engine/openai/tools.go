package openai

import (
	"bytes"
	"encoding/json"

	"github.com/agentinfer/dyn/turn"
)

// Schemas of tools that come without: any arguments, and free text.
const (
	noSchema   = `{"type":"object","properties":{}}`
	textSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`
)

// Shown reports whether the model is shown any of these tools.
func Shown(tools []turn.Tool) bool {
	for i := range tools {
		if !tools[i].Deferred {
			return true
		}
	}
	return false
}

// AppendTools appends the list of the tools that the model is shown.
func AppendTools(b []byte, tools []turn.Tool) []byte {
	b = append(b, '[')
	some := false
	for i := range tools {
		t := &tools[i]
		if t.Deferred {
			continue
		}
		if some {
			b = append(b, ',')
		}
		some = true
		b = appendString(append(b, `{"type":"function","function":{"name":`...), t.Name)
		if t.Description != "" {
			b = appendString(append(b, `,"description":`...), t.Description)
		}
		b = append(append(b, `,"parameters":`...), schema(t)...)
		b = append(b, "}}"...)
	}
	return append(b, ']')
}

// schema is that of a tool's arguments; one that is no object is as good as
// none.
func schema(t *turn.Tool) []byte {
	if raw := bytes.TrimSpace(t.Schema); len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	if t.Custom {
		return []byte(textSchema)
	}
	return []byte(noSchema)
}
