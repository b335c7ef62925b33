package gen

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// manner is how a template has to be asked, so that it prints calls.
type manner struct {
	text    bool       // arguments as JSON text, not as an object
	say     any        // content beside calls: wordText, "" or nil
	vars    []variable // that turn thinking on
	ids     string     // of calls: "" is opaque, else a form of name and number
	after   bool       // content is printed behind the calls
	printed bool       // content beside calls is printed
}

// thinkingOn are the variables that turn thinking on, with their values.
var thinkingOn = []variable{{"enable_thinking", true}, {"thinking", true}, {"thinking_mode", "enabled"}}

// headerIDs are the forms of ids that templates print in place of a name.
var headerIDs = "functions.%s:%d"

// id is the id of a call in this manner.
func (m *manner) id(name string, i int) string {
	if m.ids != "" {
		return fmt.Sprintf(m.ids, name, i)
	}
	return [...]string{idOne, idTwo}[i%2]
}

// answer is an assistant's message with calls.
func (m *manner) answer(content any, calls ...call) message {
	said := message{"role": "assistant", "content": content}
	if len(calls) == 0 {
		return said
	}
	list := make([]message, len(calls))
	for i, c := range calls {
		var args any = json.RawMessage(c.args)
		if m.text {
			args = c.args
		}
		list[i] = message{
			"id": m.id(c.name, i), "type": "function",
			"function": message{"name": c.name, "arguments": args},
		}
	}
	said["tool_calls"] = list
	return said
}

// one is a call of the first tool with one argument.
func one(key, value string) call {
	return call{toolOne, "{" + quoted(key) + ": " + value + "}"}
}

// quoted is a text as JSON, without HTML escaping.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// ask finds the manner in which the template prints a call whole. It reports
// whether there is one.
func (t *trial) ask() (*manner, bool) {
	for _, t.tools = range toolForms() {
		for _, ids := range []string{"", headerIDs} {
			for _, vars := range t.thinkingVars() {
				if m, ok := t.prints(ids, vars); ok {
					return m, true
				}
			}
		}
	}
	t.tools = toolForms()[0]
	return nil, false
}

// prints tries the forms of arguments and of content beside a call.
func (t *trial) prints(ids string, vars []variable) (*manner, bool) {
	for _, text := range []bool{false, true} {
		for _, say := range []any{wordText, "", nil} {
			m := &manner{text: text, say: say, vars: vars, ids: ids}
			out, ok := t.render([]message{user(wordUser), m.answer(say, one(keyOne, quoted(wordOne)))}, true, false, vars)
			said := tail(out, wordUser)
			if !ok || !strings.Contains(said, toolOne) || !strings.Contains(said, wordOne) {
				continue
			}
			if text && strings.Contains(said, `\"`+keyOne) {
				continue // text is quoted once more: it wants an object
			}
			at, name := strings.Index(said, wordText), strings.Index(said, toolOne)
			m.printed = at >= 0
			m.after = at > name
			return m, true
		}
	}
	return nil, false
}

// printsID reports whether the id of a call is printed, where it is not made
// of the name.
func (t *trial) printsID(m *manner) bool {
	out, _ := t.render([]message{user(wordUser), m.answer(m.say, one(keyOne, quoted(wordOne)))}, true, false, m.vars)
	return m.ids == "" && strings.Contains(out, idOne)
}

// thinkingVars are none, and all that turn thinking on and are read.
func (t *trial) thinkingVars() [][]variable {
	var on []variable
	for _, v := range thinkingOn {
		if t.asks(v.name) {
			on = append(on, v)
		}
	}
	if on == nil {
		return [][]variable{nil}
	}
	return [][]variable{nil, on}
}

// frame is what stands around an answer: between the question and its text,
// and behind it.
type frame struct {
	head  string
	end   string   // the end token and what follows, of an answer that is the last message
	stop  string   // the end token
	stops []string // it, and others that end turns
	role  string   // words with a colon behind the head's last tag: "Assistant:"; mostly ""
	after string   // what ends every rendering, whoever spoke last, behind the end token; mostly ""
	tail  string   // a tag that ends other tags: <|sep|> of <|open|>think<|sep|>; mostly ""
}

