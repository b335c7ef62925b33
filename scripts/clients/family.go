package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/internal/fixtures/families"
)

// answer is what a client is to get, in no family's words (engine/sim/brain).
type answer struct {
	Reasoning string `json:"reasoning,omitempty"`
	Content   string `json:"content,omitempty"`
	Calls     []call `json:"calls,omitempty"`
}

// call is one call of a tool.
type call struct {
	Name string         `json:"name"`
	Args map[string]any `json:"arguments"`
}

// Names of files that the case of a family reads and edits, and what it
// leaves.
const (
	edited     = "hello.txt"
	afterwards = "goodbye <b>&amp; \"all\"</b>\n\tümlaut </tool_call>\n"
)

// familyScenes are a case for each family: a model that writes as the family
// does has the client read a file, edit it, and answer. Nothing but the
// family's chat template says how it is read.
func familyScenes() (all []scene) {
	for _, f := range families.All {
		all = append(all, scene{
			name: "family-" + f.Name, title: fmt.Sprintf("%s (`%s`)", f.Models, f.Name), family: true,
			start: func(l *lab, ctx context.Context, brain string) error { return l.speaking(ctx, brain, f) },
			rules: func(c client) []rule {
				return []rule{
					{When: c.changed, Answer: &answer{Reasoning: "It is written.", Content: "The greeting is changed."}},
					{When: c.seen, Answer: &answer{Reasoning: "Now change it.", Content: "I change it.", Calls: []call{c.edit}}},
					{Answer: &answer{Reasoning: "Look first.", Calls: []call{c.read}}},
				}
			},
			play: func(_ context.Context, c client, l *lab) error {
				if err := step(l, c.start(l, "Change the greeting in "+edited+"."), "The greeting is changed."); err != nil {
					return err
				}
				text, err := os.ReadFile(filepath.Join(l.project, edited))
				if err == nil && string(text) != afterwards {
					err = fmt.Errorf("%s holds %q, want %q", edited, text, afterwards)
				}
				return err
			},
		})
	}
	return all
}

// recipe starts the simulated engine on a model folder; it names no parser.
const recipe = `name: family
model: sim
engine: vllm
command: ["{self}", "worker", "sim"]
context: %d
bind_to_daemon: true
flags:
  speed: "0"
  block-size: "16"
  kv-tokens: "400000"
  max-model-len: "%[1]d"
  model-dir: "{model_dir}"
`

// speaking starts a daemon whose engine speaks as a family does.
func (l *lab) speaking(ctx context.Context, brain string, f families.Family) error {
	data := cmp.Or(os.Getenv("DYN_FIXTURES"), filepath.Join("..", "shared", "fixtures"))
	if _, err := os.Stat(filepath.Join(data, "templates", f.Template)); err != nil {
		return errors.Join(errNoFixtures, err)
	}
	dir, file := filepath.Join(l.root, "model"), filepath.Join(l.root, "family.yaml")
	if err := f.Write(data, dir); err != nil {
		return err
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, recipe, l.context), 0o600); err != nil {
		return err
	}
	if _, err := l.own(ctx, "up", file, "--port", "0", "--model-dir", dir, "--brain", brain, "--speed", "0"); err != nil {
		return err
	}
	return l.meet(ctx)
}

// errNoFixtures says that the families' templates and tokenizers are not here.
var errNoFixtures = errors.New("no fixtures; set DYN_FIXTURES")

// patch is a command that puts a text in place of the file's only line.
func patch(from, to string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: %s\n@@\n-%s\n", edited, strings.TrimSuffix(from, "\n"))
	for _, line := range strings.SplitAfter(strings.TrimSuffix(to, "\n"), "\n") {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String() + "*** End Patch\nEOF"
}
