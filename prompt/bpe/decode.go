package bpe

// Decode appends the text of ids to dst, added tokens spelled out. Ids that
// no token has add nothing. What Encode made of valid text comes back byte
// for byte (in NFC, where the file asks for it); other ids may spell half
// characters, which are appended as they are.
func (t *Tokenizer) Decode(dst []byte, ids []uint32) []byte {
	c := carry{t: t, bare: t.drop != leadNone}
	for _, id := range ids {
		dst = append(dst, c.next(id)...)
	}
	return dst
}

// carry is what one token tells of how the next is spelled.
type carry struct {
	t    *Tokenizer
	bare bool // Encode put a space before what comes
}

// next returns the text of id after those before it.
func (c *carry) next(id uint32) string {
	s := c.t.Token(id)
	if c.t.drop == leadNone || s == "" {
		return s
	}
	if c.bare && s[0] == ' ' {
		s = s[1:]
	}
	c.bare = c.t.drop != leadFirst && c.t.pieces.at[id].is&extra != 0
	return s
}

// Decoder turns ids into text one by one. It holds back the bytes of a
// character that is not whole yet, and reads bytes that can never be one as
// U+FFFD, so what it appends is always valid UTF-8. It belongs to one
// goroutine.
type Decoder struct {
	carry
	held []byte
}

// Decoder returns a decoder at the start of a text.
func (t *Tokenizer) Decoder() *Decoder {
	return &Decoder{carry: carry{t: t, bare: t.drop != leadNone}, held: make([]byte, 0, 64)}
}

// Push appends what became whole with id.
func (d *Decoder) Push(dst []byte, id uint32) []byte {
	d.held = append(d.held, d.next(id)...)
	whole := len(d.held) - unfinished(d.held)
	dst = appendValid(dst, d.held[:whole])
	d.held = append(d.held[:0], d.held[whole:]...)
	return dst
}

// Pending returns how many bytes are held back. At the end of a text they
// are the start of a character that never came.
func (d *Decoder) Pending() int { return len(d.held) }
