package prompt

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/turn"
)

// longTalk is a conversation of about 100,000 tokens, as an agent's session
// grows it, and its next step of about 500: an answer of the model, and the
// result of its call.
type longTalk struct {
	m     *Model
	s     State
	raw   *Raw
	tr    *turn.Turn
	chain cache.Chain
	last  Prompt
	steps int
}

func newLongTalk(t testing.TB) *longTalk {
	l := &longTalk{m: qwen3(t), raw: NewRaw("m", 64<<20, nil), tr: &turn.Turn{}}
	full := conversation(230 << 10)
	l.tr.Tools = full.Tools
	for _, m := range full.Messages {
		if m.Role != turn.Assistant {
			l.tr.Messages = append(l.tr.Messages, m)
			continue
		}
		l.build(t)
		l.answer(m)
	}
	l.build(t)
	return l
}

// build makes the next prompt and its hashes.
func (l *longTalk) build(t testing.TB) {
	p, err := l.m.Build(&l.s, l.tr, nil, l.raw)
	if err != nil {
		t.Fatal(err)
	}
	l.chain.Of(cache.Seed, p.IDs, 16, p.Same)
	l.last = p
}

// answer lets the model say m, in ids of its own.
func (l *longTalk) answer(m turn.Message) {
	ids := l.m.tok.Encode(nil, m.Blocks[0].Text+"\n<tool_call>\n{\"name\":\"edit\",\"arguments\":"+string(m.Blocks[1].Args)+"}\n</tool_call>")
	before := l.last.Rolling[len(l.last.Rolling)-1]
	l.raw.Put(before, turn.RawTurn{Key: Next(before, m), Opening: l.last.Opening, IDs: ids})
	l.tr.Messages = append(l.tr.Messages, m)
}

// step makes the conversation longer by about 500 tokens, without a prompt.
func (l *longTalk) step() {
	l.steps++
	code := "func add(a, b int) int {\n\treturn a + b // sums\n}\n\n"
	l.answer(turn.Message{Role: turn.Assistant, Blocks: []turn.Block{
		{Kind: turn.Text, Text: fmt.Sprintf("Step %d: next.", l.steps)},
		{Kind: turn.ToolUse, ID: "x", Name: "edit", Args: []byte(fmt.Sprintf(`{"path": "f%d.go"}`, l.steps))},
	}})
	l.tr.Messages = append(l.tr.Messages, msg(turn.ToolRole, result(strings.Repeat(code, 27))))
}

// TestAppendIsInProportion: a turn that appends 500 tokens to a context of
// 100,000 allocates by what is new, not by what is there.
func TestAppendIsInProportion(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	l := newLongTalk(t)
	if n := l.last.IDs.Len(); n < 90_000 || n > 160_000 {
		t.Fatalf("the conversation has %d tokens", n)
	}
	const turns = 24
	var before, after runtime.MemStats
	total, added := uint64(0), 0
	for range turns {
		was := l.last.IDs.Len()
		l.step()
		runtime.ReadMemStats(&before)
		l.build(t)
		runtime.ReadMemStats(&after)
		total += after.TotalAlloc - before.TotalAlloc
		added += l.last.IDs.Len() - was
		if l.last.Same != was || l.last.Edited != 0 || l.last.Break != nil {
			t.Fatalf("step %d: %d of %d ids are the same, %d edited", l.steps, l.last.Same, was, l.last.Edited)
		}
	}
	perTurn := float64(total) / turns
	t.Logf("%.0f bytes a turn of %d tokens, on %d", perTurn, added/turns, l.last.IDs.Len())
	if limit := 256.0 * float64(added/turns); perTurn > limit {
		t.Errorf("a turn of %d tokens allocates %.0f bytes, more than %.0f", added/turns, perTurn, limit)
	}
	want, err := l.m.Build(nil, l.tr, nil, l.raw)
	if err != nil || !slices.Equal(want.IDs.Flat(), l.last.IDs.Flat()) {
		t.Errorf("the prompt is not what is built from nothing (%v)", err)
	}
}

