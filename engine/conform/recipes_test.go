package conform_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/recipes"
)

// The recipes of docs/engines.md can be read, and make a line.
func TestRecipesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for _, part := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		r, err := recipes.Read([]byte(text), []string{"hermes", "think"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []engine.Adapter{sglang.Adapter{}, trtllm.Adapter{}} {
			if a.Name() != r.Engine {
				continue
			}
			l, err := a.Launch(engine.Spec{Recipe: r}, engine.Place{Port: 8101})
			if err != nil {
				t.Fatal(err)
			}
			lines[r.Engine] = strings.Join(l.Args, " ")
		}
	}
	for name, want := range map[string]string{
		"sglang": "sglang serve --context-length 131072 ", "trtllm": "trtllm-serve /models/Qwen3-32B --backend pytorch ",
	} {
		if !strings.HasPrefix(lines[name], want) {
			t.Errorf("%s: %s", name, lines[name])
		}
	}
}
