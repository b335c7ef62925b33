package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// expandRefs tells the model the tools that a result makes known: one line of
// JSON per tool inside a functions block, as the search tool's own description
// promises. Deferred tools are in no other place of the prompt: among the
// tools at its start, each one found would cost the whole cache. left is how
// many bytes of tools may be told yet in this turn; beyond that their names are.
func expandRefs(blocks []turn.Block, tools []turn.Tool, left *int) []turn.Block {
	refers := func(b turn.Block) bool { return len(b.Refs) > 0 }
	if !slices.ContainsFunc(blocks, refers) {
		return blocks
	}
	blocks = slices.Clone(blocks)
	for i := range blocks {
		b := &blocks[i]
		if len(b.Refs) == 0 {
			continue
		}
		text := appendFunctions(nil, b.Refs, tools, left)
		if b.Kind != turn.ToolResult { // a system message that adds tools
			*b = turn.Block{Kind: turn.Text, Text: text, Lease: b.Lease}
			continue
		}
		if b.Text != "" {
			text = b.Text + "\n" + text
		}
		b.Text, b.Refs = text, nil
	}
	return blocks
}

// mostTold is how many bytes of tools the results of a turn tell, more than any
// context holds: a reference is short, and what it stands for may be long.
const mostTold = 16 << 20

// appendFunctions is the functions block of the named tools.
func appendFunctions(dst []byte, names []string, tools []turn.Tool, left *int) string {
	dst = append(dst, "<functions>\n"...)
	for _, name := range names {
		i := slices.IndexFunc(tools, func(t turn.Tool) bool { return t.Name == name })
		one := turn.Tool{Name: name}
		if i >= 0 {
			if *left -= len(tools[i].Description) + len(tools[i].Schema); *left >= 0 {
				one = tools[i]
			}
		}
		dst = append(dst, "<function>"...)
		dst = appendDefinition(dst, &one)
		dst = append(dst, "</function>\n"...)
	}
	return string(append(dst, "</functions>"...))
}

// appendDefinition is one tool as a line of JSON.
func appendDefinition(dst []byte, t *turn.Tool) []byte {
	dst = append(dst, '{')
	if t.Description != "" {
		dst = append(appendString(append(dst, `"description":`...), t.Description), ',')
	}
	dst = appendString(append(dst, `"name":`...), t.Name)
	if schema, ok := oneLine(t.Schema); ok {
		dst = append(append(dst, `,"parameters":`...), schema...)
	}
	return append(dst, '}')
}

// appendString appends s as a JSON string, its characters as they are.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(strings.ToValidUTF8(s, "\uFFFD")) // of a string it has no error
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// oneLine is a JSON value without the white space between its parts.
func oneLine(raw json.RawMessage) ([]byte, bool) {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil, false
	}
	return b.Bytes(), true
}
