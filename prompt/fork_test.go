package prompt

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// edited is the conversation with another last message: a question that is
// asked again in other words.
func (l *longTalk) edited(n int) {
	l.tr.Messages[len(l.tr.Messages)-1] = msg(turn.User, turn.Block{Kind: turn.Text, Text: fmt.Sprintf("question %d: and then?", n)})
}

// TestLongForks lets the agents of a long conversation go on, ask again, fork
// and rest: each prompt is what is built from nothing, and those that were
// handed out stay as they are.
func TestLongForks(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	l := newLongTalk(t)
	first := l.s.Clone()
	start, steps, n := *l.tr, l.steps, 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > 5 && !t.Failed() {
			return // each makes some hundred thousand tokens
		}
		tr := start
		tr.Messages = slices.Clone(start.Messages)
		l.tr, l.steps, l.s = &tr, steps, *first.Clone()
		states := []*State{first}
		var outs []turn.IDs
		var copies [][]uint32
		for i := range 5 {
			switch rapid.IntRange(0, 4).Draw(t, "how") {
			case 0:
				l.edited(i)
			case 1:
				l.step()
			case 2:
				states = append(states, l.s.Clone())
				l.s = *states[rapid.IntRange(0, len(states)-1).Draw(t, "of")].Clone()
			case 3:
				l.s.Rest()
			case 4:
				tr.Messages = tr.Messages[:len(tr.Messages)/2]
			}
			p, err := l.m.Build(&l.s, l.tr, nil, l.raw)
			want, again := l.m.Build(nil, l.tr, nil, l.raw)
			if err != nil || again != nil {
				t.Fatal(err, again)
			}
			outs, copies = append(outs, p.IDs), append(copies, want.IDs.Flat())
			l.last = p
		}
		for i := range outs {
			if !slices.Equal(outs[i].Flat(), copies[i]) {
				t.Fatalf("prompt %d is not what is built from nothing", i)
			}
		}
	})
}

// TestTexts: ids that stay hold their text while the State is awake; a first
// prompt, a State at rest and the first prompt after that hold none.
func TestTexts(t *testing.T) {
	m, tr := simModel(t), conversation(20<<10)
	var s State
	build := func(want bool) {
		t.Helper()
		p, err := m.Build(&s, tr, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if texts, n := p.IDs.Texts(nil); (n > 0) != want || (len(texts) > 0) != want {
			t.Errorf("%d of %d ids hold their text", n, p.IDs.Len())
		}
	}
	build(false)
	build(true)
	first := s.Clone()
	held := s.Bytes()
	if s.Rest(); s.Bytes() > held-4*s.Len() {
		t.Errorf("%d bytes are held at rest, %d before", s.Bytes(), held)
	}
	build(false)
	build(true)
	s = *first
	build(true) // those of whom it was forked from
}

// TestOpeningPinsNoPrompt: it is kept with a raw turn for a day, the ids of the
// prompt are not to stay in memory with it.
func TestOpeningPinsNoPrompt(t *testing.T) {
	var s State
	p, err := simModel(t).Build(&s, conversation(20<<10), nil, nil)
	if err != nil || len(p.Opening) == 0 || cap(p.Opening) > 64 {
		t.Errorf("%d ids are held for %d of %d (%v)", cap(p.Opening), len(p.Opening), p.IDs.Len(), err)
	}
}

// BenchmarkFork is a prompt of 100,000 tokens whose last message is another one
// than before, prompt and block hashes.
func BenchmarkFork(b *testing.B) {
	l := newLongTalk(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		l.edited(n)
		b.StartTimer()
		l.build(b)
	}
}
