package template

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// loop is a question, a call with text beside it, and its result. A nil text
// is the content None.
func (t *trial) loop(text any, args any) []object {
	answer := object{"role": "assistant", "content": text}
	if s, ok := text.(string); ok {
		answer = t.say(turn.Assistant, s)
	}
	return []object{
		t.say(turn.User, wordUser),
		with(answer, "tool_calls", []object{called(t.id(), wordTool, args)}),
		with(with(t.say(turn.ToolRole, wordResult), "tool_call_id", t.id()), "name", wordTool),
	}
}

// args are arguments in the form that was found.
func (t *trial) args() any {
	if t.f.stringArgs {
		return `{"` + wordKey + `": "` + wordValue + `"}`
	}
	return object{wordKey: wordValue}
}

// grade says how well arguments were printed.
func grade(text string, ok bool) int {
	switch {
	case !ok || !strings.Contains(text, wordValue) || !strings.Contains(text, wordTool):
		return 0
	case strings.Contains(text, `\"`+wordKey+`\"`):
		return 1 // encoded twice
	case strings.Contains(text, `'`+wordKey+`'`):
		return 2 // as Python prints a dictionary
	}
	return 3
}

// calls finds how calls and their results are wanted.
func (t *trial) calls() {
	f := t.f
	// With another name in the list of tools, that of the call stands for it.
	listed := t.listing(wordTool2)
	best := 0
	try := func(n int) {
		for _, text := range []any{"", nil} {
			for _, asText := range []bool{false, true} {
				was := f.stringArgs
				f.stringArgs = asText
				out, ok := t.render(t.loop(text, t.args())[:n], listed...)
				if n := grade(out, ok); n > best {
					best, f.nullContent = n, text == nil
					continue
				}
				f.stringArgs = was
			}
		}
	}
	// Some print an answer that is followed by results only, others take none.
	for _, n := range []int{3, 2} {
		if try(n); best > 0 {
			break
		}
		if _, ok := t.render(t.loop("", object{wordKey: wordValue})[:n], listed...); !ok {
			f.shortIDs = true
			try(n)
			f.shortIDs = best > 0
		}
		if best > 0 {
			break
		}
	}
	f.calls = best > 0
	t.results()
	if f.calls {
		t.beside()
	}
	f.described = !t.toolPrinted("") && t.toolPrinted("a tool")
}

// id is an id of a call that the template takes.
func (t *trial) id() string {
	if t.f.shortIDs {
		return shortID(callID)
	}
	return callID
}

// results finds how results of calls are given.
func (t *trial) results() {
	f := t.f
	try := func() bool {
		return t.prints(t.loop("", t.args()), wordUser, wordResult)
	}
	if !f.calls {
		return
	}
	if f.results = try(); f.results {
		return
	}
	f.parts[turn.ToolRole] = true
	if f.results = try(); !f.results {
		delete(f.parts, turn.ToolRole)
	}
}

// beside finds what may stand beside a call.
func (t *trial) beside() {
	f := t.f
	text := any("")
	if f.nullContent {
		text = nil
	}
	ms := t.loop(wordText, t.args())
	if !t.callPrinted(ms) {
		f.callsApart = t.callPrinted(t.loop(text, t.args()))
	}
	ms = t.loop(text, t.args())
	second := called(shortID("2"), wordTool2, t.args())
	ms[1]["tool_calls"] = append(ms[1]["tool_calls"].([]object), second)
	out, ok := t.render(ms, t.listing(wordTool)...)
	f.oneCall = !ok || !strings.Contains(out, wordTool2)

	ms = t.loop(text, wordText2+` no json`)
	out, ok = t.render(ms, t.generate()...)
	f.textArgs = ok && strings.Contains(out, wordText2)
}

// callPrinted reports whether the call in a conversation is printed.
func (t *trial) callPrinted(ms []object) bool {
	out, ok := t.render(ms, t.listing(wordTool2)...)
	return ok && strings.Contains(out, wordTool) && strings.Contains(out, wordValue)
}

// toolPrinted reports whether a tool with this description is.
func (t *trial) toolPrinted(description string) bool {
	out, ok := t.render([]object{t.say(turn.User, wordUser)}, "add_generation_prompt", true,
		"tools", []object{t.tool(wordTool, description)})
	return ok && strings.Contains(out, wordTool)
}
