package prompt

import (
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// pageLists is how many printed tool lists a toolPage keeps.
const pageLists = 32

// toolPage prints lists of tools and keeps what it printed: agents send the
// same tens of kilobytes with every turn.
type toolPage struct {
	mu   sync.Mutex // guards lists
	have map[xxh3.Uint128]string
	keys []xxh3.Uint128 // in the order they came
}

// print is one line of JSON per tool, each after a line feed.
func (p *toolPage) print(tools []turn.Tool) string {
	key := toolsKey(tools)
	p.mu.Lock()
	s, ok := p.have[key]
	p.mu.Unlock()
	if ok {
		return s
	}
	var b []byte
	for i := range tools {
		b = appendTool(append(b, '\n'), &tools[i])
	}
	s = string(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.have == nil {
		p.have = map[xxh3.Uint128]string{}
	}
	if _, ok := p.have[key]; !ok {
		if len(p.keys) == pageLists {
			delete(p.have, p.keys[0])
			p.keys = p.keys[1:]
		}
		p.have[key] = s
		p.keys = append(p.keys, key)
	}
	return s
}

// toolsKey hashes all of tools that is printed.
func toolsKey(tools []turn.Tool) xxh3.Uint128 {
	h := xxh3.New()
	for i := range tools {
		t := &tools[i]
		for _, s := range []string{t.Name, t.Description} {
			h.WriteString(s)
			h.Write([]byte{0xff, 0})
		}
		h.Write(t.Schema)
		if t.Custom {
			h.Write([]byte{1})
		}
		h.Write([]byte{0xff, 1})
	}
	return h.Sum128()
}

// freeText is the schema of a tool that takes text instead of arguments.
const freeText = `{"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}`

// appendTool prints one tool in the form that templates get it.
func appendTool(dst []byte, t *turn.Tool) []byte {
	dst = append(dst, `{"type": "function", "function": {"name": `...)
	dst = appendQuoted(dst, []byte(strings.ToValidUTF8(t.Name, "\uFFFD")))
	if t.Description != "" {
		dst = append(dst, `, "description": `...)
		dst = appendQuoted(dst, []byte(t.Description))
	}
	schema := []byte(t.Schema)
	if len(schema) == 0 && t.Custom {
		schema = []byte(freeText)
	}
	if len(schema) > 0 {
		n := len(dst)
		dst = append(dst, `, "parameters": `...)
		var ok bool
		if dst, ok = appendPython(dst, schema); !ok {
			dst = dst[:n]
		}
	}
	return append(dst, "}}"...)
}
