package bpe

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// maxID bounds the ids of a file, and with them the tables.
const maxID = 1 << 22

// noToken is no id.
const noToken = maxID

// Tokenizer turns text into ids and back. It is made by Load or Read, never
// changes, and may be used by any number of goroutines.
type Tokenizer struct {
	pieces   *pieces
	pairs    *pairs
	bytes    [256]uint32 // id of each single byte; in SentencePiece files of one-byte characters
	raw      matcher     // added tokens found in the text as it comes
	normal   matcher     // added tokens found in normalised text
	byName   map[string]uint32
	steps    []step   // of normalisation
	split    splitter // nil: stages cut
	grammar  *grammar // of split where text is ASCII, if it has one
	stages   stages
	sentence bool                 // a SentencePiece file: merges begin with characters
	barred   bool                 // it writes bars for spaces
	lead     lead                 // before which parts a space is put
	drop     lead                 // before which parts Decode takes it away
	edges    func() *edges        // found when first asked for
	forgets  bool                 // pieces are not remembered, see memo
	chars    *chars               // of byte-level files
	joints   *joints              // where SentencePiece text is cut; split is the same
	last     atomic.Pointer[work] // of the last Encode, which remembers the most
	reserve  sync.Pool            // of *work

	before, after []uint32 // see Around
}

// Encode appends the ids of text to dst. Added tokens in the text are
// recognised; nothing is put before or after. Invalid UTF-8 reads as U+FFFD.
func (t *Tokenizer) Encode(dst []uint32, text string) []uint32 {
	return t.encode(dst, text, &t.raw, &t.normal)
}

// EncodeText is Encode for what somebody said: an added token that is spelled
// in it is read as any other characters.
func (t *Tokenizer) EncodeText(dst []uint32, text string) []uint32 {
	return t.encode(dst, text, &nothing, &nothing)
}

// encode is Encode with the added tokens of raw and normal.
func (t *Tokenizer) encode(dst []uint32, text string, raw, normal *matcher) []uint32 {
	w := t.borrow()
	if !utf8.ValidString(text) {
		w.valid = appendValid(w.valid[:0], text)
		text = view(w.valid)
	}
	dst = slices.Grow(dst, len(text)/3+4)
	for at := 0; at < len(text); {
		m, ok := raw.next(text, at)
		if !ok {
			dst = t.stretch(dst, w, text[at:], at, normal)
			break
		}
		dst = append(t.stretch(dst, w, text[at:m.start], at, normal), m.id)
		at = m.end
	}
	t.giveBack(w)
	return dst
}

// stretch appends the ids of text without raw added tokens; from is where in
// the whole text it begins.
func (t *Tokenizer) stretch(dst []uint32, w *work, text string, from int, normal *matcher) []uint32 {
	text = t.normalized(w, text)
	if t.lead.wants(text, from) {
		if len(normal.tokens) == 0 {
			dst, text = t.led(dst, w, text)
		} else {
			w.text = append(append(w.text[:0], ' '), text...)
			text = view(w.text)
		}
	}
	for at := 0; at < len(text); {
		m, ok := normal.next(text, at)
		if !ok {
			return t.plain(dst, w, text[at:])
		}
		dst = append(t.plain(dst, w, text[at:m.start]), m.id)
		at = m.end
	}
	return dst
}

// plain appends the ids of text without added tokens, piece by piece.
func (t *Tokenizer) plain(dst []uint32, w *work, text string) []uint32 {
	if t.split == nil {
		from := 0
		for _, end := range t.stages.cut(text) {
			dst = t.piece(dst, w, text, from, end)
			from = end
		}
		return dst
	}
	for i, end := 0, 0; i < len(text); {
		if dst, i = t.blocks(dst, w, text, i); i >= end {
			end = t.split.stretch(text, i)
		}
		j := t.split.next(text[:end], i)
		dst = t.piece(dst, w, text, i, j)
		i = j
	}
	return dst
}

// borrow takes work memory that no other Encode uses.
func (t *Tokenizer) borrow() *work {
	w := t.last.Swap(nil)
	if w == nil {
		w, _ = t.reserve.Get().(*work)
	}
	if w != nil {
		return w
	}
	w = new(work)
	if !t.forgets {
		w.memo = new(memo)
	}
	return w
}

// giveBack keeps w for a later Encode, without what a long text has made
// big.
func (t *Tokenizer) giveBack(w *work) {
	if cap(w.long.ids) > 64*short {
		w.long = chain{}
	}
	for _, b := range []*[]byte{&w.text, &w.valid, &w.free, &w.taken, &w.one} {
		if cap(*b) > kept {
			*b = nil
		}
	}
	if cap(w.parts) > 64*short {
		w.parts = nil
	}
	if !t.last.CompareAndSwap(nil, w) {
		t.reserve.Put(w)
	}
}

// ID returns the id of the added token with this content.
func (t *Tokenizer) ID(added string) (uint32, bool) {
	id, ok := t.byName[added]
	return id, ok
}

// Added are the contents of all added tokens, sorted.
func (t *Tokenizer) Added() []string { return slices.Sorted(maps.Keys(t.byName)) }

// Token returns the bytes that id spells, which need not be whole characters;
// "" for an id that no token has.
func (t *Tokenizer) Token(id uint32) string { return t.pieces.spell(id) }

// Special says whether id is a special token, one that carries no text of
// the user's.
func (t *Tokenizer) Special(id uint32) bool {
	return int(id) < len(t.pieces.at) && t.pieces.at[id].is&special != 0
}

// Len is one more than the highest id.
func (t *Tokenizer) Len() int { return len(t.pieces.at) }
