package template

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// grown is a page that knows the messages of its last rendering.
type grown struct {
	Page
	last []turn.Message
}

// known is how many messages are as they were.
func (p *grown) known(tn *turn.Turn) (n int) {
	for n < min(len(p.last), len(tn.Messages)) && reflect.DeepEqual(p.last[n], tn.Messages[n]) {
		n++
	}
	return n
}

// agree renders a turn on a page that knows the turns before, and on a new
// one, and compares.
func agree(t interface{ Fatalf(string, ...any) }, name string, tmpl *Template, p *grown, tn *turn.Turn) error {
	before := string(p.Text)
	if p.Known = p.known(tn); len(tn.Messages)%3 == 0 {
		p.Known = p.Known * 2 / 3
	}
	fresh := Page{Now: clock()}
	err, werr := tmpl.Render(&p.Page, tn), tmpl.Render(&fresh, tn)
	if fmt.Sprint(err) != fmt.Sprint(werr) {
		t.Fatalf("%s: error %v on a used page, %v on a new one", name, err, werr)
	}
	if err != nil {
		if string(p.Text) != before {
			t.Fatalf("%s: the page changed though its rendering ended in an error", name)
		}
		return err
	}
	p.last = slices.Clone(tn.Messages)
	if string(p.Text) != string(fresh.Text) {
		n := common(p.Text, fresh.Text)
		t.Fatalf("%s: used page …%.60q, new one …%.60q", name, p.Text[n:], fresh.Text[n:])
	}
	if n := common([]byte(before), p.Text); p.Same != n {
		t.Fatalf("%s: Same is %d, want %d", name, p.Same, n)
	}
	if p.Opening != fresh.Opening || p.Hidden != fresh.Hidden || !samePlaces(&p.Page, &fresh) {
		t.Fatalf("%s: used page: opening %d, hidden %d, spans %v; new one: %d, %d, %v", name,
			p.Opening, p.Hidden, p.Spans, fresh.Opening, fresh.Hidden, fresh.Spans)
	}
	checkPlaces(t, name, &p.Page, tn)
	return nil
}

// samePlaces reports whether two pages say the same of where messages stand.
// Of what was found by rendering parts, one may know what the other does not:
// that depends on the turns that it has seen.
func samePlaces(a, b *Page) bool {
	traced := true
	for _, s := range a.memo.Spans() {
		traced = traced && s.Start >= 0
	}
	for i := range a.Spans {
		x, y := a.Spans[i], b.Spans[i]
		if x != y && (traced || x != unknown && y != unknown) {
			return false
		}
	}
	return len(a.Spans) == len(b.Spans)
}

// checkPlaces checks that spans are inside the text and in order, or unknown.
func checkPlaces(t interface{ Fatalf(string, ...any) }, name string, p *Page, tn *turn.Turn) {
	if len(p.Spans) != len(tn.Messages) || p.Opening < 0 || p.Opening > len(p.Text) {
		t.Fatalf("%s: %d spans of %d messages, opening %d of %d", name, len(p.Spans), len(tn.Messages), p.Opening, len(p.Text))
	}
	for _, s := range p.Spans {
		if s != unknown && (s.Start < 0 || s.Start > s.End || s.End > len(p.Text)) {
			t.Fatalf("%s: span %v of a text of %d bytes", name, s, len(p.Text))
		}
	}
}

// words are pieces of text that templates treat in ways of their own.
var words = []string{
	"hello", "", "  spaced \n", "</think>", "<think>\nx\n</think>\n\ny", "<|im_end|>", "{\"a\": 1}", "äöü 你好 👩‍👩‍👧",
	"<tool_response>\nx\n</tool_response>", "line\nline", "'\"\\", "[INST]",
}

func drawText(t *rapid.T) string { return rapid.SampledFrom(words).Draw(t, "text") }

