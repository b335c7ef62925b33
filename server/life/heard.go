package life

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect/tape"
)

// hooks are the events that Claude Code (2.1.332) and Codex (0.171.0) have
// hooks for, by their names.
var hooks = map[string]Event{
	"SessionStart":       Started,
	"UserPromptSubmit":   Prompted,
	"PreToolUse":         ToolBegan,
	"PostToolUse":        ToolEnded,
	"PostToolUseFailure": ToolEnded,
	"SubagentStart":      AgentBegan,
	"SubagentStop":       AgentEnded,
	"Stop":               Rested,
	"PreCompact":         CompactBegan,
	"PostCompact":        CompactEnded,
	"SessionEnd":         SessionEnded,
}

// Hooks are the names of the hooks of a harness that notes are made of, in the
// order of a session.
func Hooks() []string {
	return []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop",
		"Stop", "PreCompact", "PostCompact", "SessionEnd",
	}
}

// heardMost is how much a harness may hand to a hook: the result of a tool is
// among it.
const heardMost = 64 << 20

// ErrNothing says that what a harness handed over is of no meaning here.
var ErrNothing = errors.New("nothing that concerns a session's turns")

// Heard makes a note of what a harness hands to a hook on its standard input.
// hook is the name of the hook, where the document does not tell. All is read,
// so that the harness can write it, and no more kept than a Note holds.
func Heard(in io.Reader, hook string) (Note, error) {
	data, err := io.ReadAll(io.LimitReader(in, heardMost))
	if err != nil {
		return Note{}, fmt.Errorf("read what the harness tells: %w", err)
	}
	doc, err := tape.Parse(data)
	if err != nil {
		return Note{}, fmt.Errorf("read what the harness tells: %w", err)
	}
	defer doc.Free()
	root := doc.Root()
	text := func(key string) string { return cut(strings.Clone(root.Key(key).Text())) }
	if name := text("hook_event_name"); name != "" {
		hook = name
	}
	event, ok := hooks[hook]
	if !ok {
		return Note{}, fmt.Errorf("%w: hook %q", ErrNothing, hook)
	}
	n := Note{Event: event, Session: text("session_id"), Agent: text("agent_id")}
	switch event {
	case ToolBegan, ToolEnded:
		n.Tool, n.Call = text("tool_name"), text("tool_use_id")
		if ms, ok := root.Key("duration_ms").Float(); ok && event == ToolEnded && ms > 0 && ms < 1e9 {
			n.Took = time.Duration(ms * float64(time.Millisecond))
		}
	case AgentBegan:
		n.Why = text("agent_type")
	case AgentEnded:
		if n.Why = text("agent_type"); n.Why == "" { // Claude Code's own call for a summary ends so
			return Note{}, fmt.Errorf("%w: no agent ended", ErrNothing)
		}
	case Rested:
		for range root.Key("background_tasks").Elements() {
			n.Beside++
		}
	case Started:
		n.Why = text("source")
	case CompactBegan, CompactEnded:
		n.Why = text("trigger")
	case SessionEnded:
		n.Why = text("reason")
	}
	if n.Session == "" {
		return Note{}, fmt.Errorf("%w: it names no session", ErrNothing)
	}
	return n, nil
}
