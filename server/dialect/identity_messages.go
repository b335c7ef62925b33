package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// attribution begins the line that Claude Code puts at the head of its system
// prompt.
const attribution = "x-anthropic-billing-header:"

// who identifies a messages turn: by headers, else by metadata.user_id.
func (r *messagesReader) who(t *turn.Turn, root tape.Value) turn.Who {
	w := byHeaders(r.header)
	if w.Session == "" {
		if w.Session = userSession(root.Key("metadata").Key("user_id").Text()); w.Session != "" {
			w.Agent = "main"
		}
	}
	r.byContext(&w, root)
	if line := attributed(t); line != "" {
		if w.Harness = "claude-code"; w.Agent == "main" && strings.Contains(line, "cc_is_subagent=true") {
			w.Agent, w.Parent = "sub-"+attributedTo(line), "main"
		}
	}
	r.kind(&w, t)
	return w
}

// userSession returns the session in metadata.user_id: a JSON text today, a
// name that ends in it from older clients.
func userSession(id string) string {
	if _, old, ok := strings.Cut(id, "_session_"); ok {
		return bounded(old)
	}
	session := ""
	nested(id, func(root tape.Value) { session = bounded(root.Key("session_id").Text()) })
	return session
}

// attributed returns the attribution line that Claude Code puts at the head
// of its system prompt, or "".
func attributed(t *turn.Turn) string {
	if len(t.Messages) == 0 || t.Messages[0].Role != turn.System || len(t.Messages[0].Blocks) == 0 {
		return ""
	}
	line, _, _ := strings.Cut(t.Messages[0].Blocks[0].Text, "\n")
	if !strings.HasPrefix(line, attribution) {
		return ""
	}
	return line
}

// attributedTo returns the end of cc_version, which differs between agents:
// all there is to tell them apart when a proxy took the headers away.
func attributedTo(line string) string {
	_, version, _ := strings.Cut(line, "cc_version=")
	version, _, _ = strings.Cut(version, ";")
	return bounded(version[strings.LastIndexByte(version, '.')+1:])
}
