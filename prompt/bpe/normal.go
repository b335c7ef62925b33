package bpe

import (
	"strings"
	"unicode/utf8"
)

// bar is what SentencePiece files write for a space.
const bar = "▁"

// step is one step of normalisation: one string in place of another, or
// NFC.
type step struct{ old, by string } // NFC if both are empty

// write appends part after the step to dst, or reports false and appends
// nothing when that changes nothing.
func (s step) write(dst []byte, part string, c *composer) (out []byte, changed bool) {
	if s.old == "" {
		return c.compose(dst, part)
	}
	at := strings.Index(part, s.old)
	if at < 0 {
		return dst, false
	}
	for ; at >= 0; at = strings.Index(part, s.old) {
		dst = append(append(dst, part[:at]...), s.by...)
		part = part[at+len(s.old):]
	}
	return append(dst, part...), true
}

// normalized is part as its tokens are to be found in it, without the space
// that lead may put before it. It is good until w is used for another part.
func (t *Tokenizer) normalized(w *work, part string) string {
	for _, s := range t.steps {
		out, changed := s.write(w.free[:0], part, &w.composer)
		if w.free = out; changed {
			part = view(out)
			w.free, w.taken = w.taken, w.free
		}
	}
	return part
}

// lead says before which parts of a text Encode puts a space.
type lead uint8

const (
	leadNone  lead = iota
	leadEach       // every part
	leadBare       // every part that does not begin with one
	leadFirst      // the part at the start of the text, if it does not
)

// wants says whether the part that begins at from gets a space.
func (l lead) wants(part string, from int) bool {
	if part == "" || l == leadNone {
		return false
	}
	return l == leadEach || part[0] != ' ' && (l == leadBare || from == 0)
}

// led appends the ids of the first piece of text, with a space before it, and
// returns the rest.
func (t *Tokenizer) led(dst []uint32, w *work, text string) ([]uint32, string) {
	first, _ := utf8.DecodeRuneInString(text)
	if !t.joints.joined(' ', first) {
		return t.piece(dst, w, " ", 0, 1), text
	}
	n := t.joints.next(text, 0)
	w.text = append(append(w.text[:0], ' '), text[:n]...)
	return t.piece(dst, w, view(w.text), 0, n+1), text[n:]
}

// normalize takes the normalizer. A SentencePiece file is read with spaces
// where it has bars, and so is the text, so that the common text needs no
// change.
func (t *Tokenizer) normalize(s stage) error {
	switch s.Type {
	case "":
		return nil
	case "NFC":
		t.steps = append(t.steps, step{})
		return nil
	case "Sequence":
		for _, part := range s.Normalizers {
			if err := t.normalize(part); err != nil {
				return err
			}
		}
		return nil
	case "Prepend":
		if t.sentence && s.Prepend == bar {
			t.lead = leadEach
			return nil
		}
	case "Replace":
		return t.replace(s)
	}
	return unsupported("normalizer %s", named(s))
}

// replace takes a normalizer that replaces a string.
func (t *Tokenizer) replace(s stage) error {
	switch old := s.Pattern.String; {
	case old == nil || *old == "":
		return unsupported("normalizer \"Replace\" of a regular expression")
	case t.sentence && *old == " " && s.Content == bar:
		t.barred = true
	case strings.Contains(*old+s.Content, " ") || strings.Contains(*old+s.Content, bar):
		return unsupported("normalizer \"Replace\" of %q by %q", clip(*old), clip(s.Content))
	default:
		t.steps = append(t.steps, step{*old, s.Content})
	}
	return nil
}

// uncut takes the pre-tokenizer of a SentencePiece file, which must leave the
// text in one piece. Where it is cut the merges tell.
func (t *Tokenizer) uncut(s stage) error {
	switch {
	case s.Type == "":
	case s.Type == "Split" && t.barred && s.Pattern.String != nil && *s.Pattern.String == " ":
		// No space is left to split at.
	case s.Type == "Metaspace" && s.Replacement == bar && s.Split != nil && !*s.Split:
		t.barred = true
		return t.metaspace(s.PrependScheme)
	default:
		return unsupported("pre_tokenizer %s", named(s))
	}
	if !t.barred {
		return unsupported("byte_fallback without spaces written as %s", bar)
	}
	return nil
}

// metaspace takes the scheme by which spaces are put before parts.
func (t *Tokenizer) metaspace(scheme string) error {
	switch scheme {
	case "always", "":
		t.lead = leadBare
	case "first":
		t.lead = leadFirst
	case "never":
	default:
		return unsupported("prepend_scheme %q", clip(scheme))
	}
	return nil
}

// ending takes the decoder of a SentencePiece file.
func (t *Tokenizer) ending(s stage) error {
	parts := []stage{s}
	if s.Type == "Sequence" {
		parts = s.Decoders
	}
	seen := map[string]bool{}
	strips := false
	for _, p := range parts {
		seen[p.Type] = true
		switch old := p.Pattern.String; {
		case p.Type == "Replace" && old != nil && *old == bar && p.Content == " ":
		case p.Type == "ByteFallback", p.Type == "Fuse":
		case p.Type == "Metaspace" && p.Replacement == bar:
			strips = strips || p.PrependScheme != "never"
		case p.Type == "Strip" && seen["Fuse"] && p.Content == " " && p.Start == 1 && p.Stop == 0:
			strips = true
		default:
			return unsupported("decoder %s in %s", named(p), named(s))
		}
	}
	if !seen["ByteFallback"] || !seen["Replace"] && !seen["Metaspace"] {
		return unsupported("decoder %s", named(s))
	}
	if strips {
		t.drop = t.lead
	}
	return nil
}
