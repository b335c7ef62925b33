package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// Marks of Claude Code's requests.
const (
	attribution     = "x-anthropic-billing-header:"
	classifierStop  = "</block>"
	classifierStart = "You are a security monitor"
	compactionStart = "CRITICAL: Respond with TEXT ONLY"
	searchTool      = "web_search_"
)

// who identifies a messages turn: by headers, else by metadata.user_id; what
// kind it is by its shape.
func (r *messagesReader) who(t *turn.Turn, root tape.Value, header func(string) string) turn.Who {
	w := byHeaders(header)
	if w.Session == "" {
		if w.Session = userSession(root.Key("metadata").Key("user_id").Text()); w.Session != "" {
			w.Agent = "main"
		}
	}
	if line := attributed(t); line != "" {
		if w.Harness = "claude-code"; w.Agent == "main" && strings.Contains(line, "cc_is_subagent=true") {
			w.Agent, w.Parent = "sub-"+attributedTo(line), "main"
		}
	}
	format := root.Key("output_config").Key("format")
	switch {
	case isProbe(t):
		aside(&w, "probe")
	case len(t.Stop) == 1 && t.Stop[0] == classifierStop, len(t.Tools) == 0 && monitors(t):
		aside(&w, "classifier")
	case onlySearch(root):
		aside(&w, "search")
	case len(t.Tools) == 0 && titled(t),
		root.Key("tools").Empty() && format.Key("type").Text() == "json_schema":
		aside(&w, "title")
	case strings.HasPrefix(strings.TrimSpace(lastUserText(t)), compactionStart):
		w.Kind = "compaction"
	}
	return w
}

// monitors reports the second look of Claude Code's classifier, which may
// think before its verdict and has no stop text.
func monitors(t *turn.Turn) bool {
	for _, m := range t.Messages {
		if m.Role != turn.System {
			break
		}
		for _, b := range m.Blocks {
			if strings.HasPrefix(b.Text, classifierStart) {
				return true
			}
		}
	}
	return false
}

// onlySearch reports Claude Code's request to a hosted web search.
func onlySearch(root tape.Value) bool {
	n, search := 0, false
	for _, v := range root.Key("tools").Elements() {
		n++
		search = strings.HasPrefix(v.Key("type").Text(), searchTool)
	}
	return n == 1 && search
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
