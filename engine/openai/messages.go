package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// AppendMessages appends the list of a turn's messages.
func AppendMessages(b []byte, ms []turn.Message) []byte {
	w := writer{b: append(b, '['), ms: ms}
	for i := range ms {
		switch m := &ms[i]; m.Role {
		case turn.Assistant:
			w.answer(m.Blocks)
		case turn.ToolRole:
			w.results(i)
		case turn.System:
			w.said("system", m.Blocks)
		default:
			w.said("user", m.Blocks)
		}
	}
	return append(w.b, ']')
}

// writer appends messages.
type writer struct {
	b    []byte
	ms   []turn.Message
	some bool // a message was written
}

// open begins a message.
func (w *writer) open(role string) {
	if w.some {
		w.b = append(w.b, ',')
	}
	w.some = true
	w.b = append(append(append(w.b, `{"role":"`...), role...), '"')
}

// said writes what system or user say.
func (w *writer) said(role string, blocks []turn.Block) {
	w.open(role)
	if slices.ContainsFunc(blocks, shown) {
		w.parts(blocks)
	} else {
		w.content(text(blocks))
	}
	w.b = append(w.b, '}')
}

// parts writes what is said as a list of texts and images, in order.
func (w *writer) parts(blocks []turn.Block) {
	w.b = append(w.b, `,"content":[`...)
	for len(blocks) > 0 {
		n := slices.IndexFunc(blocks, shown)
		if n < 0 {
			n = len(blocks)
		}
		if s := text(blocks[:n]); s != "" {
			w.b = append(appendString(append(w.b, `{"type":"text","text":`...), s), "},"...)
		}
		if n < len(blocks) {
			url, _ := prompt.DataURL(&blocks[n])
			w.b = append(appendString(append(w.b, `{"type":"image_url","image_url":{"url":`...), url), "}},"...)
			n++
		}
		blocks = blocks[n:]
	}
	w.b[len(w.b)-1] = ']' // was a comma
}

// shown reports whether a block is a picture that came with its data.
func shown(b turn.Block) bool {
	_, ok := prompt.DataURL(&b)
	return ok
}

func (w *writer) content(s string) {
	w.b = appendString(append(w.b, `,"content":`...), s)
}

// answer writes what the assistant said, thought and called.
func (w *writer) answer(blocks []turn.Block) {
	w.open("assistant")
	calls := slices.ContainsFunc(blocks, func(b turn.Block) bool { return b.Kind == turn.ToolUse })
	if s := text(blocks); s == "" && calls {
		w.b = append(w.b, `,"content":null`...)
	} else {
		w.content(s)
	}
	if s := thought(blocks); s != "" {
		w.b = appendString(append(w.b, `,"reasoning":`...), s)
		w.b = appendString(append(w.b, `,"reasoning_content":`...), s)
	}
	if calls {
		w.b = append(w.b, `,"tool_calls":[`...)
		for i := range blocks {
			if blocks[i].Kind == turn.ToolUse {
				w.call(&blocks[i])
			}
		}
		w.b[len(w.b)-1] = ']' // was a comma
	}
	w.b = append(w.b, '}')
}

// call writes a call and a comma.
func (w *writer) call(c *turn.Block) {
	w.b = appendString(append(w.b, `{"id":`...), c.ID)
	w.b = appendString(append(w.b, `,"type":"function","function":{"name":`...), c.Name)
	w.b = appendString(append(w.b, `,"arguments":`...), arguments(c.Args))
	w.b = append(w.b, "}},"...)
}

// arguments are those of a call as the text of an object.
func arguments(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0, string(raw) == "null":
		return "{}"
	case raw[0] == '{' && json.Valid(raw):
		return string(raw)
	}
	return string(append(appendString([]byte(`{"input":`), string(raw)), '}'))
}

// results writes the results of a message one by one, each with what follows
// it, in the order of their calls. Few templates show images among them, so
// those stand in a message of the user's behind all.
func (w *writer) results(i int) {
	blocks := w.ms[i].Blocks
	var rows [][]turn.Block
	from := 0
	for j := 1; j <= len(blocks); j++ {
		if j == len(blocks) || blocks[j].Kind == turn.ToolResult {
			rows = append(rows, blocks[from:j])
			from = j
		}
	}
	w.sort(i, rows)
	var images []turn.Block
	for _, row := range rows {
		first := &row[0]
		if first.Kind != turn.ToolResult {
			w.said("user", row)
			continue
		}
		row, images = apart(row, images)
		w.open("tool")
		w.b = appendString(append(w.b, `,"tool_call_id":`...), first.ID)
		if name := w.name(i, first.ID); name != "" {
			w.b = appendString(append(w.b, `,"name":`...), name)
		}
		w.content(text(row))
		w.b = append(w.b, '}')
	}
	if len(images) > 0 {
		w.said("user", images)
	}
}

// apart returns a row with a text in place of each image, and the images
// behind those there are.
func apart(row, images []turn.Block) (rest, all []turn.Block) {
	if !slices.ContainsFunc(row, shown) {
		return row, images
	}
	rest = slices.Clone(row)
	for i, b := range rest {
		if shown(b) {
			images = append(images, b)
			rest[i] = turn.Block{Kind: turn.Text, Text: template.ImageText}
		}
	}
	return rest, images
}

// sort puts results in the order of their calls; where one answers no call of
// the answer before, they stay.
func (w *writer) sort(i int, rows [][]turn.Block) {
	if len(rows) < 2 || i == 0 || w.ms[i-1].Role != turn.Assistant {
		return
	}
	at := map[string]int{}
	for k, b := range slices.Backward(w.ms[i-1].Blocks) {
		if b.Kind == turn.ToolUse {
			at[b.ID] = k
		}
	}
	for _, row := range rows {
		if _, ok := at[row[0].ID]; !ok || row[0].Kind != turn.ToolResult {
			return
		}
	}
	slices.SortStableFunc(rows, func(a, b []turn.Block) int { return at[a[0].ID] - at[b[0].ID] })
}

// near is how many messages back the call of a result is looked for.
const near = 32

// name is the name of the tool whose call a result in message i answers.
func (w *writer) name(i int, id string) string {
	for j := i - 1; j >= 0 && j >= i-near; j-- {
		if w.ms[j].Role != turn.Assistant {
			continue
		}
		for k := range w.ms[j].Blocks {
			if b := &w.ms[j].Blocks[k]; b.Kind == turn.ToolUse && b.ID == id {
				return b.Name
			}
		}
	}
	return ""
}

// text is what blocks say, each on lines of its own. An image, where it is not
// shown, is a fixed text.
func text(blocks []turn.Block) string {
	lines := make([]string, 0, len(blocks))
	for i := range blocks {
		switch b := &blocks[i]; b.Kind {
		case turn.ThinkingBlock, turn.ToolUse:
		case turn.Image:
			lines = append(lines, template.ImageText)
		case turn.Document:
			lines = append(lines, template.DocumentText)
		default:
			lines = append(lines, b.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// thought is what blocks hold of reasoning.
func thought(blocks []turn.Block) string {
	var lines []string
	for i := range blocks {
		if b := &blocks[i]; b.Kind == turn.ThinkingBlock && b.Text != "" {
			lines = append(lines, b.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func appendString(b []byte, s string) []byte {
	q, _ := json.Marshal(s) // a string can always be written
	return append(b, q...)
}
