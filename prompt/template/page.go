package template

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// ErrRefused is in the chain of an error that the template raised about a
// conversation.
var ErrRefused = errors.New("template refuses the conversation")

// Span is where something stands in a text, in bytes; −1, −1 when that is
// not known.
type Span struct{ Start, End int }

// unknown is the span of what stands nowhere of its own.
var unknown = Span{-1, -1}

// Page is one agent's last rendering. The zero Page is ready. It belongs to
// one goroutine at a time.
type Page struct {
	// Text is the rendering, good until the next Render of this Page.
	Text []byte
	// Spans are where the turn's messages stand in Text, one each. Messages
	// that were joined have one span in common.
	Spans []Span
	// Opening is where in Text the generation prompt begins; len(Text) where
	// the template prints none.
	Opening int
	// Same says that Text[:Same] is as it was in the Render before.
	Same int
	// Hidden counts the images and documents that stand as fixed texts.
	Hidden int
	// Now is the clock of this page's dates. When zero, the first Render sets
	// it to the time.
	Now time.Time
	// Known may be set before a Render: so many of the first messages are as
	// they were in the last Render without an error, block for block. They are
	// not looked at once more. Render sets it to 0.
	Known int

	form  *form
	plan  plan
	made  []made        // of the messages in Text
	fresh []made        // its other buffer
	list  []jinja.Value // of the messages in Text
	spare []jinja.Value // its other buffer
	memo  jinja.Memo
	whole bool // plan is that of Text

	tools  xxh3.Uint128 // key of the tools
	listed jinja.Value  // the tools, if there are some
	end    int          // where the last message ends, −1 when unknown
	sum    sum
	w      writer
}

// made is a message as the template got it.
type made struct {
	key xxh3.Uint128
	m   *jinja.Map
	end int // of what is printed for the messages up to here, see places
}

// Render brings p up to a turn. The error has ErrRefused or jinja.ErrLimit in
// its chain; p is then as it was before. Nothing of the turn is kept.
func (t *Template) Render(p *Page, tn *turn.Turn) error {
	f := t.form(tn)
	if p.form != f {
		*p = Page{Text: p.Text, Spans: p.Spans, Opening: p.Opening, Now: p.Now, form: f}
	}
	if p.Now.IsZero() {
		p.Now = time.Now()
	}
	f.messages(p, tn)
	p.whole = false
	ctx := f.variables(p, tn, p.spare, true)
	same, err := f.write(p, tn, jinja.Mapping(ctx))
	if err != nil {
		return f.refusal(err)
	}
	stale := same < p.Opening // of the text before
	p.Same = same
	p.made, p.fresh = p.fresh, p.made
	p.list, p.spare = p.spare, p.list
	p.Hidden = p.plan.images
	p.whole = true
	p.unplace(stale)
	f.places(p, tn)
	var added bool
	p.Opening, added = f.opening(p, tn)
	if n := len(p.made); n > 0 && p.made[n-1].end == notTried && added {
		p.made[n-1].end = p.Opening // the same text, asked for another way
	}
	return nil
}

// write makes the text of a page anew.
func (f *form) write(p *Page, tn *turn.Turn, ctx jinja.Value) (same int, err error) {
	if cap(p.Text) == 0 {
		p.Text = make([]byte, 0, guess(tn))
	}
	p.Text, same, err = f.jinja.RenderMemo(p.Text, ctx, jinja.Options{Now: p.clock}, &p.memo)
	if roomy(p.Text, len(p.Text)) {
		p.Text = f.spares.fit(p.Text)
	}
	return same, err
}

// guess is about how many bytes most templates make of a turn.
func guess(tn *turn.Turn) int {
	const message, tool = 40, 200
	n := 1024
	for i := range tn.Messages {
		n += message
		for j := range tn.Messages[i].Blocks {
			b := &tn.Messages[i].Blocks[j]
			n += len(b.Text) + len(b.Args) + len(b.Args)/8 + len(b.Name)
		}
	}
	for i := range tn.Tools {
		t := &tn.Tools[i]
		n += tool + len(t.Name) + len(t.Description) + len(t.Schema) + len(t.Schema)/8
	}
	return n
}

