package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// The kinds of turns, as turn.Who.Kind tells them.
const (
	kindUser       = "user"     // a person spoke
	kindTool       = "tool"     // only results of tools came since the last answer
	kindSubagent   = "subagent" // the first turn of an agent that another one started
	kindTitle      = "title"
	kindClassifier = "classifier" // is a tool call dangerous?
	kindProbe      = "probe"      // does the model answer?
	kindMemory     = "memory"     // what is worth remembering of a conversation is to be written down
)

// KindCompaction is the kind of a turn that asks for its conversation to be
// summed up.
const KindCompaction = "compaction"

// Beside reports whether turns of a kind are asked once, beside an agent's
// conversation, and go on from nothing.
func Beside(kind string) bool {
	return kind == kindTitle || kind == kindClassifier || kind == kindProbe || kind == kindMemory
}

// Marks of requests, as clients were recorded to send them.
const (
	classifierStop  = "</block>"
	classifierStart = "You are a security monitor"
	searchTool      = "web_search_"
)

// clineTools are those of Cline's tools that it gives its subagents too, whose
// names nobody else was seen to use together.
var clineTools = []string{"read_files", "search_codebase", "run_commands"}

// clineStart is how the prompt of Cline's lead begins, and clineTeam the names
// of tools that only the lead has.
const (
	clineStart = "you are cline"
	clineTeam  = "team_"
)

// compactionStarts are how orders for a summary begin that come as the last
// words of a whole conversation.
var compactionStarts = []string{
	"CRITICAL: Respond with TEXT ONLY",                            // Claude Code
	"You are the component that summarizes",                       // Qwen Code
	"You are performing a CONTEXT CHECKPOINT COMPACTION",          // Codex
	"You have exceeded the maximum number of tokens, please stop", // Codex of old
}

// machineStarts are how texts begin that stand in a user's message and that
// no person wrote.
var machineStarts = []string{"<system-reminder>", "<task-notification>", "<environment_context>", "<user_instructions>"}

// kind tells what a turn is for, by its shape, and makes a request beside its
// agent's work (a title, a probe) a line of its own, so that it is no turn of
// the lead. A kind that the client told stays.
func (r *reader) kind(w *turn.Who, t *turn.Turn) {
	if w.Harness == "" && isCline(t) {
		w.Harness = "cline"
	}
	switch {
	case w.Kind != "":
	case isProbe(t):
		aside(w, kindProbe, kindProbe)
	case isClassifier(t):
		aside(w, kindClassifier, kindClassifier)
	case r.offer.tools == 1 && r.offer.search: // Claude Code's request to a hosted web search
		aside(w, "search", kindSubagent)
	case r.offer.tools == 0 && isTitle(t):
		aside(w, kindTitle, kindTitle)
	case ordered(t):
		w.Kind = KindCompaction
	case r.offer.tools == 0 && summarizes(t):
		aside(w, KindCompaction, KindCompaction)
	case w.Harness == "qwen-code" && strings.Contains(opening(t), "managed memory"):
		aside(w, kindMemory, kindMemory) // after each of the lead's turns
	case started(w, t):
		w.Kind = kindSubagent
	default:
		w.Kind = speaker(t)
	}
}

// aside makes a turn a line of its own beside its agent's work.
func aside(w *turn.Who, name, kind string) {
	w.Kind = kind
	if w.Session != "" && w.Lead() {
		w.Agent, w.Parent = name, "main"
	}
}

// isProbe reports a request that only asks whether the model answers.
func isProbe(t *turn.Turn) bool {
	return t.MaxTokens == 1 && len(t.Tools) == 0 && len(t.Messages) == 1
}

// isClassifier reports Claude Code's question whether a call is dangerous. Its
// second look may think before the verdict and has no stop text.
func isClassifier(t *turn.Turn) bool {
	if len(t.Stop) == 1 && t.Stop[0] == classifierStop {
		return true
	}
	if len(t.Tools) > 0 {
		return false
	}
	for _, m := range t.Messages {
		if m.Role != turn.System {
			break
		}
		for i := range m.Blocks {
			if strings.HasPrefix(m.Blocks[i].Text, classifierStart) {
				return true
			}
		}
	}
	return false
}

