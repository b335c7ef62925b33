package recipes

import (
	"errors"
	"fmt"
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
		{"template of a list", good + "template: {a: [1]}\n", []string{"template: a is [1]", "a number"}},
		{"template of nothing", good + "template: {a: }\n", []string{"template: a is"}},
		{"template of no number", good + "template: {a: .inf}\n", []string{"template: a is +Inf"}},
		{"template with a name", good + "template: {a-b: 1}\n", []string{`"a-b" is no name`}},
		{"template of the turn", good + "template: {messages: x}\n", []string{"messages is not for a recipe"}},
		{"template of a text", good + "template: x\n", []string{"line 5"}},
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
	r, err := Read([]byte(good+"template: {clear_thinking: false, reasoning_effort: high, budget: 7, weight: 0.5}\n"), nil)
	if err != nil {
		t.Fatalf("a good one: %v", err)
	}
	if got := fmt.Sprintf("%v %T", r.Template, r.Template["budget"]); got != "map[budget:7 clear_thinking:false reasoning_effort:high weight:0.5] uint64" {
		t.Errorf("switches are %s", got)
	}
}