// framed finds the frame, by an answer without calls.
func (t *trial) framed(m *manner) frame {
	for _, tools := range []bool{true, false} {
		out, ok := t.render([]message{user(wordUser), m.answer(wordText)}, tools, false, m.vars)
		if !ok {
			continue
		}
		after := t.epilogue(out, tools, m.vars)
		said := tail(strings.TrimSuffix(out, after), wordUser)
		if head, end, found := strings.Cut(said, wordText); found {
			f := frame{head: head, end: end, after: after}
			if word := strings.TrimSpace(head[strings.LastIndexAny(head, ">]")+1:]); strings.HasSuffix(word, ":") || strings.HasSuffix(word, "：") {
				f.role = word
			}
			if all := tags(end); len(all) > 2 && strings.HasSuffix(strings.TrimSpace(head), all[1]) {
				f.tail = all[1]
			}
			f.bound()
			return f
		}
	}
	return frame{}
}

// epilogue is what ends a rendering behind an answer and behind a question
// alike, from the second tag on: instructions that follow every conversation.
func (t *trial) epilogue(answered string, tools bool, vars []variable) string {
	asked, ok := t.render([]message{user(wordUser)}, tools, false, vars)
	if !ok {
		return ""
	}
	end := answered[len(answered)-commonEnd(answered, asked):]
	all := anyTag.FindAllStringIndex(end, 2)
	if len(all) < 2 || len(strings.Fields(anyTag.ReplaceAllString(end, " "))) < 4 {
		return "" // tokens and a role are none
	}
	return end[all[1][0]:]
}

// cutEpilogue takes off what ends every rendering.
func (f frame) cutEpilogue(s string) string {
	if f.after == "" {
		return s
	}
	return strings.TrimSuffix(s, f.after)
}

// bound leaves of the end what belongs to the turn: up to the token that ends
// the user's turn too, or to what begins the next one, which some templates
// print unasked.
func (f *frame) bound() {
	head, at := chunks(f.head, f.tail), 0
	if len(tags(f.end)) == 0 {
		f.stop = strings.TrimSpace(f.end)
		return
	}
	for _, c := range chunks(f.end, f.tail) {
		i := strings.Index(f.end[at:], c)
		switch {
		case closesText(c) && f.stop == "":

		case len(head) > 0 && c == head[0]:
			f.end, f.stop = f.end[:at+i+len(c)], c
			return
		case slices.Contains(head, c) && f.stop != "":
			f.end = f.end[:at+i]
			return
		}
		at += i + len(c)
		f.stop = c
	}
}

// apart reports whether an answer with text and calls is printed as two turns.
func (t *trial) apart(m *manner, f frame) bool {
	if f.stop == "" {
		return false
	}
	out, _ := t.render([]message{user(wordUser), m.answer(m.say, one(keyOne, quoted(wordOne)))}, true, false, m.vars)
	said := tail(out, wordUser)
	text, called := strings.Index(said, wordText), strings.Index(said, toolOne)
	return text >= 0 && called >= 0 && strings.Contains(said[min(text, called):max(text, called)], f.stop)
}

