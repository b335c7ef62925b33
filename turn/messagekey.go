package turn

// MessageKey is the hash of a message, made once for all the turns that repeat it;
// what is hashed and how is the prompt room's, see package prompt/key.
type MessageKey struct {
	Lo, Hi uint64

	role   Role // what it was made of
	first  *Block
	blocks int
}

// SetKey notes k as the key of what m says. Copies of m share it, so it is not
// written any more. A message without blocks has none.
func (m *Message) SetKey(k *MessageKey) {
	if len(m.Blocks) == 0 {
		return
	}
	k.role, k.first, k.blocks = m.Role, &m.Blocks[0], len(m.Blocks)
	m.key = k
}

// Key returns the key that was noted of m, or nil: also when m has come to say
// something else since, by a role or blocks that are not the very same.
func (m *Message) Key() *MessageKey {
	k := m.key
	if k == nil || k.role != m.Role || k.blocks != len(m.Blocks) || k.first != &m.Blocks[0] {
		return nil
	}
	return k
}
