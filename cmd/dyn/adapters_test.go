package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/recipes"
)

// TestEnginesAreForThisMachineOnly: whatever a recipe or a user says, an engine
// listens on loopback, its key is on no command line, and it runs code of a
// model folder only where the recipe trusts that.
func TestEnginesAreForThisMachineOnly(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(model, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range adapters() {
		t.Run(a.Name(), func(t *testing.T) {
			s := engine.Spec{
				Recipe: &recipes.Recipe{
					Name: "r", Model: "m", Engine: a.Name(), Command: []string{"serve"}, ModelDir: model, Context: 4096,
					Flags: map[string]string{"host": "0.0.0.0", "api-key": "mine", "trust-remote-code": "true"},
				},
				Flags: map[string]string{"host": "0.0.0.0", "port": "80", "trust_remote_code": "true"},
			}
			l, err := a.Launch(s, engine.Place{Self: "/bin/dyn", Port: 4711, Key: "the key", Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Join(l.Args, " ")
			i := slices.Index(l.Args, "--host")
			if i < 0 || l.Args[i+1] != "127.0.0.1" || strings.Contains(line, "0.0.0.0") || !strings.Contains(line, "4711") {
				t.Errorf("it listens elsewhere: %s", line)
			}
			if strings.Contains(line, "the key") || strings.Contains(line, "mine") {
				t.Errorf("a key is on its command line: %s", line)
			}
			if strings.Contains(line, "trust") {
				t.Errorf("it trusts: %s", line)
			}
			if again, err := a.Launch(s, engine.Place{Self: "/bin/dyn", Port: 4711, Key: "the key", Dir: t.TempDir()}); err != nil || len(again.Args) != len(l.Args) {
				t.Errorf("launched again it is another: %s, %v", again.Args, err)
			}
		})
	}
}
