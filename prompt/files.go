package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// folder is what the small files of a model folder say.
type folder struct {
	eos      []uint32
	eosToken string
	context  int
	vocab    int
}

// tokenizerConfig is the part of tokenizer_config.json that counts here.
type tokenizerConfig struct {
	EOS json.RawMessage `json:"eos_token"`
}

// config is the part of config.json that counts; models of several parts
// keep it in text_config.
type config struct {
	Context int             `json:"max_position_embeddings"`
	Vocab   int             `json:"vocab_size"`
	EOS     json.RawMessage `json:"eos_token_id"`
	Text    *config         `json:"text_config"`
}

// readFolder reads what there is.
func readFolder(fsys fs.FS) (*folder, error) {
	var f folder
	raw, err := readJSON(fsys, "tokenizer_config.json", new(tokenizerConfig))
	if err != nil {
		return nil, err
	}
	tc := raw.(*tokenizerConfig)
	f.eosToken = tokenText(tc.EOS)
	raw, err = readJSON(fsys, "config.json", new(config))
	if err != nil {
		return nil, err
	}
	c := raw.(*config)
	if c.Text != nil && c.Context == 0 {
		c = c.Text
	}
	f.context, f.vocab = max(c.Context, 0), max(c.Vocab, 0)
	raw, err = readJSON(fsys, "generation_config.json", new(config))
	if err != nil {
		return nil, err
	}
	if f.eos = ids(raw.(*config).EOS); f.eos == nil {
		f.eos = ids(c.EOS)
	}
	return &f, nil
}

// readJSON reads a file of the folder into v; a file that is not there leaves
// v as it is.
func readJSON(fsys fs.FS, name string, v any) (any, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return v, nil
}

// ids reads an id or a list of ids.
func ids(raw json.RawMessage) []uint32 {
	var one uint32
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &one) == nil {
		return []uint32{one}
	}
	var list []uint32
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// tokenText reads a token that stands as a string or as an object.
func tokenText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct{ Content string }
	_ = json.Unmarshal(raw, &o)
	return strings.TrimSpace(o.Content)
}
