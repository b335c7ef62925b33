package bpe

import "unicode/utf8"

const (
	// short is the longest piece, in bytes, whose next merge is found by
	// looking at every pair; above it a tree keeps the order.
	short = 64
	// longest is where a piece is cut in any case, so that the work memory
	// of a hostile text stays near 10 MiB.
	longest = 256 << 10
	// kept is the longest copy of a text, in bytes, whose memory is kept for
	// the next one.
	kept = 1 << 20
)

// work is the memory of one Encode, reused by later ones.
type work struct {
	ids   [short]uint32
	ranks [short]uint32
	long  chain
	memo  *memo // nil: nothing is remembered
	pad   window
	valid []byte // the text, if it was not UTF-8
	text  []byte // text or a piece with a space put before it
	// The text after the last step of normalisation that changed it is in
	// taken, the next will be in free.
	taken, free []byte
	composer
}

// learn appends the ids of a piece that is spelled as the token e is, and
// notes whether it is that token: whether its own merges lead back to it.
func (t *Tokenizer) learn(dst []uint32, w *work, s string, e *pieceSlot) []uint32 {
	from := len(dst)
	dst = t.merge(dst, w, s)
	if len(dst) == from+1 && dst[from] == e.id() {
		e.state.Or(isWhole)
	} else {
		e.state.Or(isSplit)
	}
	return dst
}

// merge appends the ids of a piece, from its bytes up. What no merge joins is
// merged apart, which is sooner done.
func (t *Tokenizer) merge(dst []uint32, w *work, s string) []uint32 {
	if t.chars == nil || t.chars.joints == nil || asciiEnd(s, 0) == len(s) {
		return t.mergeWhole(dst, w, s)
	}
	for i := 0; i < len(s); {
		end := t.chars.apart(s, i)
		dst = t.mergeWhole(dst, w, s[i:end])
		i = end
	}
	return dst
}

// mergeWhole appends the ids of a piece or a part of one.
func (t *Tokenizer) mergeWhole(dst []uint32, w *work, s string) []uint32 {
	for len(s) > longest {
		n := longest
		for t.sentence && !utf8.RuneStart(s[n]) {
			n--
		}
		dst = t.mergeLong(dst, &w.long, s[:n])
		s = s[n:]
	}
	if len(s) > short {
		return t.mergeLong(dst, &w.long, s)
	}
	return t.mergeShort(dst, w, s)
}

// mergeShort does the lowest merge of all pairs, the leftmost of equals,
// until none is left.
func (t *Tokenizer) mergeShort(dst []uint32, w *work, s string) []uint32 {
	ids, ranks := w.ids[:len(s)], w.ranks[:len(s)]
	if t.sentence {
		ids = ids[:t.characters(ids, s)]
		for i := 1; i < len(ids); i++ {
			ranks[i-1] = t.pairs.find(ids[i-1], ids[i])
		}
		return t.reduce(dst, ids, ranks)
	}
	n := t.begin(ids, ranks, s)
	return t.reduce(dst, ids[:n], ranks)
}

// characters sets ids to the tokens of the characters of s, or of the bytes
// of those that the vocabulary lacks, and returns how many they are.
func (t *Tokenizer) characters(ids []uint32, s string) (n int) {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			ids[n] = t.bytes[s[i]]
			n, i = n+1, i+1
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if e := t.pieces.find(s[i : i+size]); e != nil {
			ids[n] = e.id()
			n, i = n+1, i+size
			continue
		}
		for range size {
			ids[n] = t.bytes[s[i]]
			n, i = n+1, i+1
		}
	}
	return n
}

// reduce merges ids; ranks holds what find says of each and the next.
func (t *Tokenizer) reduce(dst, ids, ranks []uint32) []uint32 {
	for n := len(ids) - 1; n > 0; n-- {
		at, best := 0, none
		for i, r := range ranks[:n] {
			if r < best {
				at, best = i, r
			}
		}
		if best == none {
			break
		}
		ids[at] = t.pairs.joined[best]
		copy(ids[at+1:], ids[at+2:])
		copy(ranks[at:], ranks[at+1:n])
		ids = ids[:n]
		if at+1 < n {
			ranks[at] = t.pairs.find(ids[at], ids[at+1])
		}
		if at > 0 {
			ranks[at-1] = t.pairs.find(ids[at-1], ids[at])
		}
	}
	return append(dst, ids...)
}
