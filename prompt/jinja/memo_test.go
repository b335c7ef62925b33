package jinja

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// page is a Memo with the text of its last rendering.
type page struct {
	Memo
	text []byte
}

func (p *page) render(tmpl *Template, ctx Value, o Options) (same int, err error) {
	p.text, same, err = tmpl.RenderMemo(p.text, ctx, o, &p.Memo)
	return same, err
}

// checked renders and checks what is said of the text before.
func (p *page) checked(tmpl *Template, ctx Value, o Options) ([]byte, error) {
	before := slices.Clone(p.text)
	same, err := p.render(tmpl, ctx, o)
	if err != nil {
		if !bytes.Equal(before, p.text) {
			return nil, fmt.Errorf("after %w the text is %q, not %q", err, p.text, before)
		}
		return nil, err
	}
	if n := common(before, p.text); n != same {
		return nil, fmt.Errorf("%d bytes are said to be the same, %d are", same, n)
	}
	return p.text, nil
}

// checkMemo renders with a Memo and without one and compares.
func checkMemo(t rapid.TB, tmpl *Template, ctx Value, m *page) {
	t.Helper()
	want, werr := tmpl.Render(nil, ctx, Options{Now: clock})
	got, err := m.checked(tmpl, ctx, Options{Now: clock})
	if (err == nil) != (werr == nil) || err != nil && err.Error() != werr.Error() {
		t.Fatalf("with a memo: error %v, without: %v", err, werr)
	}
	text := string(want)
	if fault := differs(answer{Out: &text}, string(got), nil); fault != "" {
		t.Fatalf("with a memo, against without: %s", fault)
	}
	if err != nil {
		if len(m.Spans()) != 0 {
			t.Fatalf("%d spans after an error", len(m.Spans()))
		}
		return
	}
	checkSpans(t, ctx, text, m.Spans())
}

// checkSpans checks that the spans are one for each message, inside the text
// and do not overlap.
func checkSpans(t rapid.TB, ctx Value, text string, spans []Span) {
	t.Helper()
	messages, _ := ctx.mapping().Find("messages")
	if len(spans) != len(messages.items()) {
		t.Fatalf("%d spans for %d messages", len(spans), len(messages.items()))
	}
	known := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Start < 0 })
	slices.SortFunc(known, func(a, b Span) int { return (a.Start+a.End)*2 - (b.Start+b.End)*2 })
	at := 0
	var joined strings.Builder
	for _, s := range known {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			t.Fatalf("span %v after one that ends at %d, text of %d bytes", s, at, len(text))
		}
		joined.WriteString(text[at:s.Start] + text[s.Start:s.End])
		at = s.End
	}
	if joined.String()+text[at:] != text {
		t.Fatal("the spans and what lies between do not give the text")
	}
}

// Every template with every scenario gives the same with a Memo carried along
// as without.
func TestMemoGolden(t *testing.T) {
	contexts := scenarios(t)
	var order []string
	for name := range contexts {
		order = append(order, name)
	}
	slices.Sort(order)
	for name, tmpl := range parsed(t) {
		t.Run(name, func(t *testing.T) {
			var m page
			known, all := 0, 0
			for _, s := range append(order, order...) {
				checkMemo(t, tmpl, contexts[s], &m)
				for _, s := range m.Spans() {
					all++
					if s.Start >= 0 {
						known++
					}
				}
			}
			t.Logf("%d of %d places known", known, all)
		})
	}
}

// A round that goes through a list twice has looked at the longer part.
func TestMemoTwoSearches(t *testing.T) {
	for _, list := range []string{"messages", "messages[k - 1:]", "range(messages|length)"} {
		tmpl, err := Parse("{% for m in messages %}{% for k in [1, 3] %}{% for n in " + list + " %}{{ n.role if n.role else n }}{% if loop.index == k %}{% break %}{% endif %}{% endfor %}{% endfor %};{% endfor %}")
		if err != nil {
			t.Fatal(err)
		}
		c := newTalk(true, false)
		for range 4 {
			c.turn(true)
		}
		for i := range c.messages {
			var m page
			before := c.messages[i]
			checkMemo(t, tmpl, c.context(), &m)
			c.messages[i] = Mapping(c.say("other"))
			checkMemo(t, tmpl, c.context(), &m)
			c.messages[i] = before
			checkMemo(t, tmpl, c.context(), &m)
		}
	}
}
