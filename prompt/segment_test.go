package prompt

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// TestSegmentsAreWhole checks that tokenising by segments gives what the whole
// text gives, for a tokenizer that has the tool response tags as tokens and
// for one that is treated as if it had not.
func TestSegmentsAreWhole(t *testing.T) {
	sim := simModel(t)
	joined := *sim
	r := *sim.render.(*chatML)
	r.apart = false
	joined.render = &r
	for name, m := range map[string]*Model{"sim": sim, "sim, results joined": &joined, "qwen3": qwen3(t)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tr := &turn.Turn{}
				change(t, tr)
				change(t, tr)
				p, err := m.Build(nil, tr, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				segs, _ := m.render.Render(tr)
				var whole strings.Builder
				for _, s := range segs {
					whole.WriteString(s.Text)
				}
				if want := m.tok.Encode(nil, whole.String()); !slices.Equal(p.IDs, want) {
					t.Fatalf("by segments %v, whole %v, of %q", p.IDs, want, whole.String())
				}
			})
		})
	}
}

// TestNoThoughtStays checks that the empty think block of a turn without
// thinking is part of the history of the next, with thinking on or off, and
// that a later ask with thinking on takes its place.
func TestNoThoughtStays(t *testing.T) {
	m := simModel(t)
	raw := NewRaw(1 << 20)
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}
	ask := func(mode string) string {
		tr.Thinking.Mode = mode
		p, err := m.Build(nil, tr, Rolling(nil, tr), raw)
		if err != nil {
			t.Fatal(err)
		}
		return string(m.tok.Decode(nil, p.IDs))
	}
	off := ask("off")
	if !strings.HasSuffix(off, "<|im_start|>assistant\n"+noThought) {
		t.Fatalf("prompt without thinking: %q", off)
	}
	answer := msg(turn.Assistant, says("yes"))
	raw.Put(Next(Rolling(nil, tr)[0], answer), m.tok.Encode(nil, "yes"))
	first := *tr
	tr.Messages = append(slices.Clone(tr.Messages), answer, msg(turn.User, says("more")))
	for _, mode := range []string{"on", "off"} {
		if got := ask(mode); !strings.HasPrefix(got, off+"yes<|im_end|>\n<|im_start|>user\nmore") {
			t.Errorf("thinking %s: %q does not go on from %q", mode, got, off)
		}
	}
	next := *tr
	*tr = first
	on := ask("on")
	*tr = next
	if got := ask("on"); !strings.HasPrefix(got, on+"yes") {
		t.Errorf("%q does not go on from %q", got, on)
	}
}

// TestThinks checks the templates that open the think block themselves.
func TestThinks(t *testing.T) {
	for name, want := range map[string]bool{"dj-Qwen-QwQ-32B.jinja": true, "dj-Qwen-Qwen3-0.6B.jinja": false} {
		m, err := OpenFS(modelFolder(t, "qwen3", map[string]string{"chat_template.jinja": string(fixture(t, "templates/"+name))}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}, nil, nil)
		if err != nil || p.Thinks != want {
			t.Errorf("%s: Thinks = %v, %v, want %v", name, p.Thinks, err, want)
		}
	}
}

func TestRollingMustFit(t *testing.T) {
	m := simModel(t)
	if _, err := m.Build(nil, &turn.Turn{}, []uint64{1}, nil); err == nil {
		t.Error("one hash for no message was taken")
	}
	if p, err := m.Build(nil, &turn.Turn{}, nil, nil); err != nil || len(p.IDs) == 0 {
		t.Errorf("an empty turn: %v, %v", p.IDs, err)
	}
}
