package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestOtherEnd: an answer that was the last message, and is not any more, ends
// as the template now prints it, and the prompt is that which is built from
// nothing.
func TestOtherEnd(t *testing.T) {
	m, err := OpenFS(withTemplate(t, "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"+
		"{% if m.role != 'assistant' or not loop.last %}{{ '\\n<|im_end|>\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw := NewRaw("m", 1<<20, nil)
	var s State
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}
	build := func() {
		t.Helper()
		got, err := m.Build(&s, tr, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Build(nil, tr, nil, raw)
		if err != nil || got.Spliced != want.Spliced || !slices.Equal(got.IDs.Flat(), want.IDs.Flat()) {
			t.Errorf("%q with %d answers, from nothing %q with %d: %v", m.tok.Decode(nil, got.IDs.Flat()), got.Spliced, m.tok.Decode(nil, want.IDs.Flat()), want.Spliced, err)
		}
		if len(tr.Messages) > 1 && got.Spliced != 1 {
			t.Errorf("%d answers stand as they were made", got.Spliced)
		}
	}
	build()
	answer, before := msg(turn.Assistant, says("yes, of course")), Rolling(nil, tr)[0]
	raw.Put(before, turn.RawTurn{Key: Next(before, answer), Opening: m.tok.Encode(nil, "<|im_start|>assistant\n"), IDs: m.tok.Encode(nil, "yes,  of course")})
	tr.Messages = append(slices.Clone(tr.Messages), answer)
	build()
	tr.Messages = append(slices.Clone(tr.Messages), msg(turn.User, says("more")))
	build()
}

// TestJoinedAnswers: of two answers that a template joins, with a message
// between them that holds nothing, both are in the prompt.
func TestJoinedAnswers(t *testing.T) {
	m, err := OpenFS(withTemplate(t, "{% for m in messages %}{% if loop.index0 > 0 and messages[loop.index0 - 1].role == m.role %}{{ raise_exception('roles must alternate') }}{% endif %}"+
		"<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw := NewRaw("m", 1<<20, nil)
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}
	answer, before := msg(turn.Assistant, says("yes, of course")), Rolling(nil, tr)[0]
	raw.Put(before, turn.RawTurn{Key: Next(before, answer), Opening: m.tok.Encode(nil, "<|im_start|>assistant\n"), IDs: m.tok.Encode(nil, "yes,  of course")})
	tr.Messages = append(tr.Messages, answer, msg(turn.ToolRole), msg(turn.Assistant, says("and no")), msg(turn.User, says("more")))
	p, err := m.Build(nil, tr, nil, raw)
	if text := string(m.tok.Decode(nil, p.IDs.Flat())); err != nil || !strings.Contains(text, "and no") {
		t.Errorf("%v, %q", err, text)
	}
}
