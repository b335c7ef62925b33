package prompt

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestHalvesOfCharacters: an answer with bytes that are no character stands as
// the model gave it. The client got them as U+FFFD.
func TestHalvesOfCharacters(t *testing.T) {
	m := simModel(t)
	half := -1
	for id := range 1000 {
		if m.tok.Token(uint32(id)) == "\xe4" {
			half = id
		}
	}
	if half < 0 {
		t.Fatal("the tokenizer has no half of a character")
	}
	yes := m.tok.Encode(nil, "yes")
	for client, ids := range map[string][]uint32{
		"\uFFFDyes":       append([]uint32{uint32(half)}, yes...),
		"\uFFFD\uFFFDyes": append([]uint32{uint32(half), uint32(half)}, yes...),
		"yes\uFFFD":       append(append([]uint32{}, yes...), uint32(half)),
		"\uFFFD":          {uint32(half)},
	} {
		raw := NewRaw("sim", 1<<20, nil)
		hi := msg(turn.User, says("hi"))
		p, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{hi}}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		answer := msg(turn.Assistant, says(client))
		raw.Put(p.Rolling[0], turn.RawTurn{Key: Next(p.Rolling[0], answer), Opening: p.Opening, IDs: ids})
		p, err = m.Build(nil, &turn.Turn{Messages: []turn.Message{hi, answer}}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		if p.Spliced != 1 || p.Edited != 0 {
			t.Errorf("%q: spliced %d, edited %d", client, p.Spliced, p.Edited)
		}
	}
}
