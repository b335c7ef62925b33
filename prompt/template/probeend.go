package template

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// ends finds what ends an answer, and whether the generation prompt is only
// added to the text.
func (t *trial) ends() {
	f := t.f
	user, answer := t.say(turn.User, wordUser), t.say(turn.Assistant, wordText)
	next := t.say(turn.User, wordUser2)
	last := t.tail([]object{user, answer}, 1, wordText)
	f.end = t.tail([]object{user, answer, next}, 1, wordText)
	if strings.Contains(f.end, wordUser2) { // the place of the answer is not known
		f.end = last[:common([]byte(last), []byte(f.end))]
	}
	f.stop(lastTag(last))
	if last == "" {
		text, _ := t.render([]object{user, answer, next}, "add_generation_prompt", false)
		f.stop(firstTag(after(text, wordText)))
	}
	if f.calls {
		t.callEnds()
	}
	f.closings = slices.Clone(f.stops)
	t.within()
	if tag := lastTag(f.end); tag != "" && !slices.Contains(f.closings, tag) {
		f.closings = append(f.closings, tag)
	}
	f.pure = true
	for _, ms := range [][]object{{user}, {user, answer, next}, t.loop("", t.args())} {
		without, ok := t.render(ms, "add_generation_prompt", false)
		text, also := t.render(ms, "add_generation_prompt", true)
		if ok && also && !strings.HasPrefix(text, without) {
			f.pure = false
		}
	}
}

// within keeps from the stops what also stands behind the reasoning of an
// answer: a model that stopped there would never say what it thought of.
func (t *trial) within() {
	f := t.f
	if f.reasoning == "" || f.reasoning == inlineReasoning || f.reasoning == partReasoning {
		return
	}
	ms := []object{t.say(turn.User, wordUser), with(t.say(turn.Assistant, wordText), f.reasoning, wordThink)}
	out, ok := t.render(ms, t.thoughtful()...)
	from, to := strings.Index(out, wordThink), strings.LastIndex(out, wordText)
	if ok && from >= 0 && to > from {
		f.stops = slices.DeleteFunc(f.stops, func(s string) bool { return strings.Contains(out[from:to], s) })
	}
}

// callEnds finds what ends an answer that calls. What also stands between two
// calls does not.
func (t *trial) callEnds() {
	f := t.f
	text := any("")
	if f.nullContent {
		text = nil
	}
	ms := t.loop(text, t.args())
	tail := t.tail(ms[:2], 1, wordValue)
	if len(f.stops) == 0 || f.end == "" {
		out, _ := t.render(ms, "add_generation_prompt", false)
		if at := after(out, wordValue); strings.HasPrefix(at, tail) {
			f.stop(firstTag(at[len(tail):]))
		}
		return
	}
	tag := lastTag(tail)
	if !f.oneCall {
		ms[1]["tool_calls"] = append(ms[1]["tool_calls"].([]object), called(shortID("2"), wordTool2, t.args()))
		out, _ := t.render(ms[:2], "add_generation_prompt", false)
		from, to := strings.Index(out, wordValue), strings.LastIndex(out, wordTool2)
		if from >= 0 && to > from && strings.Contains(out[from:to], tag) {
			return
		}
	}
	f.stop(tag)
}

// stop adds a text to those that end an answer.
func (f *facts) stop(tag string) {
	if tag != "" && !strings.Contains(tag, wordResult) && !slices.Contains(f.stops, tag) {
		f.stops = append(f.stops, tag)
	}
}

// tail is what is printed of message i after the last of a word, when no
// answer is asked for.
func (t *trial) tail(ms []object, i int, word string) string {
	text, ok := t.render(ms, "add_generation_prompt", false)
	if !ok {
		return ""
	}
	if at := spanOf(&t.memo, i); at.Start >= 0 {
		text = text[at.Start:at.End]
	}
	return after(text, word)
}

// after is what stands behind the last of a word.
func after(text, word string) string {
	i := strings.LastIndex(text, word)
	if i < 0 {
		return ""
	}
	return text[i+len(word):]
}

// lastTag is the last mark of a text: what is in angle brackets at its end,
// else what stands behind the last white space or bracket.
func lastTag(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasSuffix(s, ">") {
		return s[max(strings.LastIndexByte(s, '<'), 0):]
	}
	return s[strings.LastIndexAny(s, "> \t\n")+1:]
}

// firstTag is the mark at the start of a text, "" if it begins with none.
func firstTag(s string) string {
	s = strings.TrimSpace(s)
	for _, pair := range []string{"<>", "[]"} {
		if end := strings.IndexByte(s, pair[1]); end > 0 && s[0] == pair[0] {
			return s[:end+1]
		}
	}
	return ""
}
