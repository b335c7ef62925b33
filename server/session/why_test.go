package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures/talk"
	"github.com/agentinfer/dyn/prompt/diff"
)

// TestCauses changes a conversation in every way that a client does, in each
// dialect: the cause is named, with the message and field it came from.
func TestCauses(t *testing.T) {
	m := forgetfulModel(t)
	system := func(old, new string) func(*talk.Talk) {
		return func(c *talk.Talk) { c.System[1] = strings.Replace(c.System[1], old, new, 1) }
	}
	for _, x := range []struct {
		name    string
		first   func(*talk.Talk) // before both
		change  func(*talk.Talk)
		kind    diff.Kind
		message int
		field   string
		words   string // of what stands there now
	}{
		{"a clock", nil, system("12:00:41", "12:07:02"), diff.Clock, 0, diff.FieldText, "12:07:02"},
		{"an attribution line within", system("code.\n", "code.\nx-anthropic-billing-header: cch=9f2ab;\n"), system("9f2ab", "41a00"), diff.Attribution, 0, diff.FieldText, "41a00"},
		{"another folder", nil, system("payments", "dyn"), diff.Folder, 0, diff.FieldText, "src/dyn"},
		{"a number", nil, system("8f21", "8f22"), diff.Value, 0, diff.FieldText, "8f22"},
		{"another system text", nil, system("careful", "careless"), diff.System, 0, diff.FieldText, "careless"},
		{"tools in another order", nil, func(c *talk.Talk) { slices.Reverse(c.Tools) }, diff.ToolOrder, -1, diff.FieldOrder, "run"},
		{"one more tool", nil, func(c *talk.Talk) { c.Tools = append(c.Tools, "late=Comes late.") }, diff.ToolAdded, -1, diff.FieldAdded, "late"},
		{"one tool less", nil, func(c *talk.Talk) { c.Tools = c.Tools[:2] }, diff.ToolRemoved, -1, diff.FieldRemoved, ""},
		{"another tool", nil, func(c *talk.Talk) { c.Tools[1] = "edit=Edits files." }, diff.ToolChanged, -1, diff.FieldDescription, "edit"},
		{"a summary", nil, func(c *talk.Talk) {
			c.Said = []talk.Step{{Role: "user", Text: "This session is being continued from a previous conversation that ran out of context. It was about files."}, {Role: "user", Text: "Go on."}}
		}, diff.Compaction, 1, diff.FieldText, "This session"},
		{"a summary of one turn", func(c *talk.Talk) { c.Said = c.Said[:1] }, func(c *talk.Talk) {
			c.Said[0].Text = "This session is being continued from a previous conversation that ran out of context. It was about files."
		}, diff.Compaction, 1, diff.FieldText, "This session"},
		{"a summary of one turn, and more", func(c *talk.Talk) { c.Said = c.Said[:1] }, func(c *talk.Talk) {
			c.Said = []talk.Step{
				{Role: "user", Text: "What did we do so far?"},
				{Role: "assistant", Text: "We looked at files."},
				{Role: "user", Text: "Go on."},
			}
		}, diff.Compaction, 1, diff.FieldText, "did we do"},
		{"a summary of a summary", func(c *talk.Talk) {
			c.Said[0].Text = "This session is being continued from a previous conversation that ran out of context. It was about files."
		}, func(c *talk.Talk) {
			c.Said = []talk.Step{{Role: "user", Text: "This session is being continued from a previous conversation that ran out of context. It was about two files."}, {Role: "user", Text: "Go on."}}
		}, diff.Compaction, 1, diff.FieldText, "two files"},
		{"a word of a summary", func(c *talk.Talk) {
			c.Said[0].Text = "This session is being continued from a previous conversation that ran out of context. It was about files."
		}, func(c *talk.Talk) { c.Said[0].Text = strings.Replace(c.Said[0].Text, "about files", "about lines", 1) }, diff.Edited, 1, diff.FieldText, "lines"},
		{"an edited question", nil, func(c *talk.Talk) { c.Said[0].Text = "What is in the files of that folder?" }, diff.Edited, 1, diff.FieldText, "that folder"},
		{"an edited result", nil, func(c *talk.Talk) { c.Said[2].Text = strings.Replace(c.Said[2].Text, "add", "sub", 3) }, diff.Edited, 3, diff.FieldText, "sub"},
		{"edited arguments", nil, func(c *talk.Talk) { c.Said[1].Args = `{"at": "b.go"}` }, diff.Edited, 2, diff.FieldArgs, "b.go"},
		{"an edited answer", nil, func(c *talk.Talk) { c.Said[3].Text = "It adds three numbers." }, diff.Edited, 4, diff.FieldText, "three"},
		{"another way from there", nil, func(c *talk.Talk) {
			c.Said = append(c.Said[:2:2], talk.Step{Role: "tool", Call: "call_1", Text: "no such file"})
			c.Said[0].Text = "Begin anew, with another plan."
		}, diff.Edited, 1, diff.FieldText, "Begin anew"},
		{"taken back", nil, func(c *talk.Talk) {
			c.Said = append(c.Said[:0:0], talk.Step{Role: "user", Text: "Something else, please."})
		}, diff.Rewound, 1, diff.FieldText, "Something"},
		{"another effort", func(c *talk.Talk) { c.Effort = "low" }, func(c *talk.Talk) { c.Effort = "high" }, diff.Effort, -1, diff.FieldEffort, "high"},
	} {
		for _, d := range talk.Dialects {
			f := newFront(t, m, d)
			c := talk.Usual()
			if x.first != nil {
				x.first(&c)
			}
			was := f.ask("s1", c)
			now := c.Clone()
			x.change(&now)
			b := f.ask("s1", now)
			if b.Break == nil {
				t.Errorf("%s, %s: no break", d, x.name)
				continue
			}
			got := *b.Break
			if got.Kind != x.kind || got.Message != x.message || got.Field != x.field {
				t.Errorf("%s, %s: %+v %+v", d, x.name, got, got.Text)
			}
			if text := got.Text.Now + got.Text.Tool; !strings.Contains(text, x.words) {
				t.Errorf("%s, %s: %q is not in %q", d, x.name, x.words, text)
			}
			checkToken(t, was, b)
		}
	}
}

