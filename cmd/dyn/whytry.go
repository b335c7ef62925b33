package main

import (
	"fmt"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt/diff"
)

// brokenBy says what each kind of break is.
var brokenBy = map[diff.Kind]string{
	diff.Clock:       "a time or a date stands there, and is another one now",
	diff.Attribution: "the harness puts a line there that is another one each time",
	diff.Folder:      "a path is another one: of another folder",
	diff.Value:       "a number or an id stands there, and is another one now",
	diff.ToolOrder:   "the tools are the same, in another order",
	diff.ToolAdded:   "tools are there that were not",
	diff.ToolRemoved: "tools that were there are gone",
	diff.ToolChanged: "a tool is told of in other words",
	diff.Compaction:  "a summary stands for the conversation",
	diff.Thinking:    "reasoning that stood there is gone",
	diff.Effort:      "the client asks for more or less reasoning than before",
	diff.Rewound:     "the conversation was taken back, and goes another way",
	diff.Edited:      "a message is not as it was",
	diff.System:      "the system's text is not as it was",
	diff.Template:    "the template prints the same messages another way",
}

// tries are what to do about a break, the likeliest first.
func tries(b *diff.Break, t ledger.Turn) []string {
	claude := t.Harness == "claude-code"
	switch b.Kind {
	case diff.Attribution:
		return []string{"dyn claude   (starts the agent with this line off)", "CLAUDE_CODE_ATTRIBUTION_HEADER=0"}
	case diff.Clock:
		return []string{"take the time out of that text, or send it with the last message", "let it tell the day only"}
	case diff.Value:
		return []string{"take the number out of that text, or send it with the last message"}
	case diff.Folder:
		return []string{"start the sessions in one folder: their prompts begin alike as far as they tell the same paths"}
	case diff.ToolOrder:
		return []string{"send the tools in one order, sorted by name: the model is shown them before all messages"}
	case diff.ToolAdded, diff.ToolRemoved, diff.ToolChanged:
		return toolTries(b.Kind, claude)
	case diff.Compaction:
		return []string{"dyn up --max-model-len <tokens>   (a larger context is summed up less often)"}
	case diff.Edited, diff.Rewound:
		if claude {
			return []string{fmt.Sprintf("claude --resume %s --fork-session   (goes another way beside the old one)", quote(sessionOf(t))), "say it in a new message: what stands behind a change is computed again"}
		}
		return []string{"say it in a new message: what stands behind a change is computed again"}
	case diff.Thinking:
		return []string{"set the template's switch that keeps reasoning in the recipe (template: clear_thinking: false, or preserve_thinking: true)", "let the client send reasoning back as it got it"}
	case diff.Effort:
		return []string{"keep the effort, and thinking on or off, as it is within a session"}
	case diff.System:
		return []string{"keep the system's text as it is within a session, and send what changes with the last message"}
	case diff.Template:
		return []string{"see docs/prefix.md for what this template prints another way; a template without that goes on"}
	}
	return []string{}
}

// toolTries are what to do about tools that come and go.
func toolTries(k diff.Kind, claude bool) []string {
	switch {
	case k == diff.ToolChanged:
		return []string{"keep descriptions and schemas as they are within a session: no times, counts or lists that grow"}
	case claude:
		return []string{"ENABLE_TOOL_SEARCH=true   (tools that are found later stand in the conversation, not before it)", "start MCP servers before the session"}
	}
	return []string{"have all tools there from a session's first turn on"}
}

// sessionOf is the session's name as its harness has it: without a key's name.
func sessionOf(t ledger.Turn) string {
	if n := len(t.Tenant); n > 0 && len(t.Session) > n+1 && t.Session[:n] == t.Tenant {
		return t.Session[n+1:]
	}
	return t.Session
}
