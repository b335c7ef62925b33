package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// leading are the variables that lead Claude Code to a server. Where dyn
// starts it, they are dyn's, whatever the user's settings say.
var leading = []string{
	"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_MANTLE",
	"CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "CLAUDE_CODE_USE_GATEWAY",
}

// cutSettings takes the option --settings out of Claude Code's arguments. Of
// several it counts the last, as Claude Code does; what follows -- is text.
func cutSettings(args []string) (value string, rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		switch after, joined := strings.CutPrefix(args[i], "--settings="); {
		case args[i] == "--":
			return value, append(rest, args[i:]...), ok
		case joined:
			value, ok = after, true
		case args[i] == "--settings" && i+1 < len(args):
			i++
			value, ok = args[i], true
		default:
			rest = append(rest, args[i])
		}
	}
	return value, rest, ok
}

// inline says whether a value of --settings is JSON itself, not a file's name.
func inline(value string) bool { return strings.HasPrefix(strings.TrimSpace(value), "{") }

// readSettings reads what a value of --settings stands for.
func readSettings(value string) (map[string]json.RawMessage, error) {
	data := []byte(value)
	if !inline(value) {
		var err error
		if data, err = os.ReadFile(value); err != nil {
			return nil, err
		}
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, errors.New("no object")
	}
	return all, nil
}

// mergeSettings puts ours under the user's: what he sets counts, but for the
// variables that lead to the daemon. It changes the user's, and returns the
// names of those that he would have set otherwise.
func mergeSettings(ours []pair, theirs map[string]json.RawMessage) (lost []string, err error) {
	env := map[string]json.RawMessage{}
	if given := theirs["env"]; given != nil {
		if err := json.Unmarshal(given, &env); err != nil {
			return nil, fmt.Errorf("env: %w", err)
		}
	}
	if env == nil {
		env = map[string]json.RawMessage{} // it was null
	}
	values := map[string]string{}
	for _, p := range ours {
		values[p.name] = p.value
	}
	for _, name := range leading {
		var was string
		if had, ok := env[name]; ok {
			if json.Unmarshal(had, &was) != nil || was != values[name] {
				lost = append(lost, name)
			}
			delete(env, name)
		}
	}
	for name, value := range values {
		if _, ok := env[name]; !ok {
			env[name] = quoted(value)
		}
	}
	if theirs["env"], err = json.Marshal(env); err != nil {
		return nil, err
	}
	return lost, nil
}

// quoted is a string in JSON.
func quoted(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic("settings: a string has a JSON form: " + err.Error())
	}
	return b
}

// settingsFiles is how many merged files are kept.
const settingsFiles = 16

// settingsFile is where settings are put that may hold what nobody else shall
// read. It is named by what it holds, so that sessions do not disturb each
// other.
func settingsFile(dir string, data []byte) string {
	sum := sha256.Sum256(data)
	return filepath.Join(dir, fmt.Sprintf("claude-%x.json", sum[:8]))
}

// writeSettings writes such a file, and removes the oldest where there are
// too many.
func writeSettings(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The file is there whole or not at all, and new: the oldest go below.
	f, err := os.CreateTemp(dir, ".claude-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "claude-*.json"))
	if err != nil || len(old) <= settingsFiles {
		return err
	}
	age := func(path string) time.Time {
		if info, err := os.Stat(path); err == nil {
			return info.ModTime()
		}
		return time.Time{}
	}
	slices.SortFunc(old, func(a, b string) int { return age(a).Compare(age(b)) })
	for _, path := range old[:len(old)-settingsFiles] {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
