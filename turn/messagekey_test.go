package turn

import "testing"

// TestMessageKey: a message keeps its key until it says something else.
func TestMessageKey(t *testing.T) {
	m := Message{Role: User, Blocks: make([]Block, 2, 4)}
	k := &MessageKey{Lo: 1, Hi: 2}
	if m.Key() != nil {
		t.Error("a key that nobody noted")
	}
	m.SetKey(k)
	if copied := m; copied.Key() != k {
		t.Error("a copy has lost its key")
	}
	for name, change := range map[string]func(*Message){
		"role":          func(m *Message) { m.Role = System },
		"another block": func(m *Message) { m.Blocks = append(m.Blocks, Block{}) },
		"one less":      func(m *Message) { m.Blocks = m.Blocks[:1] },
		"one later":     func(m *Message) { m.Blocks = m.Blocks[1:3] },
		"none":          func(m *Message) { m.Blocks = m.Blocks[:0] },
		"others":        func(m *Message) { m.Blocks = append([]Block(nil), m.Blocks...) },
	} {
		changed := m
		if change(&changed); changed.Key() != nil {
			t.Errorf("%s: the key is still there", name)
		}
	}
	empty := Message{Role: User}
	if empty.SetKey(k); empty.Key() != nil {
		t.Error("nothing has a key")
	}
}
