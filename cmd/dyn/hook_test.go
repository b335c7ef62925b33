package main

import (
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/server/life"
)

// A hook tells what it is handed where somebody listens, and is done without a
// word where nobody does, or what it is handed is nothing.
func TestHook(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // nobody listens there
	path := filepath.Join(t.TempDir(), "hook.sock")
	ln, err := net.ListenPacket("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	const doc = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"x"}}`
	for _, c := range []struct {
		name string
		args []string
		in   string
	}{
		{"half a document", []string{"hook", "PreToolUse", path}, doc[:20]},
		{"nothing", []string{"hook", "PreToolUse", path}, ""},
		{"of no meaning", []string{"hook", "Notification", path}, `{"session_id":"s"}`},
		{"nobody listens", []string{"hook", "PreToolUse"}, doc},
		{"nor here", []string{"hook", "PreToolUse", path + "x"}, doc},
		{"told", []string{"hook", "PreToolUse", path}, doc},
	} {
		if !hooked(c.args, strings.NewReader(c.in)) {
			t.Errorf("%s: it is another command's", c.name)
		}
	}
	b := make([]byte, life.Most)
	n, _, err := ln.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	want := life.Note{Event: life.ToolBegan, Session: "s", Tool: "Bash", Call: "c"}
	if got, err := life.Parse(b[:n]); err != nil || got != want {
		t.Errorf("told was %+v, %v; want %+v", got, err, want)
	}
	for _, args := range [][]string{nil, {"hook"}, {"hook", "--help"}, {"ps", "hook"}} {
		if hooked(args, strings.NewReader(doc)) {
			t.Errorf("%q was taken for a hook", args)
		}
	}
}

// TestClaudeHooks: our hooks stand behind the user's own, each a command that
// names the socket; none where none are wanted.
func TestClaudeHooks(t *testing.T) {
	s := served{URL: "http://h", Model: "m", Hooks: "/run/my dyn/hook.sock"}
	own := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}],"Notification":[{"matcher":"x","hooks":[]}]}}`
	l := claudeLine(s, []string{"--settings", own, "-p"})
	var got struct{ Hooks map[string][]claudeHook }
	if err := json.Unmarshal([]byte(l.args[1]), &got); err != nil {
		t.Fatal(err)
	}
	for _, hook := range life.Hooks() {
		all := got.Hooks[hook]
		if len(all) == 0 || len(all[len(all)-1].Hooks) != 1 || !strings.HasSuffix(all[len(all)-1].Hooks[0].Command, " hook "+hook+" '/run/my dyn/hook.sock'") {
			t.Errorf("%s: %+v", hook, all)
		}
	}
	if all := got.Hooks["Stop"]; len(all) != 2 || all[0].Hooks[0].Command != "mine" || len(got.Hooks["Notification"]) != 1 {
		t.Errorf("of the user's own is left %+v", got.Hooks)
	}
	s.Hooks = ""
	if l := claudeLine(s, nil); strings.Contains(l.args[1], "hook") {
		t.Errorf("none are wanted: %q", l.args)
	}
	s.Hooks = "/hook.sock"
	if args := []string{"--settings", `{"hooks":3}`}; !slices.Equal(claudeLine(s, args).args, args) {
		t.Error("hooks that are none were changed")
	}
}

// TestCodexHooks: they are options of one run, and what is to be trusted is
// said.
func TestCodexHooks(t *testing.T) {
	l := codexLine(served{URL: "http://h", Model: "m", Hooks: "/run/hook.sock"}, []string{"exec"})
	for _, hook := range life.Hooks() {
		if !slices.ContainsFunc(l.args, func(arg string) bool {
			return strings.HasPrefix(arg, "hooks."+hook+`=[{matcher="*",hooks=[{type="command",command="`) && strings.Contains(arg, " hook "+hook+" /run/hook.sock\"")
		}) {
			t.Errorf("no hook %s in %q", hook, l.args)
		}
	}
	if len(l.tell) == 0 || l.args[len(l.args)-1] != "exec" {
		t.Errorf("%+v", l)
	}
	if l := codexLine(served{URL: "http://h", Model: "m"}, nil); slices.ContainsFunc(l.args, func(s string) bool { return strings.HasPrefix(s, "hooks") }) || l.tell != nil {
		t.Errorf("none are wanted: %+v", l)
	}
}
