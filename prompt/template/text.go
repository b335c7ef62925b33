package template

import (
	"encoding/json"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// What stands for content that the model cannot see.
const (
	ImageText    = "[image]"
	DocumentText = "[document]"
)

// shown is the text of a block that has one.
func shown(b *turn.Block) (string, bool) {
	switch b.Kind {
	case turn.Text, turn.ToolResult:
		return b.Text, true
	case turn.Image:
		return ImageText, true
	case turn.Document:
		return DocumentText, true
	case turn.Other:
		return otherText(b), true
	}
	return "", false
}

// otherText is the text of a block of an unknown kind: its own, else the
// field of that name, else all of its JSON.
func otherText(b *turn.Block) string {
	if b.Text != "" {
		return b.Text
	}
	var v struct{ Text string }
	if json.Unmarshal(b.Raw, &v) == nil && v.Text != "" {
		return v.Text
	}
	return string(b.Raw)
}

// appendText appends the text of a piece, its blocks on lines of their own.
func appendText(dst []byte, blocks []turn.Block) []byte {
	some := false
	for i := range blocks {
		s, ok := shown(&blocks[i])
		if !ok {
			continue
		}
		if some {
			dst = append(dst, '\n')
		}
		some = true
		dst = append(dst, s...)
	}
	return dst
}

// textSize is at least how many bytes appendText appends.
func textSize(blocks []turn.Block) (n int) {
	for i := range blocks {
		if b := &blocks[i]; b.Kind != turn.ThinkingBlock && b.Kind != turn.ToolUse {
			n += 1 + max(len(b.Text), len(ImageText), len(DocumentText))
			if b.Kind == turn.Other {
				n += len(b.Raw)
			}
		}
	}
	return n
}

// thoughts is what the blocks hold of reasoning.
func thoughts(dst []byte, blocks []turn.Block) []byte {
	for i := range blocks {
		if b := &blocks[i]; b.Kind == turn.ThinkingBlock && b.Text != "" {
			if len(dst) > 0 {
				dst = append(dst, '\n')
			}
			dst = append(dst, b.Text...)
		}
	}
	return dst
}

// inline is reasoning as it stands in the text of an answer.
func inline(thought, text string) string {
	return "<think>\n" + strings.Trim(thought, "\n") + "\n</think>\n\n" + strings.TrimLeft(text, "\n")
}
