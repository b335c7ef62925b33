package bpe

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Open reads the tokenizer of a model folder: tokenizer.json if it is there,
// else Mistral's tekken.json, else Kimi's tiktoken.model with the added tokens
// of tokenizer_config.json, else that of a GGUF file, see GGUF. fs.ErrNotExist
// is in the chain of the error when there is none of them.
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
	return openGGUF(fsys)
}

// GGUF is the name of the GGUF file of a model folder that says what its model
// is: the first that is no projector of images. "" is that there is none.
func GGUF(fsys fs.FS) string {
	names, _ := fs.Glob(fsys, "*.gguf") // the pattern is good
	names = slices.DeleteFunc(names, func(s string) bool { return strings.HasPrefix(path.Base(s), "mmproj") })
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// openGGUF reads the tokenizer of a folder with a GGUF file and nothing else.
func openGGUF(fsys fs.FS) (*Tokenizer, error) {
	name := GGUF(fsys)
	if name == "" {
		return nil, fmt.Errorf("tokenizer.json, tekken.json, tiktoken.model or a .gguf file: %w", fs.ErrNotExist)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := ReadGGUF(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return t, nil
}
