package turn

// messageKey is the hash of a message, with what it was made of.
type messageKey struct {
	lo, hi uint64
	first  *Block // nil where there is no key
	blocks int32
	role   byte // the first letter, which tells roles apart
}

// SetKey notes the hash of what m says (see package prompt/key) for all the
// turns that repeat the message: copies of m have it too. A message without
// blocks has none.
func (m *Message) SetKey(lo, hi uint64) {
	if m.Role != "" && len(m.Blocks) > 0 {
		m.key = messageKey{lo, hi, &m.Blocks[0], int32(len(m.Blocks)), m.Role[0]}
	}
}

// Key returns the hash that was noted of m; false where there is none, also
// because m has come to say something else since: its role or its blocks are not
// the very same.
func (m *Message) Key() (lo, hi uint64, ok bool) {
	k := &m.key
	if k.first == nil || int(k.blocks) != len(m.Blocks) || k.first != &m.Blocks[0] || m.Role == "" || k.role != m.Role[0] {
		return 0, 0, false
	}
	return k.lo, k.hi, true
}
