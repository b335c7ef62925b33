package prompt

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestDrops looks at published templates: the Qwen3 and GLM families drop the
// reasoning of closed loops, templates without a place for it drop it at once,
// MiniMax-M2 and gpt-oss as their cards say.
func TestDrops(t *testing.T) {
	for name, want := range map[string]Drops{
		"dj-Qwen3-4B.jinja":                 DropsClosed,
		"Qwen3.6-35B-A3B-UD-Q4_K_M.jinja":   DropsClosed,
		"dj-GLM-4.6.jinja":                  DropsClosed,
		"dj-MiniMax-M2.jinja":               DropsClosed,
		"dj-Qwen3-Coder.jinja":              DropsAll,
		"dj-Qwen-Qwen2.5-7B-Instruct.jinja": DropsAll,
	} {
		m, err := OpenFS(modelFolder(t, "qwen3", map[string]string{"chat_template.jinja": string(fixture(t, "templates/"+name))}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Drops(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := simModel(t).Drops(); got != DropsNone {
		t.Errorf("the simulated model's own: %d", got)
	}
}

// TestLasting plays a loop of calls with reasoning and closes it: what is said
// to last is what the next prompt has in common with the last one of the loop,
// and not much less.
func TestLasting(t *testing.T) {
	m, err := OpenFS(modelFolder(t, "qwen3", map[string]string{"chat_template.jinja": string(fixture(t, "templates/dj-Qwen3-4B.jinja"))}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw := NewRaw("m", 1<<20, nil)
	var s State
	var ms []turn.Message
	build := func() Prompt {
		t.Helper()
		p, err := m.Build(&s, &turn.Turn{Messages: append([]turn.Message{}, ms...)}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	answer := func(p Prompt, thought, text string, a turn.Message) {
		if thought != "" {
			text = "<think>\n" + thought + "\n</think>\n\n" + text
		}
		before := p.Rolling[len(p.Rolling)-1]
		raw.Put(before, turn.RawTurn{Key: Next(before, a), Opening: p.Opening, IDs: m.tok.Encode(nil, text), Thinking: thought})
		ms = append(ms, a)
	}
	ms = []turn.Message{msg(turn.System, says("Be brief.")), msg(turn.User, says("look at it"))}
	first := build()
	if first.Lasting != first.IDs.Len() {
		t.Errorf("nothing is thought yet: %d of %d", first.Lasting, first.IDs.Len())
	}
	answer(first, strings.Repeat("I look. ", 50), "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>", msg(turn.Assistant, calls("look", `{}`)))
	ms = append(ms, turn.Message{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, ID: "c", Text: strings.Repeat("seen ", 50)}}})
	loop := build()
	if loop.Lasting < first.IDs.Len()-len(first.Opening) || loop.Lasting > first.IDs.Len() {
		t.Errorf("in the loop %d last, the prompt before it had %d", loop.Lasting, first.IDs.Len())
	}
	answer(loop, "", "It is so.", msg(turn.Assistant, says("It is so.")))
	ms = append(ms, msg(turn.User, says("and now?")))
	next := build()
	same := next.IDs.Same(0, loop.IDs.Flat())
	if loop.Lasting > same || same-loop.Lasting > 8 {
		t.Errorf("%d of %d were to last, %d are the same", loop.Lasting, loop.IDs.Len(), same)
	}
	if b := next.Break; b == nil || b.Token < loop.Lasting || b.Token-loop.Lasting > 8 {
		t.Errorf("the break is %+v, %d were to last", b, loop.Lasting)
	}
}
