package prompt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/turn"
)

func TestOpenQwen3(t *testing.T) {
	m := qwen3(t)
	if m.Context() != 40960 || m.Vocab() != 151936 {
		t.Errorf("context %d, vocab %d", m.Context(), m.Vocab())
	}
	if got := m.StopIDs(); len(got) != 2 || got[0] != 151645 || got[1] != 151643 {
		t.Errorf("stop ids %v", got)
	}
	if got := strings.Join(m.Marks(), " "); got != "<|im_start|>" {
		t.Errorf("marks %q: they are special, and the template has them", got)
	}
	id, ok := m.Tokenizer().ID("<|im_end|>")
	if !ok || id != 151645 {
		t.Errorf("<|im_end|> is %d", id)
	}
}

// TestOpenAll opens every tokenizer folder of the fixtures as a model.
func TestOpenAll(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	dirs, _ := filepath.Glob(filepath.Join(fixtures(t), "tokenizers", "*", "tokenizer.json.gz"))
	if len(dirs) == 0 {
		t.Skip("no tokenizers in the fixtures")
	}
	for _, file := range dirs {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			fsys := modelFolder(t, name, nil)
			if !strings.Contains(string(fsys["tokenizer_config.json"].Data), "chat_template") {
				t.Skip("it has no chat template")
			}
			m, err := OpenFS(fsys, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(m.StopIDs()) == 0 {
				t.Error("nothing ends an answer")
			}
			p, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{msg(turn.User, says("hi"))}}, nil, nil)
			if err != nil || p.IDs.Len() == 0 {
				t.Errorf("a greeting is %v, %v", p.IDs.Flat(), err)
			}
		})
	}
}

func TestOpenBroken(t *testing.T) {
	const plain = `{"chat_template": "hello {{ messages }}"}`
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
		known bool // as ErrUnsupported
	}{
		{"empty", nil, "chat template", true},
		{"no json", map[string]string{"tokenizer_config.json": "{"}, "read tokenizer_config.json", false},
		{"no GGUF", map[string]string{"m.gguf": "no model"}, "m.gguf", false},
		{"no templates", map[string]string{"chat_template.json": "[]"}, "chat_template.json", false},
		{"no template", map[string]string{"chat_template.jinja": "{% for"}, "chat_template.jinja", true},
		{"bad config", map[string]string{"config.json": `{"vocab_size": "x"}`}, "read config.json", false},
		{"no tokenizer", map[string]string{"tokenizer_config.json": plain}, "tokenizer.json", false},
		{"another tokenizer", map[string]string{"tokenizer_config.json": plain, "tokenizer.json": `{"model":{"type":"Unigram","vocab":[]}}`}, "Unigram", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range c.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			_, err := OpenFS(fsys, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnsupported) != c.known {
				t.Errorf("got %v, want %q in it, unsupported %v", err, c.want, c.known)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no folder: %v", err)
	}
}
