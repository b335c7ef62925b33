package prompt

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// knownBlocks makes text of content that no version of ours knows: its JSON
// as the client wrote it, on one line, without cache_control, which moves.
func knownBlocks(blocks []turn.Block) []turn.Block {
	unknown := func(b turn.Block) bool { return b.Kind == turn.Other }
	if !slices.ContainsFunc(blocks, unknown) {
		return blocks
	}
	blocks = slices.Clone(blocks)
	for i := range blocks {
		if b := &blocks[i]; b.Kind == turn.Other {
			*b = turn.Block{Kind: turn.Text, Text: unknownText(b.Raw), Lease: b.Lease}
		}
	}
	return blocks
}

// unknownText is the JSON of an unknown block as text.
func unknownText(raw []byte) string {
	line, ok := oneLine(raw)
	if !ok {
		return string(raw)
	}
	v := gjson.ParseBytes(line)
	if !v.IsObject() || !v.Get("cache_control").Exists() {
		return string(line)
	}
	out := []byte{'{'}
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "cache_control" {
			return true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key.Raw...), ':'), value.Raw...)
		return true
	})
	return string(append(out, '}'))
}
