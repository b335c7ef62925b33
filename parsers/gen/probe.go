package gen

import (
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// Probe is an answer of known content, as the template prints it.
type Probe struct {
	Name      string
	Tail      string // what the prompt ends with
	Text      string // what a model writes for it
	Content   string
	Reasoning string
	Calls     []ProbeCall
}

// ProbeCall is a call that was put in.
type ProbeCall struct {
	Name string
	Args string // JSON
}

// said is what a probe says.
type said struct {
	name    string
	content bool
	thought bool
	calls   []call
}

// hostile are texts that formats use for their own ends.
const hostile = "a </parameter> b </arg_value> c </tool_call> d <|tool_call> e [TOOL_CALLS] f <function=x> g </think> h {\"k\": [1,2]} i ``` j 'q' \\ k"

// everything that is probed of a model with calls.
func sayings() []said {
	args := func(pairs ...string) string { return "{" + strings.Join(pairs, ", ") + "}" }
	pair := func(key, value string) string { return quoted(key) + ": " + value }
	one := func(args string) []call { return []call{{toolOne, args}} }
	text := pair(keyOne, quoted("Par is"))
	return []said{
		{name: "text", content: true},
		{name: "text after reasoning", content: true, thought: true},
		{name: "call", calls: one(args(text))},
		{name: "text and call", content: true, calls: one(args(text))},
		{name: "reasoning and call", thought: true, calls: one(args(text))},
		{name: "all three", content: true, thought: true, calls: one(args(text))},
		{name: "types", calls: one(args(text, pair("kvcount", "5"), pair("kvratio", "0.5"), pair("kvflag", "true"),
			pair("kvmap", `{"kvin": "v", "kvdeep": {"kvnum": 3}}`), pair("kvlist", `["x", "y z"]`)))},
		{name: "false and negative", calls: one(args(pair(keyOne, `"x"`), pair("kvcount", "-7"), pair("kvratio", "-12.5"), pair("kvflag", "false")))},
		{name: "rows", calls: one(args(pair("kvrows", `[{"kvin": "a"}, {"kvin": "b"}]`)))},
		{name: "code", calls: one(args(pair("kvcode", quoted("if a < b:\n    print(\"é\\n\")  # it's & ok\n"))))},
		{name: "numbers as text", calls: one(args(pair("kvtext", `"007"`), pair("kvmark", `"true"`)))},
		{name: "JSON as text", calls: one(args(pair("kvtext", quoted(`{"a": 1}`))))},
		{name: "empty text", calls: one(args(pair("kvtext", `""`), pair("kvmark", `"q"`)))},
		{name: "no arguments", calls: one("{}")},
		{name: "two", calls: []call{{toolOne, args(pair(keyOne, `"a"`))}, {toolTwo, args(pair(keyTwo, `"b"`))}}},
		{name: "two of one tool", calls: []call{{toolOne, args(pair(keyOne, `"a"`))}, {toolOne, args(pair(keyOne, `"b"`))}}},
		{name: "hostile text", calls: one(args(pair("kvtext", quoted(hostile)), pair("kvmark", `"q"`)))},
		{name: "quotes", calls: one(args(pair("kvtext", quoted(`say "hi" to 'me', {now}: [x]`)), pair(keyOne, `"q"`)))},
	}
}

// probes renders everything that the template can print.
func (t *trial) probes(m *manner, f frame, th *thinker, r *parsers.Reasoning, calls bool) (all []Probe) {
	vars := t.thinkingVars()
	on := vars[len(vars)-1]
	prompt, _ := t.render([]message{user(wordUser)}, calls, true, on)
	thinking := "" // what stands before a thought
	for _, s := range sayings() {
		if len(s.calls) > 0 && !calls || s.thought && r == nil {
			continue
		}
		p, ok := t.probe(m, f, th, r, s, prompt, on)
		if !ok {
			continue
		}
		if s.thought && len(s.calls) == 0 {
			thinking, _, _ = strings.Cut(p.Text, wordThink)
		}
		if before, _, found := strings.Cut(p.Text, wordText); found && len(s.calls) > 0 && !s.thought && thinking != "" && before == thinking {
			p.Content, p.Reasoning = "", wordText // text beside calls is printed as a thought
		}
		all = append(all, p)
	}
	return all
}

// probe renders one.
func (t *trial) probe(m *manner, f frame, th *thinker, r *parsers.Reasoning, s said, prompt string, on []variable) (Probe, bool) {
	p := Probe{Name: s.name}
	var content any = ""
	if s.content {
		content, p.Content = wordText, wordText
	} else if m.say == nil && len(s.calls) > 0 {
		content = nil
	}
	answer := m.answer(content, s.calls...)
	if s.thought {
		if th != nil {
			th.give(answer, wordThink)
		}
		p.Reasoning = wordThink
	}
	if s.content && len(s.calls) > 0 && !m.printed {
		return p, false
	}
	full, ok := t.render([]message{user(wordUser), answer}, len(s.calls) > 0 || strings.Contains(prompt, toolOne), false, on)
	if !ok {
		return p, false
	}
	text, tailed, _ := f.turn(f.cutEpilogue(full), prompt, p.Reasoning, r)
	if p.Text = text; tailed {
		p.Text = strings.TrimPrefix(text, f.role) // that the prompt should have ended with
		p.Tail = lastOf(prompt, 80)
	}
	if p.Content != "" && !strings.Contains(p.Text, p.Content) {
		p.Content = ""
	}
	if p.Reasoning != "" && !strings.Contains(p.Text, p.Reasoning) {
		return p, false // this one is not printed: the other probes say the same
	}
	for _, c := range s.calls {
		if strings.Count(p.Text, c.name) < count(s.calls, c.name) {
			return p, false
		}
		p.Calls = append(p.Calls, ProbeCall{c.name, c.args})
	}
	return p, true
}

// count counts the calls of a tool.
func count(calls []call, name string) (n int) {
	for _, c := range calls {
		if c.name == name {
			n++
		}
	}
	return n
}

// turn cuts out what a model writes: what follows the prompt, up to the end
// token. A prompt that opens reasoning which the history leaves out is taken as
// it is: thought is then put in front. Where the rendering does not begin with
// the prompt, it is what follows the question and is not the head; then nothing
// is known of the prompt's end.
func (f frame) turn(full, prompt, thought string, r *parsers.Reasoning) (text string, tailed, added bool) {
	rest, tailed := strings.CutPrefix(full, prompt)
	if !tailed && r != nil && len(r.Open) > 0 {
		before, open := strings.CutSuffix(strings.TrimSpace(prompt), r.Open[0])
		behind, here := strings.CutPrefix(full, strings.TrimRight(before, " \n"))
		if open && here {
			if behind = strings.TrimLeft(behind, "\n"); !strings.HasPrefix(behind, r.Close[0]) {
				behind, added = thought+r.Close[0]+"\n\n"+behind, true
			}
			rest, tailed = behind, true
		}
	}
	if n := common(full, prompt); !tailed && r != nil && r.Always && n > strings.LastIndex(prompt, wordUser) {
		rest, tailed = full[n:], true // the prompt opens reasoning with words that the history leaves out
	}
	if !tailed {
		rest = tail(full, wordUser)
		n := common(rest, f.head)
		rest = rest[len(wholeTags(rest[:n], rest)):]
	}
	if r != nil && !strings.Contains(rest, r.Close[0]) && (r.Always || tailed && strings.HasSuffix(strings.TrimSpace(prompt), r.Open[0])) {
		rest, added = thought+r.Close[0]+"\n\n"+rest, true // a prompt in reasoning, and an answer behind it
	}
	return f.cutStops(rest), tailed, added
}

// cutStops takes off the tokens that end a turn and what follows them.
func (f frame) cutStops(s string) string {
	for again := true; again; {
		again = false
		for _, stop := range f.stops {
			i := strings.LastIndex(s, stop)
			if i >= 0 && !tells(s[i+len(stop):]) {
				s, again = s[:i], true
			}
		}
	}
	return s
}

// tells reports whether a text holds something of an answer.
func tells(s string) bool {
	for _, w := range []string{wordText, wordThink, toolOne, toolTwo} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return strings.ContainsAny(s, "{}")
}

// lastOf are the last bytes of a text, whole characters.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && s[i]&0xC0 == 0x80 {
		i++
	}
	return s[i:]
}
