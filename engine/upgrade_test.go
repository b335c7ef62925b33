package engine_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/keep"
)

// What another release wrote into a run file is adopted or ended, and one
// engine runs then: a field that it has not, one that only it has, a version
// of its own, half a file.
func TestRunFileOfAnotherRelease(t *testing.T) {
	gone := func(name string) func(map[string]any) { return func(m map[string]any) { delete(m, name) } }
	for _, c := range []struct {
		name    string
		change  func(map[string]any) // nil is a file that was cut
		adopted bool
	}{
		{"a new field", func(m map[string]any) { m["lanes"] = map[string]any{"a": 1} }, true},
		{"no hash", gone("hash"), false},
		{"no recipe", gone("recipe"), true},
		{"no model", gone("model"), true},
		{"no flags", gone("flags"), true},
		{"no port", gone("port"), false},
		{"no events", gone("events"), true},
		{"no log", gone("log"), true},
		{"no folder", gone("dir"), true},
		{"no keeper", gone("keeper"), true},
		{"no engine", gone("engine"), false},
		{"no start", gone("started"), true},
		{"not ready", gone("ready"), true},
		{"no socket", gone("socket"), false},
		{"no mark", gone("mark"), false},
		{"no version", gone("v"), false},
		{"a later version", func(m map[string]any) { m["v"] = 2 }, false},
		{"another kind of field", func(m map[string]any) { m["engine"] = "12" }, false},
		{"cut", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			rec := crashed(t, dir)
			path := keep.Path(dir, "w0")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if c.change == nil {
				data = data[:len(data)/2]
			} else {
				var m map[string]any
				if err := json.Unmarshal(data, &m); err != nil {
					t.Fatal(err)
				}
				c.change(m)
				if data, err = json.Marshal(m); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, engine.Options{Run: dir})
			evicted := r.Evict()
			if lives := rec.Engine.Lives(); lives == (evicted == 1) {
				t.Errorf("evicted %d; the engine lives: %v", evicted, lives)
			}
			w, err := r.Start(t.Context(), engine.Spec{Name: "w0", Recipe: real("sim")})
			if err != nil {
				t.Fatal(err)
			}
			if info := w.Info(); info.Adopted != c.adopted {
				t.Errorf("adopted %v, want %v; told %v", info.Adopted, c.adopted, r.told())
			}
			if _, _, err := say(t, w, job(5000, 100)); err != nil {
				t.Error(err)
			}
			if rec.Engine.Lives() != c.adopted {
				t.Errorf("the engine of before lives: %v, want %v", !c.adopted, c.adopted)
			}
		})
	}
}
