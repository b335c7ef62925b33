package bpe

import (
	"encoding/json"
	"fmt"
	"strings"
)

// stage is any normalizer, pre-tokenizer or decoder.
type stage struct {
	Type          string  `json:"type"`
	Normalizers   []stage `json:"normalizers"`
	Pretokenizers []stage `json:"pretokenizers"`
	Decoders      []stage `json:"decoders"`
	Pattern       struct {
		Regex  *string
		String *string
	} `json:"pattern"`
	Behavior         string `json:"behavior"`
	Invert           bool   `json:"invert"`
	AddPrefixSpace   *bool  `json:"add_prefix_space"` // absent is true
	UseRegex         *bool  `json:"use_regex"`        // absent is true
	IndividualDigits bool   `json:"individual_digits"`
	Prepend          string `json:"prepend"`
	Content          string `json:"content"`
	Replacement      string `json:"replacement"`
	PrependScheme    string `json:"prepend_scheme"`
	Split            *bool  `json:"split"`
	Start            int    `json:"start"`
	Stop             int    `json:"stop"`
}

// pipeline sets what comes before and after the merges, or says which stage
// this version does not know.
func (f *file) pipeline(t *Tokenizer) error {
	if err := f.checkModel(); err != nil {
		return err
	}
	var normalizer, pre, decoder stage
	for _, s := range []struct {
		name string
		raw  []byte
		into *stage
	}{{"normalizer", f.normalizer, &normalizer}, {"pre_tokenizer", f.pre, &pre}, {"decoder", f.decoder, &decoder}} {
		if s.raw == nil {
			continue
		}
		if err := json.Unmarshal(s.raw, s.into); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if f.model.ByteFallback {
		return t.sentencePiece(normalizer, pre, decoder)
	}
	if decoder.Type != "ByteLevel" {
		return unsupported("decoder %s", named(decoder))
	}
	if err := t.normalize(normalizer); err != nil {
		return err
	}
	return t.cut(pre)
}

// sentencePiece sets what comes before and after the merges of a file with
// byte_fallback.
func (t *Tokenizer) sentencePiece(normalizer, pre, decoder stage) error {
	t.sentence = true
	t.steps = append(t.steps, step{bar, " "})
	if err := t.normalize(normalizer); err != nil {
		return err
	}
	if err := t.uncut(pre); err != nil {
		return err
	}
	return t.ending(decoder)
}

// checkModel refuses models that are no BPE of bytes or of characters.
func (f *file) checkModel() error {
	switch m := &f.model; {
	case m.Type != "BPE":
		return unsupported("model type %q", m.Type)
	case m.ByteFallback && m.IgnoreMerges:
		return unsupported("byte_fallback with ignore_merges")
	case m.Dropout != nil && *m.Dropout != 0:
		return unsupported("dropout")
	case m.Prefix != "":
		return unsupported("continuing_subword_prefix %q", m.Prefix)
	case m.Suffix != "":
		return unsupported("end_of_word_suffix %q", m.Suffix)
	}
	return nil
}

// named is a stage's type for an error message.
func named(s stage) string {
	switch {
	case s.Type == "":
		return "none"
	case len(s.Pretokenizers) > 0:
		var names []string
		for _, p := range s.Pretokenizers {
			names = append(names, clip(p.Type))
		}
		return fmt.Sprintf("%s of %s", clip(s.Type), clip(strings.Join(names, ", ")))
	}
	return fmt.Sprintf("%q", clip(s.Type))
}

// clip keeps a file's own words short in a message.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
