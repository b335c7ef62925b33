package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentinfer/dyn/route"
)

// What a strategy has learnt comes back in the next daemon; what cannot be read
// is an error and the strategy begins anew; rules without a memory have none.
func TestLearntComesBack(t *testing.T) {
	strategy := func(name string) route.Strategy {
		s, err := route.New(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	dir := filepath.Join(t.TempDir(), "learnt")
	old := strategy("thompson").(route.Keeper)
	old.Pick(route.Need{Turn: "t", Prompt: 10}, []route.Candidate{{Worker: "w0"}})
	old.Observe(route.Outcome{Turn: "t", Worker: "w0", Output: 5, TTFT: time.Second})
	text, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	const model = "org/model:8b"
	if err := keepLearnt(dir, map[string][]byte{model: text}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{model, "another", "../x"} {
		fresh := strategy("thompson").(route.Keeper)
		if err := recall(dir, name, fresh); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(fresh); (string(again) == string(text)) != (name == model) {
			t.Errorf("%s: %s", name, again)
		}
	}
	if err := recall(dir, model, strategy("kv")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(learntFile(dir, model), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := recall(dir, model, strategy("thompson")); err == nil {
		t.Error("half a memory was taken")
	}
}
