package template

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// facts are what was found out about a template.
type facts struct {
	parts map[turn.Role]bool // content of the role is wanted as a list of parts

	system    bool // a leading system message is printed
	systems   bool // several are
	midSystem bool // so is one further on, in its place

	users     bool // two user messages in a row are printed
	answers   bool // two answers in a row are
	afterTool bool // a user message right after a tool's result is

	calls       bool // calls are printed
	results     bool // results of calls are
	stringArgs  bool // arguments are wanted as text
	textArgs    bool // arguments that are no JSON may stand as text
	nullContent bool // calls are printed only beside the content None
	callsApart  bool // calls are not printed beside text
	oneCall     bool // one call in an answer is all that is printed
	shortIDs    bool // ids of calls must be nine letters and digits
	described   bool // a tool must have a description
	bare        bool // a tool is wanted without the object around its function

	reasoning string // field, inlineReasoning, partReasoning or ""
	oneText   bool   // beside calls, text and reasoning are not taken both

	flags  []toggle // turn thinking on and off
	effort effort

	end      string   // what follows the text of an answer
	stops    []string // what the model says when it is done
	closings []string // what ends an answer in a conversation
	pure     bool     // the generation prompt only adds to the text
}

// Other ways in which a template reads reasoning than a field of the message.
const (
	inlineReasoning = "<think>"
	partReasoning   = "[thinking]"
)

// joined reports whether a message of a role is given as part of the one
// before it.
func (f *facts) joined(before, role turn.Role) bool {
	switch {
	case role == turn.User && before == turn.ToolRole:
		return !f.afterTool
	case role != before:
		return false
	case role == turn.User:
		return !f.users
	case role == turn.Assistant:
		return !f.answers
	case role == turn.System:
		return !f.systems
	}
	return false
}

// Name is the file that the template is from.
func (t *Template) Name() string { return t.tools.name }

// ObjectArgs reports whether arguments of calls are given as objects, not as
// text.
func (t *Template) ObjectArgs() bool { return !t.tools.stringArgs }

// Reasoning is the field of an answer in which the template reads its
// reasoning: "reasoning_content", "reasoning" …; "<think>" where it reads it
// in the text, "[thinking]" where as a part of the content, "" where it never
// prints any.
func (t *Template) Reasoning() string { return t.tools.reasoning }

// Switched reports whether thinking can be turned off.
func (t *Template) Switched() bool { return t.tools.canTurnOff() }

// MidSystem reports whether a system message is printed in its place also
// when it is not among the leading ones.
func (t *Template) MidSystem() bool { return t.tools.midSystem && t.plain.midSystem }

// JoinsUsers reports whether user messages in a row are given as one.
func (t *Template) JoinsUsers() bool { return !t.tools.users }

// JoinsToResult reports whether a user message after a tool's result is given
// as part of it.
func (t *Template) JoinsToResult() bool { return !t.tools.afterTool }

// Calls reports whether the template prints tools' calls and their results.
func (t *Template) Calls() bool { return t.tools.calls && t.tools.results }

// End is what the template prints after the text of an answer that is not the
// last message: its end token and the white space after it, mostly. It is ""
// where only the next message's head ends an answer.
func (t *Template) End() string { return t.tools.end }

// Stops are the texts by which the model says that its answer is over, after
// text and after calls; most are one special token. They are those of an
// answer that is the last message.
func (t *Template) Stops() []string { return slices.Clone(t.tools.stops) }

// Writes reports whether the template has a text in it: one that it writes, or
// looks for.
func (t *Template) Writes(text string) bool {
	return strings.Contains(t.tools.source, text) || t.plain != t.tools && strings.Contains(t.plain.source, text)
}

// Closings are the texts that end an answer within a conversation, Stops
// included.
func (t *Template) Closings() []string { return slices.Clone(t.tools.closings) }
