package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrite: a key gets its value, wherever it stands, and nothing else in the
// file changes.
func TestWrite(t *testing.T) {
	for _, c := range []struct{ name, file, key, value, want string }{
		{"no file", "", "server.port", "9000", "server:\n  port: 9000\n"},
		{"a comment", "# mine\n", "server.port", "9000", "# mine\nserver:\n  port: 9000\n"},
		{"another section", "up:\n  workers: 2 # two\n", "server.port", "9000", "up:\n  workers: 2 # two\nserver:\n  port: 9000\n"},
		{"its section", "server:\n    # where\n    host: h\nup:\n  workers: 2\n", "server.port", "9000", "server:\n    # where\n    port: 9000\n    host: h\nup:\n  workers: 2\n"},
		{"an empty section", "server:\nup:\n  workers: 2\n", "server.port", "9000", "server:\n  port: 9000\nup:\n  workers: 2\n"},
		{"an empty section at the end", "server:", "server.port", "9000", "server:\n  port: 9000\n"},
		{"a value", "server:\n  port: 1 # the old one\n  host: h\n", "server.port", "9000", "server:\n  port: 9000 # the old one\n  host: h\n"},
		{"no value", "server:\n  port:\n  host: h\n", "server.port", "9000", "server:\n  port: 9000\n  host: h\n"},
		{"null", "server:\n  port: null\n", "server.port", "9000", "server:\n  port: 9000\n"},
		{"quoted", "server:\n  host: 'a b'\n", "server.host", "h", "server:\n  host: h\n"},
		{"to be quoted", "server:\n  host: a\n", "server.host", "a: #b", "server:\n  host: \"a: #b\"\n"},
		{"braces", "server: {port: 1, host: h}\n", "server.port", "9000", "server: {port: 9000, host: h}\n"},
		{"into braces", "server: {host: h}\n", "server.port", "9000", "server: {port: 9000, host: h}\n"},
		{"into empty braces", "server: {} # none\n", "server.port", "9000", "server: {port: 9000} # none\n"},
		{"behind other letters", "server: {host: \"ä€\", port: 1}\n", "server.port", "9000", "server: {host: \"ä€\", port: 9000}\n"},
		{"a word of its own", "ledger:\n  raw_turns: 24h\n", "ledger.raw_turns", "off", "ledger:\n  raw_turns: off\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep", "config.yaml")
			if c.file != "" {
				write(t, path, c.file)
			}
			if err := Write(path, c.key, c.value); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != c.want {
				t.Errorf("%v, got\n%swant\n%s", err, got, c.want)
			}
			if err := Write(path, c.key, c.value); err != nil {
				t.Error("again:", err)
			}
			if again, _ := os.ReadFile(path); string(again) != c.want {
				t.Errorf("again it is\n%s", again)
			}
		})
	}
}

// TestWriteRefuses: what cannot be changed stays as it is.
func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file, key, value, says string
		byHand                       bool
	}{
		{"all in braces", "{server: {port: 1}}\n", "up.workers", "2", "", true},
		{"a long text", "server:\n  host: |\n    h\n", "server.host", "g", "", true},
		{"a bad file", "sever:\n  port: 1\n", "server.port", "2", "unknown section", false},
		{"a bad value", "server:\n  port: 1\n", "server.port", "many", "no whole number", false},
		{"a bad key", "server:\n  port: 1\n", "server.prot", "2", "unknown key", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "config.yaml"), c.file)
			err := Write(path, c.key, c.value)
			if err == nil || errors.Is(err, ErrByHand) != c.byHand || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error = %v", err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.file {
				t.Errorf("the file is\n%s", got)
			}
		})
	}
}

// FuzzWrite: whatever a file is, it is changed as asked or not at all.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{"server:\n  port: 1\n", "server: {port: 1}", "server:", "# x\n\nserver:\n\n  # y\n  host: h", "---\nserver:\n  port: \"1\"\n...\n"} {
		f.Add(s, "9000")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		for _, key := range []string{"server.port", "server.host"} {
			was, err := parse("c.yaml", []byte(text))
			if err != nil {
				return
			}
			changed, err := edit("c.yaml", []byte(text), find(key), value)
			if err != nil {
				continue
			}
			now, err := parse("c.yaml", changed)
			if err != nil {
				t.Fatalf("%v\n%s", err, changed)
			}
			was[key] = now[key]
			if len(now) != len(was) {
				t.Fatalf("%v, it was %v", now, was)
			}
		}
	})
}

// TestUnset: a key goes, and its section where it has no other; nothing else in
// the file changes.
func TestUnset(t *testing.T) {
	for _, c := range []struct{ name, file, key, want string }{
		{"the only one", "server:\n  port: 9000\n", "server.port", ""},
		{"the only one of its section", "up:\n  workers: 2 # two\nserver:\n  port: 9000\n", "server.port", "up:\n  workers: 2 # two\n"},
		{"one of two", "server:\n  port: 9000 # mine\n  host: h\n", "server.port", "server:\n  host: h\n"},
		{"the last, without an end", "server:\n  host: h\n  port: 9000", "server.port", "server:\n  host: h\n"},
		{"a comment stays", "server:\n  # which\n  port: 9000\n", "server.port", "server:\n  # which\n"},
		{"not there", "server:\n  port: 9000\n", "server.host", "server:\n  port: 9000\n"},
		{"in braces", "server: {port: 9000, host: h}\n", "server.port", "server: {port: null, host: h}\n"},
		{"by its former name", "router:\n  policy: kv\n  temperature: 1\n", "router.mode", "router:\n  temperature: 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "config.yaml"), c.file)
			if err := Unset(path, c.key); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
				t.Errorf("%v, got\n%swant\n%s", err, got, c.want)
			}
		})
	}
	path := write(t, filepath.Join(t.TempDir(), "config.yaml"), "server:\n  host: |\n    h\n  port: 1\n")
	if err := Unset(path, "server.host"); !errors.Is(err, ErrByHand) {
		t.Errorf("a long text: %v", err)
	}
}
