package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// maxFile is the largest file that Load reads, many times the largest known.
const maxFile = 256 << 20

// Load reads a tokenizer.json.
func Load(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("load tokenizer %s: above the limit of %d MiB", path, maxFile>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	t, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("load tokenizer %s: %w", path, err)
	}
	return t, nil
}

// Read reads the text of a tokenizer.json, of which nothing is kept. The
// error has ErrUnsupported in its chain when the file is of another kind.
func Read(data []byte) (*Tokenizer, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("tokenizer above the limit of %d MiB", maxFile>>20)
	}
	f := file{cursor: cursor{data: data}}
	if err := f.read(); err != nil {
		return nil, err
	}
	t := new(Tokenizer)
	if err := f.pipeline(t); err != nil {
		return nil, err
	}
	if err := f.build(t); err != nil {
		return nil, err
	}
	if err := t.surround(f.post); err != nil {
		return nil, fmt.Errorf("post_processor: %w", err)
	}
	return t, nil
}

// file is a tokenizer.json while it is read.
type file struct {
	cursor
	normalizer, pre, decoder []byte // JSON; nil when absent
	post                     []byte // the same
	added                    []added
	model                    model
	vocab, merges            []byte // JSON
	words                    words
}

// model is the model section without its two long lists.
type model struct {
	Type         string   `json:"type"`
	Dropout      *float64 `json:"dropout"`
	Prefix       string   `json:"continuing_subword_prefix"`
	Suffix       string   `json:"end_of_word_suffix"`
	ByteFallback bool     `json:"byte_fallback"`
	IgnoreMerges bool     `json:"ignore_merges"`
}

// read finds the sections.
func (f *file) read() error {
	err := f.object(func(key []byte) (err error) {
		switch string(key) {
		case "normalizer":
			f.normalizer, err = f.skip()
		case "pre_tokenizer":
			f.pre, err = f.skip()
		case "post_processor":
			f.post, err = f.skip()
		case "decoder":
			f.decoder, err = f.skip()
		case "added_tokens":
			err = f.section(&f.added)
		case "model":
			err = f.readModel()
		default:
			_, err = f.skip()
		}
		return err
	})
	if err == nil && f.peek() != 0 {
		err = f.fault("the end")
	}
	return err
}

// readModel reads the model section. Its lists wait until the rest is known,
// whichever comes first.
func (f *file) readModel() error {
	f.model = model{Type: "BPE"}
	return f.object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			err = f.section(&f.model.Type)
		case "dropout":
			err = f.section(&f.model.Dropout)
		case "continuing_subword_prefix":
			err = f.section(&f.model.Prefix)
		case "end_of_word_suffix":
			err = f.section(&f.model.Suffix)
		case "byte_fallback":
			err = f.section(&f.model.ByteFallback)
		case "ignore_merges":
			err = f.section(&f.model.IgnoreMerges)
		case "vocab":
			f.vocab, err = f.skip()
		case "merges":
			f.merges, err = f.skip()
		default:
			_, err = f.skip()
		}
		return err
	})
}

// vocabulary reads the object of tokens and ids.
func (f *file) vocabulary() error {
	if f.vocab == nil {
		return errors.New("no vocabulary")
	}
	c := cursor{data: f.vocab}
	f.words.arena = make([]byte, 0, len(f.vocab)/2)
	return c.object(func(key []byte) error {
		if err := f.words.spell(key); err != nil {
			return err
		}
		id, err := c.number()
		if err != nil {
			return err
		}
		return f.words.name(uint32(id))
	})
}

// section decodes one value.
func (f *file) section(into any) error {
	raw, err := f.skip()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
