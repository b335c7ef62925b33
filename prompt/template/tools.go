package template

import (
	"bytes"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// keptLists is how many lists of tools a template keeps, keptTools how many
// bytes of tools in all. A list of more is made anew for every page.
const keptLists, keptTools = 32, 4 << 20

// lists keeps the last lists of tools as values, and their JSON: the agents of
// one harness all send the same.
type lists struct {
	mu   sync.Mutex // guards the rest
	have map[xxh3.Uint128]list
	keys []xxh3.Uint128 // in the order they came
	size int            // of all of them
}

// list is one of them, with the bytes of its tools.
type list struct {
	v    jinja.Value
	size int
}

// value returns the list of tools under a key, made once.
func (l *lists) value(key xxh3.Uint128, tools []turn.Tool, create func() jinja.Value) jinja.Value {
	l.mu.Lock()
	x, ok := l.have[key]
	l.mu.Unlock()
	if ok {
		return x.v
	}
	x = list{create(), 0}
	for i := range tools {
		x.size += len(tools[i].Name) + len(tools[i].Description) + len(tools[i].Schema)
	}
	if x.size > keptTools {
		return x.v
	}
	jinja.Keep(x.v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if other, ok := l.have[key]; ok {
		return other.v
	}
	if l.have == nil {
		l.have = map[xxh3.Uint128]list{}
	}
	for len(l.keys) == keptLists || l.size+x.size > keptTools {
		l.size -= l.have[l.keys[0]].size
		delete(l.have, l.keys[0])
		l.keys = l.keys[1:]
	}
	l.have[key] = x
	l.keys = append(l.keys, key)
	l.size += x.size
	return x.v
}

// Schemas of tools that come without: any arguments, and free text.
const (
	noSchema   = `{"type": "object", "properties": {}}`
	textSchema = `{"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}`
)

// toolValues is the list of the tools that the model is shown.
func (f *form) toolValues(tools []turn.Tool) jinja.Value {
	vs := make([]jinja.Value, 0, len(tools))
	for i := range tools {
		if t := &tools[i]; !t.Deferred {
			vs = append(vs, f.toolValue(t))
		}
	}
	return jinja.List(vs...)
}

// toolValue is a tool in the form in which templates read it.
func (f *form) toolValue(t *turn.Tool) jinja.Value {
	fn := new(jinja.Map)
	fn.Set("name", jinja.String(strings.Clone(t.Name)))
	if t.Description != "" || f.described {
		fn.Set("description", jinja.String(strings.Clone(t.Description)))
	}
	fn.Set("parameters", parameters(t))
	if f.bare {
		return jinja.Mapping(fn)
	}
	m := new(jinja.Map)
	m.Set("type", jinja.String("function"))
	m.Set("function", jinja.Mapping(fn))
	return jinja.Mapping(m)
}

// parameters is the schema of a tool; one that is no object is as good as
// none.
func parameters(t *turn.Tool) jinja.Value {
	raw := bytes.TrimSpace(t.Schema)
	if len(raw) > 0 && raw[0] == '{' {
		if v, err := jinja.Decode(raw); err == nil {
			return v
		}
	}
	text := noSchema
	if t.Custom {
		text = textSchema
	}
	v, _ := jinja.Decode([]byte(text))
	return v
}
