package prompt

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// assistant renders an earlier answer the way the model's template does.
func (p *page) assistant(i int) {
	m := &p.t.Messages[i]
	content, thought := p.parts(i)
	p.b.WriteString(assistant)
	if p.c.kept && i > p.last && (i == len(p.t.Messages)-1 || thought != "") {
		p.put("<think>\n", strings.Trim(thought, "\n"), "\n</think>\n\n")
		content = strings.TrimLeft(content, "\n")
	}
	p.b.WriteString(content)
	some := content != ""
	for j := range m.Blocks {
		if m.Blocks[j].Kind != turn.ToolUse {
			continue
		}
		if some {
			p.b.WriteByte('\n')
		}
		some = true
		p.call(&m.Blocks[j])
	}
	p.b.WriteString(imEnd)
	p.cut(i, len(assistant), len(imEnd))
}

// parts splits an answer in what was said and what was thought. Thinking that
// stands inline in the text is found where no thinking came apart.
func (p *page) parts(i int) (content, thought string) {
	m := &p.t.Messages[i]
	content = textOf(m)
	apart := false
	for j := range m.Blocks {
		if b := &m.Blocks[j]; b.Kind == turn.ThinkingBlock && b.Text != "" {
			if apart {
				thought += "\n"
			}
			thought += b.Text
			apart = true
		}
	}
	const end = "</think>"
	if !p.c.cut || apart && p.c.kept || !strings.Contains(content, end) ||
		!p.c.kept && i == len(p.t.Messages)-1 {
		return content, thought
	}
	thought, _, _ = strings.Cut(content, end)
	thought = strings.TrimRight(thought, "\n")
	if n := strings.LastIndex(thought, "<think>"); n >= 0 {
		thought = thought[n+len("<think>"):]
	}
	content = content[strings.LastIndex(content, end)+len(end):]
	return strings.TrimLeft(content, "\n"), strings.TrimLeft(thought, "\n")
}

// call renders a tool call. Arguments that are no JSON are printed as they
// are: that is what the model wrote.
func (p *page) call(b *turn.Block) {
	p.put("<tool_call>\n{\"name\": \"", b.Name, "\", \"arguments\": ")
	args, ok := appendPython(nil, b.Args)
	switch {
	case len(b.Args) == 0:
		p.b.WriteString("{}")
	case ok:
		p.b.Write(args)
	default:
		p.b.Write(b.Args)
	}
	p.b.WriteString("}\n</tool_call>")
}

// lastQuery is the index of the last user message that is not a tool
// response in disguise; without one it is the last message.
func lastQuery(ms []turn.Message) int {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role != turn.User {
			continue
		}
		s := textOf(&ms[i])
		if !strings.HasPrefix(s, "<tool_response>") || !strings.HasSuffix(s, "</tool_response>") {
			return i
		}
	}
	return len(ms) - 1
}
