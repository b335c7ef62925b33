package turn

import "testing"

// TestMessageKey: a message keeps its key until it says something else.
func TestMessageKey(t *testing.T) {
	m := Message{Role: User, Blocks: make([]Block, 2, 4)}
	has := func(m Message) bool {
		lo, hi, ok := m.Key()
		return ok && lo == 1 && hi == 2
	}
	if has(m) {
		t.Error("a key that nobody noted")
	}
	m.SetKey(1, 2)
	if copied := m; !has(copied) {
		t.Error("a copy has lost its key")
	}
	for name, change := range map[string]func(*Message){
		"role":          func(m *Message) { m.Role = System },
		"no role":       func(m *Message) { m.Role = "" },
		"another block": func(m *Message) { m.Blocks = append(m.Blocks, Block{}) },
		"one less":      func(m *Message) { m.Blocks = m.Blocks[:1] },
		"one later":     func(m *Message) { m.Blocks = m.Blocks[1:3] },
		"none":          func(m *Message) { m.Blocks = m.Blocks[:0] },
		"others":        func(m *Message) { m.Blocks = append([]Block(nil), m.Blocks...) },
	} {
		changed := m
		if change(&changed); has(changed) {
			t.Errorf("%s: the key is still there", name)
		}
	}
	empty := Message{Role: User}
	if empty.SetKey(1, 2); has(empty) {
		t.Error("nothing has a key")
	}
}

// TestRolesDifferInLetters is what a message's key tells its role by.
func TestRolesDifferInLetters(t *testing.T) {
	seen := map[byte]Role{}
	for _, r := range []Role{System, User, Assistant, ToolRole} {
		if was, ok := seen[r[0]]; ok {
			t.Errorf("%s and %s begin alike", r, was)
		}
		seen[r[0]] = r
	}
}
