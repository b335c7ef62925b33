package template

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/agentinfer/dyn/turn"
)

// A template serves any number of pages at once.
func TestShared(t *testing.T) {
	tmpl := opened(t, `{{ tools | tojson if tools }}`+each(plainBody), nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var p Page
			for j := range 100 {
				name := fmt.Sprint("f", (i+j)%(keptLists+4))
				tn := &turn.Turn{
					Messages: []turn.Message{user(fmt.Sprint("q", i))},
					Tools:    []turn.Tool{{Name: name}},
					Thinking: turn.Thinking{Effort: fmt.Sprint(j)},
				}
				if err := tmpl.Render(&p, tn); err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprintf(`[{"type": "function", "function": {"name": %q, "parameters": {"type": "object", "properties": {}}}}][user|q%d][assistant|`, name, i)
				if string(p.Text) != want {
					t.Errorf("got %s, want %s", p.Text, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// What a turn with one message more takes does not depend on how many there
// were before, and a page holds a few times its text.
func TestOldPartIsFree(t *testing.T) {
	tmpl := opened(t, each(`[{{ m.role }}|{{ m.content }}]`), nil)
	allocs := func(n int) (float64, *Page) {
		whole := long(n)
		var p Page
		if err := tmpl.Render(&p, whole); err != nil {
			t.Fatal(err)
		}
		turns := 0
		return testing.AllocsPerRun(20, func() {
			tn := *whole
			tn.Messages = whole.Messages[:len(whole.Messages)-turns%2]
			turns++
			if err := tmpl.Render(&p, &tn); err != nil {
				t.Fatal(err)
			}
		}), &p
	}
	few, _ := allocs(20)
	many, p := allocs(400)
	if many > few+20 {
		t.Errorf("%v allocations after 400 messages, %v after 20", many, few)
	}
	if n := p.Bytes(); n < 2*len(p.Text) || n > 6*len(p.Text) {
		t.Errorf("%d bytes held for a text of %d", n, len(p.Text))
	}
}

// A page keeps nothing of the turns that it was given: a decoder's texts lie
// in the body of a request, which must not live as long as the session.
func TestKeepsCopies(t *testing.T) {
	tmpl := opened(t, each(plainBody), nil)
	turnOf := func(body []byte) *turn.Turn {
		text := func(from, n int) string { return unsafe.String(&body[from], n) }
		return &turn.Turn{Messages: []turn.Message{
			message(turn.System, text(0, 5)), user(text(0, 5)),
			says(think(text(0, 5)), turn.Block{Text: text(0, 5)}, turn.Block{Kind: turn.ToolUse, ID: text(17, 2), Name: text(6, 1), Args: body[8:16]}),
			results(result(text(17, 2), text(0, 5))),
		}, Tools: []turn.Tool{{Name: text(6, 1), Description: text(0, 5), Schema: body[8:16]}}}
	}
	const body = `hello f {"a": 1} id`
	var p Page
	first := []byte(body)
	if err := tmpl.Render(&p, turnOf(first)); err != nil {
		t.Fatal(err)
	}
	want := string(p.Text)
	for i := range first {
		first[i] = 'x'
	}
	again := turnOf([]byte(body))
	again.Messages = append(again.Messages, user("more"))
	again.Thinking.Mode = "on"
	if err := tmpl.Render(&p, again); err != nil {
		t.Fatal(err)
	}
	if want = strings.TrimSuffix(want, "[assistant|") + "[user|more][assistant|"; string(p.Text) != want {
		t.Errorf("got %s, want %s", p.Text, want)
	}
}

// TestFit: a page keeps what its text needs; a buffer that was made for a long
// conversation goes to the others.
func TestFit(t *testing.T) {
	var s spares
	kept := s.fit(make([]byte, 100, 1<<20))
	if len(kept) != 100 || cap(kept) > 1000 {
		t.Errorf("%d bytes are kept in room for %d", len(kept), cap(kept))
	}
	if b := s.take(); cap(b) != 1<<20 {
		t.Errorf("the buffer of %d bytes is not given back", 1<<20)
	}
}

// TestLists: the lists of tools that a template keeps are bounded in number and
// in bytes.
func TestLists(t *testing.T) {
	tmpl := opened(t, `{{ tools | tojson if tools }}`+each(plainBody), nil)
	for i := range 3 * keptLists {
		tool := turn.Tool{Name: fmt.Sprint("f", i), Description: strings.Repeat("d", i<<12)}
		if i == 2*keptLists {
			tool.Description = strings.Repeat("d", keptTools)
		}
		var p Page
		if err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("q")}, Tools: []turn.Tool{tool}}); err != nil {
			t.Fatal(err)
		}
		l, sum := &tmpl.tools.lists, 0
		for _, x := range l.have {
			sum += x.size
		}
		if len(l.have) > keptLists || len(l.have) != len(l.keys) || l.size != sum || sum > keptTools {
			t.Fatalf("%d lists and %d keys, %d bytes, said to be %d", len(l.have), len(l.keys), sum, l.size)
		}
	}
}
