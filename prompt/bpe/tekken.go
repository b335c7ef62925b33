package bpe

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// tekken is what a tekken.json says besides its vocabulary.
type tekken struct {
	Pattern  string `json:"pattern"`
	Size     int    `json:"default_vocab_size"`
	Specials int    `json:"default_num_special_tokens"`
}

// oldSpecials are the first added tokens of files that list none.
var oldSpecials = []string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
	"[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
	"[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// ReadTekken reads a tekken.json, Mistral's form: the added tokens have the
// lowest ids, the ranks follow, and of these only as many count as the file
// says.
func ReadTekken(data []byte) (*Tokenizer, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("tekken above the limit of %d MiB", maxFile>>20)
	}
	var head tekken
	var vocab, specials []byte
	f := file{cursor: cursor{data: data}}
	err := f.object(func(key []byte) (err error) {
		switch string(key) {
		case "config":
			err = f.section(&head)
		case "vocab":
			vocab, err = f.skip()
		case "special_tokens":
			specials, err = f.skip()
		default:
			_, err = f.skip()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tekken: %w", err)
	}
	if head.Pattern == "" || head.Specials < 0 || head.Size <= head.Specials || head.Size > maxID || vocab == nil {
		return nil, fmt.Errorf("tekken: no pattern, sizes or vocabulary")
	}
	if err := f.tekkenSpecials(head.Specials, specials); err != nil {
		return nil, fmt.Errorf("tekken: %w", err)
	}
	if err := f.tekkenVocab(head, vocab); err != nil {
		return nil, fmt.Errorf("tekken: %w", err)
	}
	t, err := f.ranked(head.Pattern)
	if err != nil {
		return nil, err
	}
	if id, ok := t.ID("<s>"); ok {
		t.before = []uint32{id}
	}
	return t, nil
}

// tekkenVocab reads the ranks.
func (f *file) tekkenVocab(head tekken, vocab []byte) error {
	c := cursor{data: vocab}
	return c.array(func() error {
		raw, err := c.skip()
		if err != nil {
			return err
		}
		var token struct {
			Rank  int    `json:"rank"`
			Bytes []byte `json:"token_bytes"`
		}
		if err := json.Unmarshal(raw, &token); err != nil {
			return err
		}
		if token.Rank < 0 || token.Rank >= head.Size-head.Specials {
			return nil
		}
		return f.words.add(uint32(token.Rank+head.Specials), token.Bytes)
	})
}

// tekkenSpecials reads the added tokens and fills the places left.
func (f *file) tekkenSpecials(count int, raw []byte) error {
	var listed []struct {
		Rank int    `json:"rank"`
		Text string `json:"token_str"`
	}
	if raw != nil && string(raw) != "null" {
		if err := json.Unmarshal(raw, &listed); err != nil {
			return err
		}
	}
	names := make([]string, count)
	if listed == nil {
		copy(names, oldSpecials)
	}
	for _, s := range listed {
		if s.Rank < 0 || s.Rank >= count {
			return fmt.Errorf("special token %q has rank %d", clip(s.Text), s.Rank)
		}
		names[s.Rank] = s.Text
	}
	for id, name := range names {
		if name == "" {
			name = "<SPECIAL_" + strconv.Itoa(id) + ">"
		}
		f.added = append(f.added, added{ID: id, Content: name, Special: true})
	}
	return nil
}
