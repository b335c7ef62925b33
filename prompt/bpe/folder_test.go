package bpe_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/prompt/bpe"
)

func TestOpen(t *testing.T) {
	json := made{merges: []string{"a b"}}.json(t)
	mistral := tekken(t, func(object) {}, "ab")
	config := []byte(`{"added_tokens_decoder":{"300":{"content":"<|im_end|>","special":true}}}`)
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  []uint32 // ids of "ab"
		fault string
	}{
		{"tokenizer.json first", map[string][]byte{"tokenizer.json": json, "tekken.json": mistral}, []uint32{256}, ""},
		{"tekken", map[string][]byte{"tekken.json": mistral}, []uint32{266}, ""},
		{"kimi", map[string][]byte{"tiktoken.model": small("xy", "ab"), "tokenizer_config.json": config}, []uint32{257}, ""},
		{"kimi without its config", map[string][]byte{"tiktoken.model": small()}, nil, "tokenizer_config.json"},
		{"gguf last", map[string][]byte{"mmproj-a.gguf": []byte("GGML"), "model-00001-of-2.gguf": asGGUF(t, json, "qwen2", false, nil)}, []uint32{256}, ""},
		{"a broken gguf", map[string][]byte{"m.gguf": []byte("GGML....")}, nil, "read m.gguf"},
		{"broken", map[string][]byte{"tokenizer.json": json[1:]}, nil, "read tokenizer.json"},
		{"nothing", nil, nil, "tekken.json"},
	} {
		folder := fstest.MapFS{}
		for name, data := range c.files {
			folder[name] = &fstest.MapFile{Data: data}
		}
		tok, err := bpe.Open(folder)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := tok.Encode(nil, "ab"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if _, err := bpe.Open(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}
