package gen

import (
	"regexp"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// thoughtFields are the names under which templates read reasoning.
var thoughtFields = []string{"reasoning_content", "reasoning", "thinking", "thought", "tool_plan"}

// switchValues are the values that switches of thinking are tried with.
var switchValues = map[string][]any{
	"enable_thinking": {true, false}, "thinking": {true, false}, "reasoning": {true, false}, "add_thoughts": {true, false},
	"thinking_mode":    {"enabled", "disabled", "adaptive"},
	"reasoning_effort": {"none", "low", "medium", "high", "max", "no_think"},
	"thinking_effort":  {"low", "high"}, "thinking_budget": {0, 512},
}

// mode is one setting of the switches of thinking.
type mode struct {
	name string // "default", else name=value
	vars []variable
	tail string // what a prompt ends with: the difference that asking for an answer makes
}

// modes are the settings that change the prompt's end, the default first.
func (t *trial) modes() []mode {
	all := []mode{{name: "default"}}
	for _, name := range t.jinja.Names() {
		for _, v := range switchValues[name] {
			all = append(all, mode{name: name + "=" + show(v), vars: []variable{{name, v}}})
		}
	}
	var kept []mode
	for _, m := range all {
		with, ok1 := t.render([]message{user(wordUser)}, false, true, m.vars)
		without, ok2 := t.render([]message{user(wordUser)}, false, false, m.vars)
		if !ok1 {
			continue
		}
		if m.tail = with; ok2 {
			m.tail = with[common(with, without):]
		}
		kept = append(kept, m)
	}
	return kept
}

// thinker is a way in which messages hold reasoning: under a field, or as a
// part of the content.
type thinker struct {
	field string
	give  func(message, string)
}

func thinkers() []thinker {
	all := make([]thinker, 0, len(thoughtFields)+1)
	for _, field := range thoughtFields {
		all = append(all, thinker{field, func(m message, thought string) { m[field] = thought }})
	}
	return append(all, thinker{"content", func(m message, thought string) {
		m["content"] = []message{{"type": "thinking", "thinking": thought}, {"type": "text", "text": m["content"]}}
	}})
}

// thought derives the reasoning part; nil where the template prints none and
// no prompt opens it. What stands between reasoning and text goes to absorb.
func (t *trial) thought(m *manner, f frame, modes []mode) (r *parsers.Reasoning, by *thinker, absorb parsers.Marks) {
	for _, th := range thinkers() {
		for _, vars := range append(t.thinkingVars(), []variable{{"reasoning_effort", "high"}}) {
			for _, called := range []bool{false, true} {
				said, word, ok := t.thinks(m, th, vars, called)
				if !ok {
					continue
				}
				open, rest, _ := strings.Cut(said, wordThink)
				shut, _, _ := strings.Cut(rest, word)
				r := &parsers.Reasoning{Field: th.field, Open: f.opener(open), Close: firstMark(shut)}
				if len(r.Close) == 0 {
					continue
				}
				if behind := strings.TrimSpace(shut[strings.Index(shut, r.Close[0])+len(r.Close[0]):]); !called && behind != "" {
					absorb = chunks(behind, f.tail)
				}
				r.Tails = tails(modes)
				r.Always = len(r.Open) == 0
				r.History = t.history(m, th, vars)
				return r, &th, absorb
			}
		}
	}
	for _, m := range modes { // the history drops it, the prompt opens it
		for _, pair := range [][2]string{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}} {
			if strings.HasSuffix(strings.TrimSpace(m.tail), pair[0]) {
				return &parsers.Reasoning{
					Open: parsers.Marks{pair[0]}, Close: parsers.Marks{pair[1]}, Tails: tails(modes),
					History: parsers.History{AfterUser: "dropped", InLoop: "dropped"},
				}, nil, nil
			}
		}
	}
	return nil, nil, nil
}

// thinks renders an answer with reasoning, beside text or before a call, and
// returns it with the word that follows the reasoning.
func (t *trial) thinks(m *manner, th thinker, vars []variable, called bool) (said, word string, ok bool) {
	answer, word := message{"role": "assistant", "content": wordText}, wordText
	chat := []message{user(wordUser), answer}
	if called {
		answer, word = m.answer("", one(keyOne, quoted(wordOne))), toolOne
		chat = []message{user(wordUser), answer, result(m.id(toolOne, 0))}
	}
	th.give(answer, wordThink)
	out, ok := t.render(chat, called, false, vars)
	said = tail(out, wordUser)
	return said, word, ok && inOrder(said, wordThink, word) && !strings.Contains(said, `'thinking'`) && !strings.Contains(said, `"thinking"`)
}

