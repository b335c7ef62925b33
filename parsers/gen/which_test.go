package gen

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/parsers"
)

// The parsers of published templates, by rendering alone. GLM-5.2 is read as
// well by glm47, which is the same.
func TestWhich(t *testing.T) {
	dir := fixtures.Dir(t, "templates")
	for name, want := range map[string]struct{ tools, reasoning string }{
		"dj-Qwen3-4B":                         {"qwen3", "think"},
		"dj-Qwen-Qwen2.5-7B-Instruct":         {"hermes", ""},
		"dj-Qwen3-Coder":                      {"qwen3_coder", ""},
		"GLM-5.2":                             {"glm45", "think"},
		"dj-MiniMax-M2":                       {"minimax_m2", "think"},
		"dj-deepseek-ai-DeepSeek-V3.1":        {"deepseek_v31", "think"},
		"DeepSeek-V4-Flash":                   {"deepseek_v4", "think"},
		"Kimi-K3":                             {"kimi_k3", "kimi_k3"},
		"dj-moonshotai-Kimi-K2":               {"kimi_k2", ""},
		"dj-openai-gpt-oss-120b":              {"harmony", "harmony"},
		"gemma-4-26B-A4B-it-UD-Q8_K_XL":       {"gemma4", "gemma4"},
		"dj-meta-llama-Llama-3.1-8B-Instruct": {"llama3_json", ""},
		"dj-gemma-3-4b-it":                    {"", ""},

		"dj-mistralai-Mistral-Nemo-Instruct-2407": {"mistral", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, name+".jinja"))
			if err != nil {
				t.Skip(err)
			}
			c, err := Which(parsers.Builtin(), Model{Name: "x", Template: string(text)})
			if err != nil {
				t.Fatal(err)
			}
			if c.Tools != want.tools || c.Reasoning != want.reasoning {
				t.Errorf("calls %q, reasoning %q; want %q, %q: %s, others %q", c.Tools, c.Reasoning, want.tools, want.reasoning, c.Why, c.Others)
			}
		})
	}
}

func BenchmarkWhich(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "acorn.jinja"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Which(parsers.Builtin(), Model{Name: "x", Template: string(text)}); err != nil {
			b.Fatal(err)
		}
	}
}
