package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// identityMost bounds what a client says about who it is.
const identityMost = 128

// kindTurn is the kind of a request that is a step of its agent's work.
const kindTurn = "turn"

// harnesses tells programs apart by how their User-Agent begins.
var harnesses = []struct{ prefix, name string }{
	{"claude-cli/0.", "qwen-code"}, // how Qwen Code calls itself towards Anthropic
	{"claude-cli/", "claude-code"},
	{"codex", "codex"},
	{"opencode/", "opencode"},
	{"qwencode/", "qwen-code"},
	{"pi/", "pi"},
	{"crush", "crush"},
	{"charm crush", "crush"},
	{"cline", "cline"},
	{"goose", "goose"},
	{"aider", "aider"},
	{"litellm", "litellm"},
}

// byHeaders returns what the headers tell, in any dialect.
func byHeaders(header func(string) string) turn.Who {
	w := turn.Who{Harness: harness(header), Kind: kindTurn}
	switch {
	case header("x-claude-code-session-id") != "":
		claudeHeaders(&w, header)
	case header("session-id") != "":
		codexHeaders(&w, header)
	case header("x-session-id") != "":
		sessionHeaders(&w, header)
	}
	return w
}

func harness(header func(string) string) string {
	if header("x-claude-code-session-id") != "" {
		return "claude-code"
	}
	if strings.HasPrefix(header("originator"), "codex") || header("x-codex-window-id") != "" {
		return "codex"
	}
	agent := strings.ToLower(header("user-agent"))
	for _, h := range harnesses {
		if strings.HasPrefix(agent, h.prefix) {
			return h.name
		}
	}
	return ""
}

// claudeHeaders reads the headers of Claude Code: subagents carry an id of
// their own, and their parent's only when that is a subagent too.
func claudeHeaders(w *turn.Who, header func(string) string) {
	w.Session = bounded(header("x-claude-code-session-id"))
	w.Agent = "main"
	if id := bounded(header("x-claude-code-agent-id")); id != "" {
		w.Agent = id
		if w.Parent = bounded(header("x-claude-code-parent-agent-id")); w.Parent == "" {
			w.Parent = "main"
		}
	}
}

// codexHeaders reads the headers of Codex: the root thread's id is the
// session's. Pi sends the session alone.
func codexHeaders(w *turn.Who, header func(string) string) {
	w.Session = bounded(header("session-id"))
	thread := bounded(header("thread-id"))
	parent := bounded(header("x-codex-parent-thread-id"))
	threads(w, thread, parent)
}

// threads fills agent and parent from a thread and the one that started it.
func threads(w *turn.Who, thread, parent string) {
	w.Agent = "main"
	if thread == "" || thread == w.Session {
		return
	}
	w.Agent = thread
	if w.Parent = parent; parent == "" || parent == w.Session {
		w.Parent = "main"
	}
}

// sessionHeaders reads the headers of OpenCode and Crush. A subagent is a
// session with a parent there; it joins the parent's session here.
func sessionHeaders(w *turn.Who, header func(string) string) {
	w.Session, w.Agent = bounded(header("x-session-id")), "main"
	if parent := bounded(header("x-parent-session-id")); parent != "" {
		w.Session, w.Agent, w.Parent = parent, w.Session, "main"
	}
}

// aside makes a request beside its agent's work (a title, a probe) a line of
// its own, so that it is no turn of the lead.
func aside(w *turn.Who, kind string) {
	w.Kind = kind
	if w.Session != "" && w.Lead() {
		w.Agent, w.Parent = kind, "main"
	}
}

// bounded makes a client's text safe to keep and to show: cut, and without
// control characters.
func bounded(s string) string {
	if len(s) > identityMost {
		s = s[:identityMost]
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == '\uFFFD' {
			return -1
		}
		return c
	}, s)
}

// lastUserText returns the last text of the last user message.
func lastUserText(t *turn.Turn) string {
	if len(t.Messages) == 0 {
		return ""
	}
	last := t.Messages[len(t.Messages)-1]
	for i := len(last.Blocks) - 1; last.Role == turn.User && i >= 0; i-- {
		if last.Blocks[i].Kind == turn.Text {
			return last.Blocks[i].Text
		}
	}
	return ""
}

// isProbe reports a request that only asks whether the model answers.
func isProbe(t *turn.Turn) bool {
	return t.MaxTokens == 1 && len(t.Tools) == 0 && len(t.Messages) == 1
}

// nested reads a JSON document inside a string.
func nested(text string, read func(root tape.Value)) {
	if doc, err := tape.Parse([]byte(text)); err == nil {
		read(doc.Root())
		doc.Free()
	}
}