// checkToken holds a break's token against the ids.
func checkToken(t *testing.T, was, b Built) {
	t.Helper()
	old, now := was.IDs.Flat(), b.IDs.Flat()
	n := 0
	for n < min(len(old), len(now)) && old[n] == now[n] {
		n++
	}
	if x := b.Break; x.Token != n || x.Held < len(old) || x.Again < 0 || x.Again > len(now)-n {
		t.Errorf("%+v: the first token that differs is %d of %d and %d", x, n, len(old), len(now))
	}
}

// TestNoCause plays the conversation as clients do: what they vary at will, and
// what is only more of it, breaks nothing.
func TestNoCause(t *testing.T) {
	for _, d := range talk.Dialects {
		f := newFront(t, simModel(t), d)
		c := talk.Usual()
		c.Said[1].Thinking = ""
		all := c.Said
		for n := 1; n <= len(all); n++ {
			for again := range 2 { // each is sent twice, as after a lost answer
				now := c.Clone()
				now.Said = now.Said[:n]
				now.Said[n-1].Leased = true
				now.System[0] = "x-anthropic-billing-header: cc_version=2.1.150.9d8; cch=" + string(rune('a'+n)) + "9;"
				for i := range now.Said {
					if now.Said[i].Call != "" {
						now.Said[i].Call += string(rune('a' + n)) // named anew each time
					}
				}
				if n > 1 && now.Said[n-1].Role == "assistant" {
					continue
				}
				b := f.ask("s1", now)
				if b.Break != nil {
					t.Errorf("%s, %d messages, time %d: %+v %+v", d, n, again, b.Break, b.Break.Text)
				}
				if n < len(all) && all[n].Role == "assistant" {
					f.answer(b, all[n])
				}
			}
		}
		back := c.Clone()
		back.Said = back.Said[:1]
		if b := f.ask("s1", back); b.Break != nil { // taken back, and nothing said
			t.Errorf("%s: %+v", d, b.Break)
		}
	}
}

// TestThinkingDropped: reasoning that the template prints no more once the user
// has spoken, and reasoning that the client does not send back where the
// model's own answer is not known any more.
func TestThinkingDropped(t *testing.T) {
	for _, d := range talk.Dialects {
		f := newFront(t, forgetfulModel(t), d)
		c := talk.Usual()
		c.System = c.System[1:]
		turns := c.Said
		at := func(n int, more ...talk.Step) Built {
			now := c.Clone()
			now.Said = append(slices.Clone(turns[:n]), more...)
			return f.ask("s1", now)
		}
		b := at(1)
		f.answer(b, turns[1])
		if b = at(3); b.Break != nil {
			t.Errorf("%s: within the loop %+v", d, b.Break)
		}
		f.answer(b, turns[3])
		b = at(5)
		if x := b.Break; x == nil || x.Kind != diff.Thinking || x.Message != 2 || x.Field != diff.FieldThinking || x.Again == 0 {
			t.Errorf("%s: the template drops it: %+v", d, x)
		}

		f = newFront(t, forgetfulModel(t), d)
		at(3)
		turns = slices.Clone(turns)
		turns[1].Thinking = ""
		if x := at(3, talk.Step{Role: "assistant", Text: "So."}, talk.Step{Role: "tool", Call: "call_1", Text: "more"}).Break; x == nil || x.Kind != diff.Thinking || x.Message != 2 || x.Field != diff.FieldThinking {
			t.Errorf("%s: the client drops it: %+v", d, x)
		}
	}
}

