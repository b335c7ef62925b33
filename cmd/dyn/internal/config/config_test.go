package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	user := write(t, filepath.Join(dir, "user.yaml"), "server:\n  port: 1\n  host: u\nrouter:\n  policy: round-robin\nup:\n  workers: 9\n")
	project := write(t, filepath.Join(dir, "p", ProjectFile), "server:\n  port: 2\n  host: p\nworker:\n  brain: b.yaml\n")
	set, err := Load(Source{
		Flags:    map[string]string{"port": "4"},
		Env:      []string{"DYN_SERVER__PORT=3", "DYN_SERVER__HOST=e", "DYN_OTHER=x", "PATH=/bin"},
		Dir:      filepath.Join(dir, "p", "deeper"),
		UserFile: user,
	})
	if err != nil {
		t.Fatal(err)
	}
	set.Fill("sim", map[string]string{"speed": "1", "brain": "no"})
	for _, c := range []struct{ key, want, from string }{
		{"server.port", "4", "flag --port"},
		{"server.host", "e", "env DYN_SERVER__HOST"},
		{"worker.brain", filepath.Join(dir, "p", "b.yaml"), project},
		{"up.workers", "9", user},
		{"router.mode", "round-robin", user},
		{"worker.speed", "1", "recipe sim"},
		{"ledger.max_size", "536870912", "default"},
	} {
		if got := set.Values[c.key]; got.Text != c.want || got.From != c.from {
			t.Errorf("%s = %q from %q, want %q from %q", c.key, got.Text, got.From, c.want, c.from)
		}
	}
	if len(set.Ignored) != 1 || set.Ignored[0] != "DYN_OTHER" {
		t.Errorf("ignored = %v, want DYN_OTHER", set.Ignored)
	}
}

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		msg, hint  string
	}{
		{"unknown key", "server:\n  port: 1\n  prot: 2\n", 3, `unknown key "server.prot"`, "server.port"},
		{"unknown section", "sever:\n  port: 1\n", 1, `unknown section "sever"`, "server"},
		{"wrong kind", "server:\n  port: many\n", 2, `"many" is no whole number`, ""},
		{"negative", "server:\n  port: -1\n", 2, `"-1" is no whole number`, ""},
		{"list", "server: [1]\n", 1, "wants keys and values", ""},
		{"nested", "server:\n  port:\n    a: 1\n", 2, "wants one value", ""},
		{"alias", "server:\n  host: *a\n", 2, "wants one value", ""},
		{"no mapping", "hello\n", 1, "wants keys and values", ""},
		{"twice", "server:\n  port: 1\n  port: 2\n", 3, "already defined", ""},
		{"no yaml", "server: {port: 1\n", 1, "", ""},
		{"switch", "router:\n  trust_dyn_template: perhaps\n", 2, "neither true nor false", ""},
		{"more than the daemon takes", "router:\n  queue_threshold: 1e10\n", 2, "no number of 0 or more, up to 1e9", ""},
		{"strategy", "router:\n  mode: kvv\n", 2, "known are dyn, kv, lmetric", "kv"},
		{"strategy, of old", "router:\n  policy: fastest\n", 2, "known are dyn, kv, lmetric", ""},
		{"knob", "router:\n  mode: dynamo:prefil=2\n", 2, `no knob "prefil"`, "dynamo:prefill=2"},
		{"choice", "ledger:\n  prompts: texts\n", 2, `"texts" is none of hashes, text`, "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse("c.yaml", []byte(c.text))
			var fe *FileError
			if !errors.As(err, &fe) {
				t.Fatalf("error = %v, want a FileError", err)
			}
			if fe.Line != c.line || !strings.Contains(fe.Msg, c.msg) || fe.Hint != c.hint {
				t.Fatalf("got line %d, %q, hint %q; want %d, %q, %q", fe.Line, fe.Msg, fe.Hint, c.line, c.msg, c.hint)
			}
		})
	}
}

// off is a word of its own for settings that have it, in a file too, where
// other YAML readers take it for false.
func TestOff(t *testing.T) {
	for _, c := range []struct{ value, want, bad string }{
		{"off", "off", ""},
		{"90m", "1h30m0s", ""},
		{"never", "", `"never" is no time such as 30s or 5m, nor off`},
	} {
		file := write(t, filepath.Join(t.TempDir(), "user.yaml"), "ledger:\n  raw_turns: "+c.value+"\n")
		set, err := Load(Source{Dir: t.TempDir(), UserFile: file})
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: error = %v, want %q", c.value, err, c.bad)
			}
			continue
		}
		if err != nil || set.Text("ledger.raw_turns") != c.want {
			t.Errorf("%s: %q, %v; want %q", c.value, set.Text("ledger.raw_turns"), err, c.want)
		}
	}
	if _, err := find("ledger.max_age").normal("off", ""); err == nil {
		t.Error("ledger.max_age takes off")
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "server:\n", "server:\n  port:\n", "server: {}\n"} {
		if found, err := parse("c.yaml", []byte(text)); err != nil || len(found) != 0 {
			t.Errorf("%q: %v %v, want nothing", text, found, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		bad  bool
	}{
		{"0", 0, false},
		{"400000", 400000, false},
		{"64k", 64000, false},
		{"2MiB", 2 << 20, false},
		{"1GB", 1e9, false},
		{"-1", 0, true},
		{"k", 0, true},
		{"1.5g", 0, true},
		{"9999999999999999g", 0, true},
	} {
		got, err := ParseSize(c.in)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", c.in, got, err, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"up", "down", "ps", "top", "stats", "logs"}
	for _, c := range []struct{ typed, want string }{
		{"tpo", "top"}, {"dwon", "down"}, {"stat", "stats"}, {"zebra", ""}, {"", ""},
	} {
		if got := Nearest(c.typed, known); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.typed, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"server:\n  port: 1\n", "server: {port: 1}", "a: &b\n  - *b", "? x\n: y", "\t", "server:\n  host: |\n    x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parse("c.yaml", []byte(text))
	})
}
