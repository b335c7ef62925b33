package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The user's settings and ours reach Claude Code together: his count, but for
// what leads to the daemon.
func TestClaudeSettings(t *testing.T) {
	s := served{URL: "http://h:1", Key: "sesame", Model: "sim", Context: 262144, Run: filepath.Join(t.TempDir(), "run")}
	const theirs = `{"env":{"A":"b","ANTHROPIC_MODEL":"mine","ANTHROPIC_BASE_URL":"http://x","CLAUDE_CODE_USE_BEDROCK":"1"},"permissions":{"allow":["Bash"]}}`
	path := filepath.Join(t.TempDir(), "my.json")
	if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  []string
		rest  []string
		model string
		lost  int
	}{
		{"none", []string{"-p", "hi"}, []string{"-p", "hi"}, "sim", 0},
		{"JSON", []string{"-p", "--settings", theirs, "hi"}, []string{"-p", "hi"}, "mine", 2},
		{"joined", []string{"--settings= " + theirs}, nil, "mine", 2},
		{"a file", []string{"-p", "--settings", path}, []string{"-p"}, "mine", 2},
		{"the last of two", []string{"--settings", path, "--settings", "{}"}, nil, "sim", 0},
		{"no env", []string{"--settings", `{"env":null}`}, nil, "sim", 0},
		{"text", []string{"-p", "--", "--settings", path}, []string{"-p", "--", "--settings", path}, "sim", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s
			l := claudeLine(s, c.args)
			if l.args[0] != "--settings" || !slices.Equal(l.args[2:], c.rest) || len(l.warn) != c.lost {
				t.Fatalf("got %q, warnings %q", l.args, l.warn)
			}
			data := []byte(l.args[l.at])
			if l.file != "" {
				if err := writeSettings(l.file, data); err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(l.file); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v, want 0600", info, err)
				}
			}
			var got struct {
				Env         map[string]string
				Permissions struct{ Allow []string }
			}
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if got.Env["ANTHROPIC_BASE_URL"] != s.URL || got.Env["CLAUDE_CODE_USE_BEDROCK"] != "" || got.Env["ANTHROPIC_MODEL"] != c.model {
				t.Errorf("env %v", got.Env)
			}
			if own := c.lost > 0; (got.Env["A"] == "b") != own || (len(got.Permissions.Allow) == 1) != own {
				t.Errorf("of the user's own: %v", got)
			}
			if got.Env["ANTHROPIC_AUTH_TOKEN"] != "sesame" || l.file == "" {
				t.Errorf("file %q, env %v, want the key in a file", l.file, got.Env)
			}
			s.Key = ""
			if l := claudeLine(s, c.args); (l.file != "") != (c.name == "a file") {
				t.Errorf("without a key: file %q", l.file)
			}
		})
	}
}

// Settings that cannot be read are Claude Code's to refuse.
func TestClaudeSettingsBroken(t *testing.T) {
	for _, value := range []string{"{", "/no/such/file", `{"env":3}`, "{} {}"} {
		args := []string{"--settings", value, "-p"}
		if l := claudeLine(served{URL: "http://h"}, args); !slices.Equal(l.args, args) || l.file != "" {
			t.Errorf("%s: %q", value, l.args)
		}
	}
	if l := claudeLine(served{URL: "http://h"}, []string{"-p", "--settings"}); len(l.args) != 4 || l.args[3] != "--settings" {
		t.Errorf("without a value: %q", l.args)
	}
}

func TestSettingsFilesAreFew(t *testing.T) {
	dir := t.TempDir()
	last := ""
	for i := range settingsFiles + 5 {
		data := fmt.Appendf(nil, `{"n":%d}`, i)
		last = settingsFile(dir, data)
		if err := writeSettings(last, data); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != settingsFiles {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if !slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasSuffix(last, f.Name()) }) {
		t.Errorf("the newest is gone")
	}
}
