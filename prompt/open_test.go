package prompt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestOpenQwen3(t *testing.T) {
	m := qwen3(t)
	if m.Context() != 40960 || m.Vocab() != 151936 {
		t.Errorf("context %d, vocab %d", m.Context(), m.Vocab())
	}
	if got := m.StopIDs(); len(got) != 2 || got[0] != 151645 || got[1] != 151643 {
		t.Errorf("stop ids %v", got)
	}
	id, ok := m.Tokenizer().ID("<|im_end|>")
	if !ok || id != 151645 {
		t.Errorf("<|im_end|> is %d", id)
	}
}

// TestRefused opens folders of other families; each must be named.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ folder, want string }{
		{"llama3", "Llama 3"},
		{"deepseek_v3", "DeepSeek"},
		{"gptoss", "gpt-oss"},
		{"gemma3", "Gemma"},
		{"llama2", "Llama 2"},
	} {
		t.Run(c.folder, func(t *testing.T) {
			_, err := OpenFS(modelFolder(t, c.folder, nil))
			if !errors.Is(err, ErrUnsupported) {
				t.Fatalf("got %v, want ErrUnsupported", err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "tokenizer_config.json") {
				t.Errorf("error %q names neither %s nor the file", err, c.want)
			}
		})
	}
}

// TestAccept walks all templates of the fixtures: only those whose golden
// text this version prints may be taken.
func TestAccept(t *testing.T) {
	taken := map[string]bool{
		"dj-Qwen-Qwen3-0.6B.jinja": true, "dj-Qwen3-4B.jinja": true, "dj-MiMo-VL.jinja": true,
		"dj-Qwen-Qwen2.5-7B-Instruct.jinja": true, "dj-Qwen-QwQ-32B.jinja": true,
	}
	files, err := filepath.Glob(filepath.Join(fixtures(t), "templates", "*.jinja"))
	if err != nil || len(files) == 0 {
		t.Skip("no templates", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		_, err = accept(string(source))
		if (err == nil) != taken[name] {
			t.Errorf("%s: accept says %v, want taken %v", name, err, taken[name])
		}
		if err != nil {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestOpenBroken(t *testing.T) {
	const config = `{"chat_template": "hello {{ messages }}"}`
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"empty", nil, "no chat template"},
		{"no json", map[string]string{"tokenizer_config.json": "{"}, "read tokenizer_config.json"},
		{"foreign template", map[string]string{"tokenizer_config.json": config}, "tokenizer_config.json: the template holds no <|im_start|>"},
		{"foreign template file", map[string]string{"chat_template.jinja": "[INST]"}, "chat_template.jinja: the template looks made for Llama 2"},
		{"bad config", map[string]string{"config.json": `{"vocab_size": "x"}`}, "read config.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range c.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if _, err := OpenFS(fsys); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
