package model_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt/bpe"
)

// tokenizer reads the embedded tokenizer.
func tokenizer(t *testing.T) *bpe.Tokenizer {
	t.Helper()
	tok, err := bpe.Read(file(t, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(model.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAddedTokens(t *testing.T) {
	tok := tokenizer(t)
	for _, c := range []struct {
		content string
		special bool
	}{
		{"<|endoftext|>", true},
		{"<|im_start|>", true},
		{"<|im_end|>", true},
		{"<think>", false},
		{"</think>", false},
		{"<tool_call>", false},
		{"</tool_call>", false},
		{"<tool_response>", false},
		{"</tool_response>", false},
	} {
		id, ok := tok.ID(c.content)
		if !ok || tok.Token(id) != c.content || tok.Special(id) != c.special {
			t.Errorf("%s: id %d, %v, %q, special %v", c.content, id, ok, tok.Token(id), tok.Special(id))
		}
		if got := tok.Encode(nil, c.content); !slices.Equal(got, []uint32{id}) {
			t.Errorf("%s encodes as %v", c.content, got)
		}
	}
}

// TestEveryTokenIsUsed checks that the vocabulary has no gap and no token
// that its own spelling does not lead to. Tokens of half characters are left
// out: no text spells just them.
func TestEveryTokenIsUsed(t *testing.T) {
	tok := tokenizer(t)
	for id := range uint32(tok.Len()) {
		text := tok.Token(id)
		if text == "" {
			t.Errorf("no token has id %d", id)
		}
		if got := tok.Encode(nil, text); utf8.ValidString(text) && !slices.Equal(got, []uint32{id}) {
			t.Errorf("token %d %q encodes as %v", id, text, got)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	tok := tokenizer(t)
	for _, text := range []string{
		"", " ", "func main() {\n\tprintln(\"hello\")\n}\n",
		"naïve café, 数字 12345, 🙂 and <|im_start|>user\n<think>\n\n</think>",
		strings.Repeat("a", 5000), "\r\n\t  \n  x",
	} {
		if got := string(tok.Decode(nil, tok.Encode(nil, text))); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestFilesAgree(t *testing.T) {
	tok := tokenizer(t)
	var config struct {
		Context int    `json:"max_position_embeddings"`
		Vocab   int    `json:"vocab_size"`
		End     uint32 `json:"eos_token_id"`
	}
	var generation struct {
		End []uint32 `json:"eos_token_id"`
	}
	var form struct {
		Template string `json:"chat_template"`
		End      string `json:"eos_token"`
	}
	for name, into := range map[string]any{
		"config.json": &config, "generation_config.json": &generation, "tokenizer_config.json": &form,
	} {
		if err := json.Unmarshal(file(t, name), into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if config.Context != 262144 || config.Vocab != tok.Len() {
		t.Errorf("context %d, vocab_size %d, want 262144 and %d", config.Context, config.Vocab, tok.Len())
	}
	end, _ := tok.ID(form.End)
	if config.End != end || !slices.Contains(generation.End, end) {
		t.Errorf("end of turn: %d in config.json, %v in generation_config.json, want %d", config.End, generation.End, end)
	}
	if source, err := os.ReadFile("train/chat_template.jinja"); err != nil || string(source) != form.Template {
		t.Errorf("chat_template differs from train/chat_template.jinja (%v): run the training program", err)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	for range 2 {
		if err := model.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bpe.Load(filepath.Join(dir, "tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	err := fs.WalkDir(model.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, path))
		if string(got) != string(file(t, path)) {
			t.Errorf("%s differs", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Write(filepath.Join(dir, "config.json")); err == nil {
		t.Error("writing into a file works")
	}
}
