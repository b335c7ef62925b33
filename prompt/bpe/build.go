package bpe

import (
	"fmt"
	"math"
)

// words collects the spelling of tokens.
type words struct {
	arena   []byte
	start   int  // where the token being named is spelled
	literal bool // it has characters outside the byte alphabet
	at      []span
	count   int
}

// spell takes a token as the file writes it; name must follow.
func (w *words) spell(token []byte) error {
	w.start = len(w.arena)
	var ok bool
	w.arena, ok = appendBytes(w.arena, token)
	w.literal = !ok
	if !ok {
		w.arena = append(w.arena, token...)
	}
	if n := len(w.arena) - w.start; n == 0 || n > math.MaxUint16 {
		return fmt.Errorf("vocabulary: a token of %d bytes", n)
	}
	return nil
}

// name gives the token spelled last its id.
func (w *words) name(id uint32) error {
	w.grow(id)
	if w.at[id].n != 0 {
		return fmt.Errorf("vocabulary: two tokens with id %d", id)
	}
	w.at[id] = span{off: uint32(w.start), n: uint16(len(w.arena) - w.start), literal: w.literal}
	w.count++
	return nil
}

// grow makes ids up to id known.
func (w *words) grow(id uint32) {
	if n := int(id) + 1 - len(w.at); n > 0 {
		w.at = append(w.at, make([]span, n)...)
	}
}

// build makes the tables.
func (f *file) build(t *Tokenizer) error {
	count := len(f.words.at)
	if err := f.addedTokens(t); err != nil {
		return err
	}
	t.pieces = newPieces(f.words.count, string(f.words.arena), f.words.at)
	for id := range count {
		if a := f.words.at[id]; a.n > 0 && !a.literal {
			t.pieces.add(uint32(id))
		}
	}
	for b := range t.bytes {
		e := t.pieces.find(string([]byte{byte(b)}))
		if e == nil {
			return unsupported("a vocabulary without byte 0x%02x", b)
		}
		t.bytes[b] = e.id
	}
	if err := f.readMerges(t); err != nil {
		return fmt.Errorf("merges: %w", err)
	}
	f.findWhole(t)
	return nil
}

// addedTokens spells the added tokens and makes their matchers.
func (f *file) addedTokens(t *Tokenizer) error {
	t.byName = make(map[string]uint32, len(f.added))
	var raw, normal []added
	for _, a := range f.added {
		if a.ID < 0 || a.ID >= maxID || a.Content == "" || len(a.Content) > math.MaxUint16 {
			return fmt.Errorf("added token %q with id %d", clip(a.Content), a.ID)
		}
		t.byName[a.Content] = uint32(a.ID)
		f.words.spellAdded(a)
		if !a.Normalized {
			raw = append(raw, a)
			continue
		}
		if t.nfc {
			a.Content = compose(a.Content)
		}
		normal = append(normal, a)
	}
	t.raw, t.normal = newMatcher(raw), newMatcher(normal)
	return nil
}

// spellAdded spells an added token, in place of the vocabulary's spelling if
// it has one: that one no text leads to.
func (w *words) spellAdded(a added) {
	w.grow(uint32(a.ID))
	s := &w.at[a.ID]
	s.special = a.Special
	if string(w.arena[s.off:s.off+uint32(s.n)]) == a.Content {
		return
	}
	s.off, s.n, s.literal = uint32(len(w.arena)), uint16(len(a.Content)), true
	w.arena = append(w.arena, a.Content...)
}