// TestEditedAnswer: the model's last answer comes back in other words.
func TestEditedAnswer(t *testing.T) {
	for _, d := range talk.Dialects {
		f := newFront(t, simModel(t), d)
		c := talk.Usual()
		c.Said = c.Said[:1]
		b := f.ask("s1", c)
		f.answer(b, talk.Step{Text: "It holds three words and no more."})
		c.Said = append(c.Said, talk.Step{Role: "assistant", Text: "It holds three lines and no more."}, talk.Step{Role: "user", Text: "Well?"})
		now := f.ask("s1", c)
		if x := now.Break; x == nil || x.Kind != diff.Edited || x.Message != 2 || x.Field != diff.FieldText || x.Token < b.IDs.Len()-len(b.Opening) || !strings.Contains(x.Text.Was, "words") || !strings.Contains(x.Text.Now, "lines") {
			t.Errorf("%s: %+v", d, x)
		}
	}
}

// TestAnotherSession: sessions of one harness in two folders share less than
// they could, and that is told with the first turn; other questions are not.
func TestAnotherSession(t *testing.T) {
	for _, d := range talk.Dialects {
		f := newFront(t, simModel(t), d)
		first := talk.Usual()
		first.Said = first.Said[:1]
		if b := f.ask("s1", first); b.Break != nil {
			t.Errorf("%s: nobody was before, %+v", d, b.Break)
		}
		same := first.Clone()
		same.Said[0].Text = "Another question 2"
		if b := f.ask("s2", same); b.Break != nil {
			t.Errorf("%s: the same folder: %+v", d, b.Break)
		}
		other := same.Clone()
		other.System[1] = strings.Replace(other.System[1], "payments", "dyn", 1)
		if x := f.ask("s3", other).Break; x == nil || x.Kind != diff.Folder || x.Message != 0 || x.Other != "s2/main" || x.Again == 0 {
			t.Errorf("%s: another folder: %+v", d, x)
		}
	}
}

// TestNamelessClock: a client that names no session, whose system text has a
// clock, begins a session with every turn; the clock is named all the same.
func TestNamelessClock(t *testing.T) {
	for _, d := range talk.Dialects {
		f := newFront(t, simModel(t), d)
		c := talk.Usual()
		all := c.Said
		for i, n := range []int{1, 3, 5} {
			c.Said = all[:n]
			c.System[1] = strings.Replace(c.System[1], "12:00:4", "12:00:5", 1)
			if i == 2 {
				c.System[1] = strings.Replace(c.System[1], "12:00:5", "12:01:0", 1)
			}
			if i == 1 {
				c.System[1] = strings.Replace(c.System[1], "12:00:51", "12:00:59", 1)
			}
			x := f.ask("", c).Break
			if (x == nil) != (i == 0) || x != nil && (x.Kind != diff.Clock || x.Message != 0 || x.Other == "") {
				t.Errorf("%s, turn %d: %+v", d, i, x)
			}
		}
	}
}

// TestAfterTooLong: a prompt that is refused for its length is none that the next
// one is told from; that is the one before, with the answer to it.
func TestAfterTooLong(t *testing.T) {
	for _, d := range talk.Dialects {
		f := newFront(t, simModel(t), d)
		c := talk.Usual()
		was := f.ask("s1", c)
		f.answer(was, talk.Step{Text: "It does not take away."})
		c.Said = append(c.Said, talk.Step{Role: "assistant", Text: "It does not take away."})
		f.most = was.IDs.Len() + 50
		long := c.Clone()
		long.Said = append(long.Said, talk.Step{Role: "user", Text: strings.Repeat("And what else is there? ", 100)})
		for range 2 {
			if b := f.ask("s1", long); b.Break != nil || b.IDs.Len() <= f.most {
				t.Errorf("%s: too long: %+v", d, b.Break)
			}
		}
		goesOn := c.Clone()
		goesOn.Said = append(goesOn.Said, talk.Step{Role: "user", Text: "Why?"})
		b := f.ask("s1", goesOn)
		if b.Break != nil {
			t.Errorf("%s: it only goes on: %+v %+v", d, b.Break, b.Break.Text)
		}
		f.ask("s1", long)
		summed := c.Clone()
		summed.Said = []talk.Step{{Role: "user", Text: "This session is being continued from a previous conversation that ran out of context. It was about files."}}
		x := f.ask("s1", summed).Break
		if x == nil || x.Kind != diff.Compaction || x.Message != 1 || x.Held != b.IDs.Len() {
			t.Errorf("%s: %+v, want a summary in message 1 of %d tokens", d, x, b.IDs.Len())
		}
	}
}
