package prompt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// TestPiecesAreWhole checks that tokenising in pieces gives what the whole
// text gives.
func TestPiecesAreWhole(t *testing.T) {
	for name, m := range map[string]*Model{"sim": simModel(t), "qwen3": qwen3(t)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tr := &turn.Turn{}
				change(t, tr)
				change(t, tr)
				if Steady(tr); len(tr.Messages) == 0 {
					return
				}
				var s State
				p, err := m.Build(&s, tr, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if want := m.tok.Encode(nil, string(s.page.Text)); !slices.Equal(p.IDs.Flat(), want) {
					t.Fatalf("in pieces %v, whole %v, of %q", p.IDs.Flat(), want, s.page.Text)
				}
			})
		})
	}
}

// TestNoThoughtStays checks that the empty think block of a turn without
// thinking is part of the history of the next, with thinking on or off.
func TestNoThoughtStays(t *testing.T) {
	m := simModel(t)
	raw := NewRaw("sim", 1<<20, nil)
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}
	ask := func(mode string) (Prompt, string) {
		tr.Thinking.Mode = mode
		p, err := m.Build(nil, tr, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		return p, string(m.tok.Decode(nil, p.IDs.Flat()))
	}
	p, off := ask("off")
	const noThought = "<think>\n\n</think>\n\n"
	if !strings.HasSuffix(off, "<|im_start|>assistant\n"+noThought) || p.Tail != "<|im_start|>assistant\n"+noThought {
		t.Fatalf("prompt without thinking: %q, tail %q", off, p.Tail)
	}
	answer := msg(turn.Assistant, says("yes"))
	raw.Put(p.Rolling[0], turn.RawTurn{Key: Next(p.Rolling[0], answer), Opening: p.Opening, IDs: m.tok.Encode(nil, "yes")})
	tr.Messages = append(slices.Clone(tr.Messages), answer, msg(turn.User, says("more")))
	for _, mode := range []string{"on", "off"} {
		p, got := ask(mode)
		if !strings.HasPrefix(got, off+"yes<|im_end|>\n<|im_start|>user\nmore") || p.Spliced != 1 || p.Edited != 0 {
			t.Errorf("thinking %s: %q does not go on from %q: %+v", mode, got, off, p)
		}
	}
}

// TestEdited checks that an answer that the client changed is rendered as it
// now is, and is told once.
func TestEdited(t *testing.T) {
	m := simModel(t)
	raw := NewRaw("sim", 1<<20, nil)
	var s State
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}
	p, err := m.Build(&s, tr, nil, raw)
	if err != nil {
		t.Fatal(err)
	}
	raw.Put(p.Rolling[0], turn.RawTurn{Key: Next(p.Rolling[0], msg(turn.Assistant, says("yes"))), Opening: p.Opening, IDs: []uint32{1}})
	tr.Messages = append(slices.Clone(tr.Messages), msg(turn.Assistant, says("no")), msg(turn.User, says("more")))
	for _, want := range []int{1, 0} {
		p, err := m.Build(&s, tr, nil, raw)
		if err != nil || p.Edited != want || p.Spliced != 0 || !strings.Contains(string(m.tok.Decode(nil, p.IDs.Flat())), "\nno<|im_end|>") {
			t.Errorf("%v, edited %d, spliced %d, want edited %d", err, p.Edited, p.Spliced, want)
		}
		tr.Messages = append(slices.Clone(tr.Messages), msg(turn.Assistant, says("ok")), msg(turn.User, says("go on")))
	}
}

// TestReasoning checks what becomes of the model's reasoning that the client
// has dropped: with it the answer stays as it was where the template prints
// it, and it is not put back where the template drops it.
func TestReasoning(t *testing.T) {
	m := qwen3(t)
	raw := NewRaw("qwen3", 1<<20, nil)
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("look"))}}
	p, err := m.Build(nil, tr, nil, raw)
	if err != nil {
		t.Fatal(err)
	}
	said := m.tok.Encode(nil, "<think>\nI  look.\n</think>\n\n<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>")
	answer := msg(turn.Assistant, calls("f", `{}`))
	raw.Put(p.Rolling[0], turn.RawTurn{Key: Next(p.Rolling[0], answer), Opening: p.Opening, IDs: said, Thinking: "I  look."})
	want := append(p.IDs.Flat(), said...)
	tr.Messages = append(slices.Clone(tr.Messages), answer, msg(turn.ToolRole, result("r")))
	if p, _ = m.Build(nil, tr, nil, raw); p.Spliced != 1 || !slices.Equal(p.IDs.Flat()[:min(len(want), p.IDs.Len())], want) {
		t.Errorf("in the loop: %q", m.tok.Decode(nil, p.IDs.Flat()))
	}
	tr.Messages = append(slices.Clone(tr.Messages), msg(turn.Assistant, says("done")), msg(turn.User, says("next")))
	if p, _ = m.Build(nil, tr, nil, raw); p.Spliced != 0 || strings.Contains(string(m.tok.Decode(nil, p.IDs.Flat())), "I  look.") {
		t.Errorf("after it: %q", m.tok.Decode(nil, p.IDs.Flat()))
	}
}

// TestThinks checks the templates that open the think block themselves.
func TestThinks(t *testing.T) {
	for name, want := range map[string]bool{"dj-Qwen-QwQ-32B.jinja": true, "dj-Qwen-Qwen3-0.6B.jinja": false} {
		m, err := OpenFS(modelFolder(t, "qwen3", map[string]string{"chat_template.jinja": string(fixture(t, "templates/"+name))}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}, nil, nil)
		if err != nil || p.Thinks != want {
			t.Errorf("%s: Thinks = %v, %v, want %v", name, p.Thinks, err, want)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	m := simModel(t)
	if _, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{msg(turn.User)}}, &Hashes{Keys: make([]Key, 2)}, nil); err == nil {
		t.Error("two hashes for one message were taken")
	}
	if _, err := m.Build(nil, &turn.Turn{}, nil, nil); !errors.Is(err, errNothing) {
		t.Errorf("an empty turn: %v", err)
	}
}

// TestAfterRefusal checks that a turn that the template refuses leaves the
// State good for the next.
func TestAfterRefusal(t *testing.T) {
	m, err := OpenFS(modelFolder(t, "qwen3", map[string]string{
		"chat_template.jinja": "{% for m in messages %}{% if m.content == 'no' %}{{ raise_exception('not so') }}{% endif %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}<|im_start|>",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var s State
	for _, last := range []string{"a", "no", "b", "no", "no", "c"} {
		tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi")), msg(turn.Assistant, says("x")), msg(turn.User, says(last))}}
		p, err := m.Build(&s, tr, nil, nil)
		if (err != nil) != (last == "no") {
			t.Fatalf("%s: %v", last, err)
		}
		if err != nil {
			continue
		}
		if want, _ := m.Build(nil, tr, nil, nil); !slices.Equal(p.IDs.Flat(), want.IDs.Flat()) {
			t.Errorf("%s: %q", last, m.tok.Decode(nil, p.IDs.Flat()))
		}
	}
}
