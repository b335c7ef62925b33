package bpe

import "strings"

// bar is what SentencePiece files write for a space.
const bar = "▁"

// step is one step of normalisation. from is where in the whole text the
// part begins.
type step func(part string, from int) string

// normalized is part as its tokens are to be found in it.
func (t *Tokenizer) normalized(part string, from int) string {
	for _, s := range t.steps {
		part = s(part, from)
	}
	return part
}

// composing is the step to NFC.
func composing(part string, _ int) string { return compose(part) }

// replacing is the step that puts one string in place of another.
func replacing(old, by string) step {
	return func(part string, _ int) string { return strings.ReplaceAll(part, old, by) }
}

// prepending is the step that puts a prefix before every part.
func prepending(prefix string) step {
	return func(part string, _ int) string {
		if part == "" {
			return part
		}
		return prefix + part
	}
}

// spaced is the step that puts a space before a part that does not begin with
// one, if the part begins at or before the place last.
func spaced(last int) step {
	return func(part string, from int) string {
		if from > last || part == "" || part[0] == ' ' {
			return part
		}
		return " " + part
	}
}

// normalize takes the normalizer. A SentencePiece file is read with spaces
// where it has bars, and so is the text, so that the common text needs no
// change.
func (t *Tokenizer) normalize(s stage) error {
	switch s.Type {
	case "":
		return nil
	case "NFC":
		t.steps = append(t.steps, composing)
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
			t.steps, t.lead = append(t.steps, prepending(" ")), leadEach
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
		t.steps = append(t.steps, replacing(*old, s.Content))
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
		t.steps, t.lead = append(t.steps, spaced(maxFile)), leadEach
	case "first":
		t.steps, t.lead = append(t.steps, spaced(0)), leadFirst
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
	if !strips {
		t.lead = leadNone
	}
	return nil
}

// lead says where Decode drops a space that Encode put.
type lead uint8

const (
	leadNone  lead = iota
	leadFirst      // at the start of the text
	leadEach       // there and after each added token
)
