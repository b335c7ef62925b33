package recipes

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestEmbeddedRecipesRead(t *testing.T) {
	all := List()
	if len(all) == 0 {
		t.Fatal("no recipe is embedded")
	}
	for _, r := range all {
		data, err := files.ReadFile(r.Name + ".yaml")
		if err != nil {
			t.Errorf("%s: its file has another name", r.Name)
			continue
		}
		if _, err := Read(data, []string{"hermes", "think"}); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

func TestSim(t *testing.T) {
	r, err := Find("sim")
	if err != nil {
		t.Fatal(err)
	}
	if r.Model != "sim" || r.Context != 262144 || !r.BindToDaemon || r.Flags["kv-tokens"] != "400000" {
		t.Errorf("sim reads as %+v", r)
	}
}

func TestFindUnknown(t *testing.T) {
	_, err := Find("simm")
	var fault *turn.Fault
	if !errors.As(err, &fault) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error is %v", err)
	}
	if !strings.Contains(fault.Why, "sim") || fault.Try != "dyn up sim" {
		t.Errorf("fault is %+v", fault)
	}
}

func TestReadIsStrict(t *testing.T) {
	const good = "name: x\nmodel: m\nengine: vllm\ncommand: [vllm, serve]\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"typo", good + "contxt: 5\n", []string{"line 5", `"contxt"`, `"context"`}},
		{"far from all", good + "zzzzzzzzzz: 5\n", []string{"line 5", "known: name"}},
		{"nested", good + "parsers:\n  tool: hermes\n", []string{"line 6", `"tools"`}},
		{"wrong kind", good + "context: many\n", []string{"line 5"}},
		{"no model", "name: x\nengine: vllm\ncommand: [a]\n", []string{"model is missing"}},
		{"unknown parser", good + "parsers: {tools: xml}\n", []string{`"xml"`, "hermes"}},
		{"dashes", good + "flags: {--speed: 1}\n", []string{"without dashes"}},
		{"not YAML", "name: [", []string{"line 1"}},
		{"empty", "", []string{"name is missing"}},
		{"too long", strings.Repeat("#", maxBytes+1), []string{"at most"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read([]byte(c.text), []string{"hermes", "think"})
			if err == nil {
				t.Fatal("it was read")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
	if _, err := Read([]byte(good), nil); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
