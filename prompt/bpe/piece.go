package bpe

import (
	"math/bits"
	"slices"
)

// blocks appends the ids of the pieces from text[i] on, where one begins, as
// long as the grammar finds several at a time. It returns where the next one
// begins.
func (t *Tokenizer) blocks(dst []uint32, w *work, text string, i int) ([]uint32, int) {
	const few = 16 // bytes, too few to be worth a look
	for t.grammar != nil && i+few <= len(text) && load64(text, i)&highs == 0 {
		win := windowAt(text, i, &w.pad)
		b := look(win)
		ends := t.grammar.starts(&b, text, i) &^ 1
		if ends == 0 {
			break
		}
		n := 0
		if w.memo != nil {
			dst, n = t.recalled(dst, w, win, text[i:], ends)
		} else {
			dst, n = t.merged(dst, w, text[i:], ends)
		}
		i += n
	}
	return dst, i
}

// recalled appends the ids of the pieces of text that have these ends, most of
// them from memory, and returns the last end. win is the window of text.
func (t *Tokenizer) recalled(dst []uint32, w *work, win *window, text string, ends uint64) (_ []uint32, from int) {
	dst = slices.Grow(dst, 64+briefIDs) // one for each byte, and what is written too much
	for ; ends != 0; ends &= ends - 1 {
		to := bits.TrailingZeros64(ends)
		if to-from > briefText {
			dst = t.found(dst, w, text[from:to], keyOf(text[from:to]))
			from = to
			continue
		}
		key := newKey(win.at(from), win.next(from), to-from)
		if e := w.memo.of(key); e.key == key {
			n := len(dst)
			*(*[briefIDs]uint32)(dst[n : n+briefIDs]) = e.ids // no loop: how many it is nobody can guess
			dst = dst[:n+int(e.k)]
		} else {
			dst = t.learnt(dst, w, text[from:to], e, key)
		}
		from = to
	}
	return dst, from
}

// merged is recalled without a memory.
func (t *Tokenizer) merged(dst []uint32, w *work, text string, ends uint64) (_ []uint32, from int) {
	for ; ends != 0; ends &= ends - 1 {
		to := bits.TrailingZeros64(ends)
		dst = t.found(dst, w, text[from:to], keyIn(text, from, to))
		from = to
	}
	return dst, from
}

// piece appends the ids of the piece text[from:to].
func (t *Tokenizer) piece(dst []uint32, w *work, text string, from, to int) []uint32 {
	if to-from > briefText || w.memo == nil {
		return t.found(dst, w, text[from:to], keyIn(text, from, to))
	}
	key := keyOfBrief(text, from, to)
	e := w.memo.of(key)
	if e.key == key {
		return append(dst, e.ids[:e.k]...)
	}
	return t.learnt(dst, w, text[from:to], e, key)
}

// learnt appends the ids of a brief piece and keeps them in its place.
func (t *Tokenizer) learnt(dst []uint32, w *work, s string, e *brief, key briefKey) []uint32 {
	from := len(dst)
	dst = t.found(dst, w, s, keyOf(s))
	e.keep(key, dst[from:])
	return dst
}

// found appends the ids of a piece, whose key is key: the token that it is, or
// what it is merged to.
func (t *Tokenizer) found(dst []uint32, w *work, s string, key uint64) []uint32 {
	if e := t.pieces.seek(s, key); e != nil {
		switch state := e.state.Load(); {
		case state&isWhole != 0:
			return append(dst, state&(maxID-1))
		case state&isSplit == 0:
			return t.learn(dst, w, s, e)
		}
	}
	r := w.memo.slot(s, key)
	if r == nil {
		return t.merge(dst, w, s)
	}
	if r.holds(s) {
		return append(dst, r.ids[:r.k]...)
	}
	from := len(dst)
	dst = t.merge(dst, w, s)
	r.keep(s, dst[from:])
	return dst
}
