package bpe

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
)

// The split patterns of models whose vocabulary file does not tell it.
const (
	KimiPattern = kimiPattern  // Kimi K2
	GPT4Pattern = o200kPattern // GPT-4o and gpt-oss
)

// longToken is the longest token, in bytes, of a vocabulary without a list of
// merges: every place where it could be cut is looked at.
const longToken = 1024

// ReadRanks reads a vocabulary of tiktoken's form: lines of a token in base64
// and its rank, which is its id. It tells neither the split pattern nor the
// added tokens; config is the tokenizer_config.json that lists these under
// added_tokens_decoder, or nil.
func ReadRanks(data []byte, pattern string, config []byte) (*Tokenizer, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("ranks above the limit of %d MiB", maxFile>>20)
	}
	var f file
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		token, rank, _ := bytes.Cut(line, []byte(" "))
		id, err := strconv.ParseUint(string(rank), 10, 32)
		if err != nil || id >= maxID {
			return nil, fmt.Errorf("ranks: %q is not a token and a rank", clip(string(line)))
		}
		if err := f.words.add64(uint32(id), token); err != nil {
			return nil, fmt.Errorf("ranks: %w", err)
		}
	}
	if config != nil {
		if err := f.decoderTokens(config); err != nil {
			return nil, err
		}
	}
	return f.ranked(pattern)
}

// add64 enters a token that is written in base64.
func (w *words) add64(id uint32, token []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, token)
	if err != nil {
		return fmt.Errorf("token %d: %w", id, err)
	}
	return w.add(id, b)
}

// decoderTokens reads the added tokens of a tokenizer_config.json.
func (f *file) decoderTokens(config []byte) error {
	var c struct {
		Tokens map[string]added `json:"added_tokens_decoder"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return fmt.Errorf("added_tokens_decoder: %w", err)
	}
	for key, a := range c.Tokens {
		id, err := strconv.Atoi(key)
		if err != nil {
			return fmt.Errorf("added_tokens_decoder: %q is no id", clip(key))
		}
		a.ID, a.Normalized = id, false
		f.added = append(f.added, a)
	}
	return nil
}

// ranked makes the tokenizer of a vocabulary whose ids are in the order of
// merging.
func (f *file) ranked(pattern string) (*Tokenizer, error) {
	t := new(Tokenizer)
	if err := t.splitBy([]string{pattern}); err != nil {
		return nil, err
	}
	f.model.IgnoreMerges = true
	order := make([]uint32, len(f.words.at))
	for i := range order {
		order[i] = uint32(i)
	}
	if err := f.tables(t, func(t *Tokenizer) error { return t.joinByOrder(order) }); err != nil {
		return nil, err
	}
	return t, nil
}

// joinByOrder derives the merges: two tokens that spell a third one together
// may be joined, and the third one's place in the order is the rank.
func (t *Tokenizer) joinByOrder(order []uint32) error {
	var merges []join
	for rank, id := range order {
		s := t.pieces.spell(id)
		if t.pieces.at[id].is&(literal|special) != 0 {
			continue
		}
		for n := 1; n < len(s); n++ {
			left := t.pieces.find(s[:n])
			if left == nil {
				continue
			}
			if right := t.pieces.find(s[n:]); right != nil {
				merges = append(merges, join{left.id(), right.id(), id, uint32(rank)})
			}
		}
		if len(merges) > maxMerges {
			break
		}
	}
	return t.join(merges)
}