func (p *Page) clock() time.Time { return p.Now }

// refusal says whose fault an error of the template is.
func (f *form) refusal(err error) error {
	var raised *jinja.Error
	if errors.As(err, &raised) && raised.Kind == "TemplateError" {
		return fmt.Errorf("%w: %s", ErrRefused, raised.Msg)
	}
	if errors.As(err, &raised) {
		return fmt.Errorf("%w: %s: %w", ErrRefused, f.name, err)
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// messages makes the list of a turn's messages. Those that are as they were
// keep their mapping.
func (f *form) messages(p *Page, tn *turn.Turn) {
	same := 0
	if p.whole {
		same = min(p.Known, len(p.plan.after), len(tn.Messages))
	}
	p.Known = 0
	p.w.f, p.w.ms, p.w.calls = f, tn.Messages, calls{ms: tn.Messages}
	c := &p.w.calls
	kept := p.plan.make(c, &f.facts, same)
	n := len(p.plan.items)
	fresh := append(slices.Grow(p.fresh[:0], n), p.made[:kept]...)
	list := append(slices.Grow(p.spare[:0], n), p.list[:kept]...)
	for i := kept; i < n; i++ {
		it := &p.plan.items[i]
		pieces := p.plan.pieces[it.from:it.to]
		x := made{key: p.sum.item(c, it, pieces)}
		if i < len(p.made) && p.made[i].key == x.key {
			x.m, x.end = p.made[i].m, p.made[i].end
		} else {
			x.m = p.w.message(it, pieces)
		}
		fresh = append(fresh, x)
		list = append(list, jinja.Mapping(x.m))
	}
	p.w.ms, p.w.calls = nil, calls{}
	clear(p.fresh[min(len(fresh), len(p.fresh)):])
	clear(p.spare[min(len(list), len(p.spare)):])
	p.fresh, p.spare = fresh, list
	f.pick(p, tn.Tools)
}

// pick keeps the page's list of tools when they are as they were.
func (f *form) pick(p *Page, tools []turn.Tool) {
	key := zeroKey
	for i := range tools {
		if !tools[i].Deferred {
			key = p.sum.tools(tools)
			break
		}
	}
	if key != p.tools && key != zeroKey {
		p.listed = f.lists.value(key, tools, func() jinja.Value { return f.toolValues(tools) })
	}
	p.tools = key
}

// zeroKey stands for no tools.
var zeroKey xxh3.Uint128

// variables is the context of a turn whose messages are made.
func (f *form) variables(p *Page, tn *turn.Turn, list []jinja.Value, generate bool) *jinja.Map {
	ctx := jinja.NewMap(len(f.fixed) + 8)
	for _, v := range f.fixed {
		ctx.Set(v.name, v.value)
	}
	f.think(ctx, tn.Thinking)
	if p.tools != zeroKey {
		ctx.Set("tools", p.listed)
	}
	ctx.Set("messages", jinja.List(list...))
	ctx.Set("add_generation_prompt", jinja.Bool(generate))
	return ctx
}

// Bytes is how much memory the page holds, roughly: its text, that of the
// messages' values, the memo, and what keeps books of them.
func (p *Page) Bytes() int {
	const perMessage = 550 // its mapping, and those of its calls
	books := (cap(p.made)+cap(p.fresh))*int(unsafe.Sizeof(made{})) + (cap(p.list)+cap(p.spare))*int(unsafe.Sizeof(jinja.Value{})) +
		cap(p.Spans)*int(unsafe.Sizeof(Span{})) + p.plan.bytes()
	return cap(p.Text) + len(p.Text) + p.memo.Bytes() + perMessage*len(p.made) + books
}

// common is how many bytes two texts have in common at their start.
func common(a, b []byte) int {
	const step = 1 << 12
	n, i := min(len(a), len(b)), 0
	for i+step <= n && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
