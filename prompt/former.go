package prompt

import "github.com/agentinfer/dyn/turn"

// Bare reports whether t is a request for compaction that came without the
// tools of the conversation; Former gives it them.
func Bare(t *turn.Turn) bool { return t.Who.Kind == "compaction" && len(t.Tools) == 0 }

// Former returns the turn to be rendered when t is Bare: with the agent's
// former tools. Its prompt then goes on from the one before, where it would
// otherwise share nothing with it in templates that print the tools first. ok
// is false, and t itself is returned, for every other turn, and where there
// are no tools. The answer of such a turn is text: what looks like a call is
// not to be taken for one.
func Former(t *turn.Turn, tools []turn.Tool) (_ *turn.Turn, ok bool) {
	if !Bare(t) || len(tools) == 0 {
		return t, false
	}
	with := *t
	with.Tools = tools
	return &with, true
}
