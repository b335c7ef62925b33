package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// identityMost bounds what a client says about who it is.
const identityMost = 128

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
	w := turn.Who{Harness: harness(header)}
	switch {
	case header("x-dynamo-session-id") != "":
		parented(&w, header("x-dynamo-session-id"), header("x-dynamo-parent-session-id"))
	case header("x-dyn-session-id") != "":
		parented(&w, header("x-dyn-session-id"), header("x-dyn-parent-session-id"))
	case header("x-claude-code-session-id") != "":
		claudeHeaders(&w, header)
	case header("session-id") != "":
		codexHeaders(&w, header)
	case header("x-session-id") != "":
		parented(&w, header("x-session-id"), header("x-parent-session-id"))
	case header("x-deepseek-harness-session-id") != "":
		parented(&w, header("x-deepseek-harness-session-id"), header("x-deepseek-harness-parent-session-id"))
		if header("x-deepseek-harness-compact") == "1" {
			w.Kind = KindCompaction
		}
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

// parented reads a session and the one that started it, as OpenCode, Crush
// and Dynamo's headers tell them. A subagent is a session with a parent there;
// it joins the parent's session here.
func parented(w *turn.Who, session, parent string) {
	w.Session, w.Agent = bounded(session), "main"
	if parent = bounded(parent); parent != "" {
		w.Session, w.Agent, w.Parent = parent, w.Session, "main"
	}
}

// Name is what a client calls a session or an agent, as turns have it.
func Name(s string) string { return bounded(s) }

// bounded makes a client's text safe to keep and to show: without control
// characters, and one that is too long becomes its beginning and a hash, so
// that two of them stay two.
func bounded(s string) string {
	clean := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == '\uFFFD' {
			return -1
		}
		return c
	}, s)
	if len(clean) <= identityMost {
		return clean
	}
	sum := sha256.Sum256([]byte(clean))
	return strings.ToValidUTF8(clean[:identityMost-32], "") + "~" + hex.EncodeToString(sum[:8])
}

// nested reads a JSON document inside a string.
func nested(text string, read func(root tape.Value)) {
	if doc, err := tape.Parse([]byte(text)); err == nil {
		read(doc.Root())
		doc.Free()
	}
}