// opener is the marker that opens reasoning, of what stands before it: what an
// answer without reasoning does not begin with, or begins with as an empty
// thought.
func (f frame) opener(open string) parsers.Marks {
	n := common(open, f.head)
	own := open[len(wholeTags(open[:n], open)):]
	if strings.TrimSpace(own) != "" {
		return lastMark(own)
	}
	last := lastMark(open)
	if len(last) == 0 {
		return nil
	}
	_, behind, found := strings.Cut(f.head, last[0])
	if found && strings.HasPrefix(strings.TrimSpace(behind), "<") {
		return last
	}
	return nil
}

// chunks splits a row of markers: each tag with the word behind it, or with a
// tail all up to it.
func chunks(s, tail string) (all parsers.Marks) {
	if tail == "" {
		return taggedWord.FindAllString(s, -1)
	}
	for _, c := range strings.SplitAfter(s, tail) {
		all = append(all, mark(c)...)
	}
	return all
}

var taggedWord = regexp.MustCompile(`(<[^<>]+>|\[[A-Z_/]+\])[^<>\[\]\s]*`)

// tails are the ends of prompts by mode, those that differ from the default.
func tails(modes []mode) map[string]string {
	all := map[string]string{}
	for _, m := range modes {
		if m.name == "default" || m.tail != all["default"] {
			all[m.name] = m.tail
		}
	}
	return all
}

// history finds what becomes of the reasoning of earlier turns.
func (t *trial) history(m *manner, th thinker, vars []variable) (h parsers.History) {
	word := func(there bool) string {
		if there {
			return "kept"
		}
		return "dropped"
	}
	answer := message{"role": "assistant", "content": wordText}
	th.give(answer, wordThink)
	old := []message{user(wordUser), answer, user(wordUser2)}
	out, ok := t.render(old, false, false, vars)
	if !ok {
		return h
	}
	kept := strings.Contains(out, wordThink)
	h.AfterUser = word(kept)
	called := m.answer("", one("kvtext", `"qtplainy"`))
	th.give(called, wordThink)
	if out, ok := t.render([]message{user(wordUser), called, result(m.id(toolOne, 0))}, true, false, vars); ok {
		h.InLoop = word(strings.Contains(out, wordThink))
	}
	for _, name := range t.jinja.Names() {
		if _, known := switchValues[name]; known || notSwitches[name] {
			continue
		}
		for _, v := range []bool{true, false} {
			out, ok := t.render(old, false, false, append(vars[:len(vars):len(vars)], variable{name, v}))
			if ok && strings.Contains(out, wordThink) != kept {
				h.Flag = name + "=" + show(v)
			}
		}
	}
	return h
}

// notSwitches are names of templates that are no switches.
var notSwitches = map[string]bool{
	"messages": true, "tools": true, "add_generation_prompt": true, "bos_token": true, "eos_token": true,
	"raise_exception": true, "strftime_now": true, "namespace": true, "range": true, "dict": true, "loop": true,
	"message": true, "content": true, "reasoning_content": true, "tool": true, "tool_call": true,
}

// result is a tool's answer.
func result(id string) message {
	return message{"role": "tool", "tool_call_id": id, "name": toolOne, "content": wordResult}
}

// lastMark is the marker that a text ends with: from its last tag's beginning,
// with a word behind it where one belongs to it.
func lastMark(s string) parsers.Marks {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexAny(s, "\n"); i >= 0 {
		s = s[i+1:]
	}
	if i := strings.LastIndexAny(s, "<[◁"); i > 0 {
		for i > 0 && s[i]&0xC0 == 0x80 {
			i--
		}
		if j := strings.LastIndex(s[:i], "<|"); strings.HasPrefix(s[i:], "<|") && j >= 0 && strings.Trim(s[j:i], "<|>_abcdefghijklmnopqrstuvwxyz") == "" && !strings.HasSuffix(s[:i], "|>") {
			i = j // a word between two marks belongs to them
		}
		s = s[i:]
	}
	return mark(s)
}

// firstMark is the marker that a text begins with.
func firstMark(s string) parsers.Marks {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, ">]▷"); i >= 0 {
		end := i + 1
		if strings.HasPrefix(s[i:], "▷") {
			end = i + len("▷")
		}
		// a word and another mark behind an opening one belong to it
		if rest := s[end:]; strings.HasPrefix(s, "<|close|>") || strings.HasPrefix(s, "<|open|>") {
			if j := strings.Index(rest, "|>"); j >= 0 {
				end += j + len("|>")
			}
		}
		s = s[:end]
	}
	return mark(s)
}

// show is a value as people write it.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		if v {
			return "true"
		}
		return "false"
	case int:
		return digitsOf(v)
	}
	return ""
}