// isTitle reports an order for a conversation's title: by its prompt, or by
// the only field of its answer.
func isTitle(t *turn.Turn) bool {
	if t.Format.Kind == turn.JSONSchema && bytes.Contains(t.Format.Schema, []byte(`"title"`)) {
		return true
	}
	opening := opening(t)
	return strings.Contains(opening, "title") && strings.Contains(opening, "generat")
}

// ordered reports an order for a summary at the end of the conversation that
// is to be summed up.
func ordered(t *turn.Turn) bool {
	last := strings.TrimSpace(lastUserText(t))
	for _, start := range compactionStarts {
		if strings.HasPrefix(last, start) {
			return true
		}
	}
	return false
}

// summarizes reports a prompt of its own for a summary, as OpenCode, Pi and
// Qwen Code send it: it has nothing in common with the conversation.
func summarizes(t *turn.Turn) bool {
	opening := opening(t)
	return strings.Contains(opening, "summar") &&
		(strings.Contains(opening, "conversation") || strings.Contains(opening, "context"))
}

// isCline knows Cline, which names itself in no header, by its tools.
func isCline(t *turn.Turn) bool {
	for _, name := range clineTools {
		if _, ok := findTool(t.Tools, name); !ok {
			return false
		}
	}
	return true
}

// started reports the first turn of a subagent. Qwen Code tells its subagents
// only by their prompts, and gives some of them the conversation so far; Cline
// gives them a prompt that the model wrote, and no tools of teams.
func started(w *turn.Who, t *turn.Turn) bool {
	switch {
	case w.Harness == "qwen-code" && strings.Contains(opening(t), "subagent"):
		return speaker(t) == kindUser
	case w.Harness == "cline" && !strings.HasPrefix(opening(t), clineStart) && isCline(t) && !inTeam(t):
		return speaker(t) == kindUser
	}
	for i := range t.Messages {
		if t.Messages[i].Role == turn.Assistant {
			return false
		}
	}
	return !w.Lead()
}

func inTeam(t *turn.Turn) bool {
	return slices.ContainsFunc(t.Tools, func(tool turn.Tool) bool { return strings.HasPrefix(tool.Name, clineTeam) })
}

// speaker tells who spoke since the last answer.
func speaker(t *turn.Turn) string {
	kind := kindUser
	for i := len(t.Messages) - 1; i >= 0; i-- {
		switch m := &t.Messages[i]; {
		case m.Role == turn.Assistant:
			return kind
		case m.Role == turn.ToolRole:
			kind = kindTool
		case m.Role == turn.User && wrote(m):
			return kindUser
		case m.Role == turn.User && i > 0:
			kind = kindTool // a notice of a task that ran beside
		}
	}
	return kindUser
}

// wrote reports whether a person may have written some of a message.
func wrote(m *turn.Message) bool {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind == turn.Image || b.Kind == turn.Document {
			return true
		}
		text := strings.TrimSpace(b.Text)
		if b.Kind != turn.Text || text == "" {
			continue
		}
		machine := false
		for _, start := range machineStarts {
			machine = machine || strings.HasPrefix(text, start)
		}
		if !machine {
			return true
		}
	}
	return false
}

// openingLen is how much of a prompt tells what it is for.
const openingLen = 400

// opening returns how the system prompt begins, in lower case, without an
// attribution line.
func opening(t *turn.Turn) string {
	if len(t.Messages) == 0 || t.Messages[0].Role != turn.System {
		return ""
	}
	for _, b := range t.Messages[0].Blocks {
		if text := b.Text; b.Kind == turn.Text && text != "" && !strings.HasPrefix(text, attribution) {
			return strings.ToLower(text[:min(len(text), openingLen)])
		}
	}
	return ""
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