// drawRound is a question, perhaps some rounds of calls, and an answer.
func drawRound(t *rapid.T, n int) (ms []turn.Message) {
	ms = append(ms, turn.Message{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: drawText(t)}}})
	if rapid.IntRange(0, 9).Draw(t, "image") == 0 {
		ms[0].Blocks = append(ms[0].Blocks, turn.Block{Kind: turn.Image, Raw: []byte(`{"n":1}`)})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "loops") {
		answer := drawAnswer(t)
		results := turn.Message{Role: turn.ToolRole}
		for j := range rapid.IntRange(1, 2).Draw(t, "calls") {
			id := fmt.Sprintf("call_%d_%d_%d", n, i, j)
			answer.Blocks = append(answer.Blocks, turn.Block{
				Kind: turn.ToolUse, ID: id, Name: "read",
				Args: []byte(fmt.Sprintf(`{"path": "/a/%d", "n": %d.50, "o": {"b": [true, null]}}`, i, j)),
			})
			results.Blocks = append(results.Blocks, turn.Block{Kind: turn.ToolResult, ID: id, Text: drawText(t)})
		}
		ms = append(ms, answer, results)
	}
	if rapid.Bool().Draw(t, "answered") {
		ms = append(ms, drawAnswer(t))
	}
	return ms
}

func drawAnswer(t *rapid.T) turn.Message {
	m := turn.Message{Role: turn.Assistant}
	if rapid.Bool().Draw(t, "thinks") {
		m.Blocks = append(m.Blocks, turn.Block{Kind: turn.ThinkingBlock, Text: "thought " + drawText(t)})
	}
	m.Blocks = append(m.Blocks, turn.Block{Kind: turn.Text, Text: drawText(t)})
	return m
}

// A page that goes through a conversation, edits and all, shows at every turn
// what a new page shows.
func TestIncremental(t *testing.T) {
	texts := fixtures.Templates(t)
	names := sortedKeys(texts)
	open := map[string]*Template{}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "template")
		if open[name] == nil {
			open[name] = reopened(t, texts[name])
		}
		tn := &turn.Turn{Tools: []turn.Tool{
			{Name: "read", Description: "reads", Schema: []byte(`{"type": "object", "properties": {"path": {"type": "string", "description": "p"}}}`)},
		}}
		if rapid.Bool().Draw(t, "system") {
			tn.Messages = append(tn.Messages, turn.Message{Role: turn.System, Blocks: []turn.Block{{Text: drawText(t)}}})
		}
		p := &grown{Page: Page{Now: clock()}}
		for n := range rapid.IntRange(1, 5).Draw(t, "turns") {
			change(t, tn, n)
			_ = agree(t, name, open[name], p, tn)
		}
	})
}

// change is what a harness may do to a conversation between two turns.
func change(t *rapid.T, tn *turn.Turn, n int) {
	tn.Messages = append(tn.Messages, drawRound(t, n)...)
	switch rapid.IntRange(0, 7).Draw(t, "change") {
	case 0: // an earlier message is another
		i := rapid.IntRange(0, len(tn.Messages)-1).Draw(t, "which")
		m := turn.Message{Role: tn.Messages[i].Role, Blocks: slices.Clone(tn.Messages[i].Blocks)}
		m.Blocks[len(m.Blocks)-1].Text += drawText(t) + "!"
		tn.Messages[i] = m
	case 1: // the last ones are taken back
		tn.Messages = tn.Messages[:rapid.IntRange(1, len(tn.Messages)).Draw(t, "kept")]
	case 2:
		tn.Thinking.Mode = rapid.SampledFrom([]string{"", "on", "off"}).Draw(t, "mode")
	case 3:
		tn.Thinking.Effort = rapid.SampledFrom([]string{"", "low", "high", "max"}).Draw(t, "effort")
	case 4:
		tn.Tools[0].Deferred = !tn.Tools[0].Deferred
	}
}

func reopened(t *rapid.T, text string) *Template {
	tmpl, err := openText(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}
