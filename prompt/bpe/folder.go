package bpe

import (
	"errors"
	"fmt"
	"io/fs"
)

// Open reads the tokenizer of a model folder: tokenizer.json if it is there,
// else Mistral's tekken.json, else Kimi's tiktoken.model with the added tokens
// of tokenizer_config.json. fs.ErrNotExist is in the chain of the error when
// there is none of them.
func Open(fsys fs.FS) (*Tokenizer, error) {
	for _, form := range []struct {
		file string
		read func([]byte) (*Tokenizer, error)
	}{
		{"tokenizer.json", Read},
		{"tekken.json", ReadTekken},
		{"tiktoken.model", func(data []byte) (*Tokenizer, error) {
			config, err := fs.ReadFile(fsys, "tokenizer_config.json")
			if err != nil {
				return nil, err
			}
			return ReadRanks(data, KimiPattern, config)
		}},
	} {
		data, err := fs.ReadFile(fsys, form.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", form.file, err)
		}
		t, err := form.read(data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", form.file, err)
		}
		if config, err := fs.ReadFile(fsys, "tokenizer_config.json"); err == nil {
			t.surroundBy(config)
		}
		return t, nil
	}
	return nil, fmt.Errorf("tokenizer.json, tekken.json or tiktoken.model: %w", fs.ErrNotExist)
}