// TestMemoryIsCounted: what a State says that it holds is what it holds, and
// 200 sessions of 100,000 tokens stay below 1 GiB, with the garbage that the
// collector leaves before it begins.
func TestMemoryIsCounted(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	l := newLongTalk(t)
	const sessions = 4
	states := make([]State, sessions)
	before, counted, tokens := heap(), 0, 0
	for i := range states {
		p, err := l.m.Build(&states[i], l.tr, nil, l.raw)
		if err != nil {
			t.Fatal(err)
		}
		counted, tokens = counted+states[i].Bytes(), tokens+p.IDs.Len()
	}
	held := int(heap() - before)
	t.Logf("%d tokens: %d bytes counted, %d held", tokens/sessions, counted/sessions, held/sessions)
	if float64(held) > 1.15*float64(counted) {
		t.Errorf("%d bytes are held, %d counted", held, counted)
	}
	if all := counted / tokens * 200 * 100_000; all > 1<<29 {
		t.Errorf("200 sessions of 100,000 tokens take %d MiB", all>>20)
	}
	runtime.KeepAlive(states)
}

// TestRest: a State at rest holds less than half, and its next prompt goes on from
// the one before.
func TestRest(t *testing.T) {
	l := newLongTalk(t)
	held, was := l.s.Bytes(), l.last
	if l.s.Rest(); 2*l.s.Bytes() > held {
		t.Errorf("%d of %d bytes are held at rest", l.s.Bytes(), held)
	}
	l.step()
	l.build(t)
	if l.last.Same < was.IDs.Len() || !slices.Equal(l.last.IDs.Flat()[:l.last.Same], was.IDs.Flat()[:was.IDs.Len()]) || l.last.Edited != 0 {
		t.Errorf("%d of %d ids are the same, %d edited", l.last.Same, was.IDs.Len(), l.last.Edited)
	}
	if want, err := l.m.Build(nil, l.tr, nil, l.raw); err != nil || !slices.Equal(want.IDs.Flat(), l.last.IDs.Flat()) {
		t.Errorf("the prompt is not what is built from nothing (%v)", err)
	}
}

// BenchmarkAfterRest is a turn like that of BenchmarkAppend500, of a State that
// was at rest.
func BenchmarkAfterRest(b *testing.B) {
	l := newLongTalk(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if l.last.IDs.Len() > 120_000 {
			l = newLongTalk(b)
		}
		l.s.Rest()
		l.step()
		b.StartTimer()
		l.build(b)
	}
}

// BenchmarkAppend500 is such a turn: prompt and block hashes.
func BenchmarkAppend500(b *testing.B) {
	l := newLongTalk(b)
	b.ReportAllocs()
	added := 0
	for b.Loop() {
		b.StopTimer()
		if l.last.IDs.Len() > 120_000 {
			l = newLongTalk(b)
		}
		was := l.last.IDs.Len()
		l.step()
		b.StartTimer()
		l.build(b)
		added += l.last.IDs.Len() - was
	}
	b.ReportMetric(float64(added)/float64(b.N), "tokens/op")
}

// BenchmarkBuild builds about 60,000 tokens of 240 KB: from nothing, and when
// nothing changed.
func BenchmarkBuild(b *testing.B) {
	m := qwen3(b)
	tr := conversation(240 << 10)
	raw := NewRaw("m", 1<<20, nil)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			p, _ := m.Build(nil, tr, nil, raw)
			b.ReportMetric(float64(p.IDs.Len()), "tokens")
		}
	})
	b.Run("tokenizer alone", func(b *testing.B) {
		var s State
		m.Build(&s, tr, nil, raw)
		text := string(s.page.Text)
		var ids []uint32
		for b.Loop() {
			ids = m.tok.Encode(ids[:0], text)
		}
	})
	b.Run("known", func(b *testing.B) {
		var s State
		b.ReportAllocs()
		for b.Loop() {
			m.Build(&s, tr, nil, raw)
		}
	})
}
