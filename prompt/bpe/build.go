package bpe

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

// words collects the spelling of tokens.
type words struct {
	arena    []byte
	start    int   // where the token being named is spelled
	is       trait // of that token
	at       []span
	count    int
	sentence bool // the alphabet is SentencePiece's
	fall     [256]struct {
		id    uint32
		known bool
	} // tokens that stand for a byte no character covers
}

// spell takes a token as the file writes it; name must follow.
func (w *words) spell(token []byte) error {
	w.start, w.is = len(w.arena), 0
	var ok bool
	if w.arena, ok = w.letters(w.arena, token); !ok {
		w.is = literal
		w.arena = append(w.arena, token...)
	}
	if n := len(w.arena) - w.start; n == 0 || n > math.MaxUint16 {
		return fmt.Errorf("vocabulary: a token of %d bytes", n)
	}
	return nil
}

// add enters a token of an id by its bytes.
func (w *words) add(id uint32, token []byte) error {
	if len(token) == 0 || len(token) > longToken {
		return fmt.Errorf("vocabulary: token %d has %d bytes", id, len(token))
	}
	w.start, w.is = len(w.arena), 0
	w.arena = append(w.arena, token...)
	return w.name(id)
}

// letters appends the bytes that a token of the file stands for, or reports
// false when no text leads to it.
func (w *words) letters(dst, token []byte) ([]byte, bool) {
	if !w.sentence {
		return appendBytes(dst, token)
	}
	return appendSpaced(dst, token)
}

// name gives the token spelled last its id.
func (w *words) name(id uint32) error {
	w.grow(id)
	if w.at[id].n != 0 {
		return fmt.Errorf("vocabulary: two tokens with id %d", id)
	}
	w.at[id] = span{off: uint32(w.start), n: uint16(len(w.arena) - w.start), is: w.is}
	if w.sentence {
		w.fallback(id)
	}
	w.count++
	return nil
}

// fallback notes a token that stands for a byte, and spells it so.
func (w *words) fallback(id uint32) {
	b, ok := hexByte(w.arena[w.start:])
	if !ok {
		return
	}
	w.fall[b].id, w.fall[b].known = id, true
	w.arena = append(w.arena[:w.start], b)
	w.at[id].n = 1
}

// grow makes ids up to id known.
func (w *words) grow(id uint32) {
	if n := int(id) + 1 - len(w.at); n > 0 {
		w.at = append(w.at, make([]span, n)...)
	}
}

// build makes the tables.
func (f *file) build(t *Tokenizer) error {
	f.words.sentence = t.sentence
	if err := f.vocabulary(); err != nil {
		return err
	}
	return f.tables(t, f.readMerges)
}

// tables makes the tables of a vocabulary that has been read. merges enters
// the merges once tokens can be found.
func (f *file) tables(t *Tokenizer, merges func(*Tokenizer) error) error {
	count := len(f.words.at)
	if err := f.addedTokens(t); err != nil {
		return err
	}
	t.pieces = newPieces(f.words.count, string(f.words.arena), f.words.at)
	for id := range count {
		if a := f.words.at[id]; a.n > 0 && a.is&literal == 0 {
			t.pieces.add(uint32(id))
		}
	}
	if err := f.singles(t); err != nil {
		return err
	}
	if err := merges(t); err != nil {
		return fmt.Errorf("merges: %w", err)
	}
	if f.model.IgnoreMerges {
		t.pieces.allWhole()
	}
	return nil
}

// singles finds the tokens that a merge begins with where the text has one
// byte.
func (f *file) singles(t *Tokenizer) error {
	for b := range t.bytes {
		e := t.pieces.find(string([]byte{byte(b)}))
		switch fall := &f.words.fall[b]; {
		case e != nil && (!t.sentence || b < utf8.RuneSelf):
			t.bytes[b] = e.id()
		case t.sentence && fall.known:
			t.bytes[b] = fall.id
		case !t.sentence && rareByte(b):
			t.bytes[b] = noToken
		default:
			return unsupported("a vocabulary without byte 0x%02x", b)
		}
	}
	return nil
}

// rareByte says which bytes a byte-level vocabulary may lack, as SmolLM2's
// does: those of control characters, and those that UTF-8 has for no character
// or hardly any. They give no token.
func rareByte(b int) bool {
	return b < ' ' && b != '\t' && b != '\n' && b != '\r' || b == 0x7f || b == 0xc0 || b == 0xc1 || b >= 0xf1
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
		if t.sentence && (a.LStrip || a.RStrip) {
			return unsupported("added token %q, which is normalized and strips spaces", clip(a.Content))
		}
		a.Content = strings.Clone(t.normalized(new(work), a.Content))
		if t.lead.wants(a.Content, 0) {
			a.Content = " " + a.Content
		}
		normal = append(normal, a)
	}
	t.raw, t.normal = newMatcher(raw), newMatcher(normal)
	t.edges = sync.OnceValue(t.findEdges)
	return nil
}

// spellAdded spells an added token, in place of the vocabulary's spelling if
// it has one: that one no text leads to.
func (w *words) spellAdded(a added) {
	w.grow(uint32(a.ID))
	s := &w.at[a.ID]
	s.is |= extra
	if a.Special {
		s.is |= special
	}
	content := a.Content
	if w.sentence {
		content = strings.ReplaceAll(content, bar, " ")
	}
	if string(w.arena[s.off:s.off+uint32(s.n)]) == content {
		return
	}
	s.off, s.n, s.is = uint32(len(w.arena)), uint16(len(content)), s.is|literal
	w.arena = append(w.arena, content...)
}