// stops are the tokens that end a turn: an answer's, one that ends a user's and
// an answer with calls too, and what the model's files say.
func (t *trial) stops(m *manner, f frame, known []string) (all []string) {
	if f.stop != "" {
		all = append(all, f.stop)
	}
	asked, _ := t.render([]message{user(wordUser)}, false, false, nil)
	called, _ := t.render([]message{user(wordUser), m.answer(m.say, one(keyOne, quoted(wordOne)))}, true, false, m.vars)
	behind := tags(tail(called, wordOne))
	prompt, _ := t.render([]message{user(wordUser)}, false, true, nil)
	opening := tags(prompt[common(prompt, asked):]) // of an answer
	if all := tags(f.head); len(opening) == 0 && len(all) > 1 {
		opening = all[1:]
	}
	for _, s := range tags(tail(asked, wordUser)) {
		if slices.Contains(behind, s) && s != f.tail && !strings.HasPrefix(f.stop, s) && !slices.Contains(opening, s) {
			known = append(known, s)
		}
	}
	for _, s := range known {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// closesText reports whether a marker ends text rather than a turn.
func closesText(c string) bool {
	return strings.HasPrefix(c, "</") || strings.HasPrefix(c, "<|close|>") || endsText.MatchString(c)
}

var endsText = regexp.MustCompile(`(?i)end_(text|response|content)`)

// absorbed are the markers between the text and the token that ends a turn.
func (f *frame) absorbed() parsers.Marks {
	all := chunks(f.end, f.tail)
	if len(all) == 0 {
		return nil
	}
	return all[:len(all)-1]
}

// body is what a model writes for calls: the answer without its head and end.
func (t *trial) body(m *manner, f frame, calls ...call) (string, bool) {
	say := m.say
	if m.after {
		say = ""
	}
	out, ok := t.render([]message{user(wordUser), m.answer(say, calls...)}, true, false, m.vars)
	if !ok {
		return "", false
	}
	said := f.cutStops(tail(f.cutEpilogue(out), wordUser))
	if m.printed && !m.after {
		if _, behind, found := strings.Cut(said, wordText); found {
			said = behind
		}
	} else {
		said = f.cutHead(said)
	}
	return f.cutEnd(f.cutText(said)), true
}

// cutHead takes off what every answer begins with: the head, or as much of it
// as stands here, whole markers only.
func (f frame) cutHead(said string) string {
	n := common(said, f.head)
	return emptyThought.ReplaceAllString(said[len(wholeTags(said[:n], said)):], "")
}

// emptyThought is a thought with nothing in it, at the beginning.
var emptyThought = regexp.MustCompile(`^\s*<[^<>]*(?i:think)[^<>]*>\s*<[^<>]*(?i:think)[^<>]*>`)

// cutText takes off what ends the text before calls, where text has an end of
// its own.
func (f frame) cutText(said string) string {
	n := common(said, f.end)
	if cut := wholeTags(said[:n], said); strings.TrimSpace(cut) != "" {
		return said[len(cut):]
	}
	return said
}

// cutEnd takes off the end of an answer, whatever white space is about it.
func (f frame) cutEnd(said string) string {
	end := strings.TrimSpace(f.end)
	if end == "" {
		return said
	}
	if s, ok := strings.CutSuffix(said, f.end); ok {
		return s
	}
	all := tags(end)
	if len(all) == 0 {
		return strings.TrimSuffix(strings.TrimSpace(said), end)
	}
	trimmed := strings.TrimSpace(said)
	if f.tail != "" {
		if n := commonEnd(trimmed, end); n > 0 {
			cut := fromTag(trimmed[len(trimmed)-n:])
			return strings.TrimSuffix(trimmed, strings.TrimPrefix(cut, f.tail))
		}
	}
	cut := len(said)
	for _, tag := range all {
		if i := strings.Index(said, tag); i >= 0 {
			cut = min(cut, i)
		}
	}
	return said[:cut]
}

// tags are the tags of a text, in order.
func tags(s string) []string { return anyTag.FindAllString(s, -1) }

var anyTag = regexp.MustCompile(`<[^<>]+>|\[[A-Z_/]+\]`)

// common is the length of what two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && a[n]&0xC0 == 0x80 { // within a character
		n--
	}
	return n
}

// commonEnd is the length of what two texts end with alike.
func commonEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && a[len(a)-n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// closers are what closes a tag that is opened by the rune.
var closers = map[byte]string{'<': ">", '[': "]"}

// wholeTags shortens a beginning of text so that it does not end inside a tag.
func wholeTags(begin, text string) string {
	i := strings.LastIndexAny(begin, "<[")
	if i < 0 {
		return begin
	}
	c := closers[begin[i]]
	if !strings.Contains(begin[i:], c) && strings.Contains(text[i:], c) {
		return begin[:i]
	}
	return begin
}

// fromTag shortens the end of a text so that it does not begin inside a tag.
func fromTag(end string) string {
	open, shut := strings.Index(end, "<"), strings.Index(end, ">")
	if shut >= 0 && (open < 0 || shut < open) {
		return end[shut+1:]
	}
	return end
}
