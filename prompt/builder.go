package prompt

import (
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// builder makes ids of a rendered text: it keeps the pieces of the text before
// whose text and neighbours are as they were, and makes the rest anew.
//
// A text is cut only where the tokenizer cannot join across: its ids are those
// of the whole. Around an answer's own ids there is always a cut, because the
// engine saw them so.
type builder struct {
	m    *Model
	s    *State
	t    *turn.Turn // as rendered
	text []byte
	pos  int      // how much of text has ids
	kept int      // ids of the State's last prompt that stay
	tail []uint32 // the ids after them

	opening int  // where the generation prompt's ids begin
	awake   bool // the State was when this prompt came
}

// keep leaves the pieces that the new text begins with too; same is how many
// messages are as they were.
func (b *builder) keep(same int) {
	s := b.s
	limit := s.page.Same
	if s.resting {
		limit, s.resting = s.same(b.text), false
	}
	limit = min(limit, b.start(same), s.page.Opening)
	n := 0
	for n < len(s.pieces) && s.pieces[n].text <= limit {
		n++
	}
	for n > 0 && !b.stays(&s.pieces[n-1], same) {
		n--
	}
	s.pieces = s.pieces[:n]
	if n > 0 {
		b.pos, b.kept = s.pieces[n-1].text, s.pieces[n-1].ids
	}
}

// stays reports whether the last piece that is kept ends where it would end in
// this text: what follows may join it, or be another end of an answer, which
// a template may print only once more is said.
func (b *builder) stays(p *piece, same int) bool {
	if !p.spliced {
		return b.m.tok.Boundary(b.text, p.text)
	}
	for i := min(same, len(b.s.page.Spans)) - 1; i >= 0; i-- {
		if at := b.s.page.Spans[i]; at.Start >= 0 && at.Start < p.text {
			end, ok := b.answerEnd(i)
			return p.text > at.End || b.shared(i) || ok && p.text == end
		}
	}
	return true
}

// rest makes the ids of the text behind pos.
func (b *builder) rest() {
	for i := range b.t.Messages {
		at := b.s.page.Spans[i]
		if at.End <= b.pos {
			continue
		}
		if b.m.tok.Boundary(b.text, at.Start) {
			b.encode(at.Start)
		}
		if said := b.s.known.said[i]; said != nil {
			b.splice(i, said)
		}
	}
	b.open()
	b.encode(len(b.text))
}

// open cuts the text where the generation prompt begins, or before, where a
// cut is good.
func (b *builder) open() {
	at, ok := b.cutBefore(b.s.page.Opening)
	if ok {
		b.encode(at)
	}
	b.opening = b.kept + len(b.tail)
}

// encode makes a piece of the text up to end.
func (b *builder) encode(end int) {
	if end <= b.pos {
		return
	}
	part := b.text[b.pos:end]
	b.tail = b.m.tok.Encode(b.tail, unsafe.String(&part[0], len(part)))
	b.piece(end, false)
}

// piece ends a piece here.
func (b *builder) piece(end int, spliced bool) {
	b.s.pieces = append(b.s.pieces, piece{end, b.kept + len(b.tail), xxh3.Hash128(b.text[b.pos:end]), spliced})
	b.pos = end
}

// store takes the new ids into the State and returns how many of the first
// ones are as before. Of those the text is made too, since they will be sent
// again; but not while many agents take turns in being awake, and never of a
// first prompt, since most have no second.
func (b *builder) store() (same int) {
	old := b.s.ids
	same = b.kept + old.Same(b.kept, b.tail)
	stay := old.Cut(same)
	if b.awake {
		stay = stay.Written()
	}
	b.s.ids = stay.Append(b.tail[same-b.kept:])
	return same
}

// start is where message i begins, or its best guess: never behind it.
func (b *builder) start(i int) int {
	spans := b.s.page.Spans
	if i < len(spans) && spans[i].Start >= 0 {
		return spans[i].Start
	}
	for i = min(i, len(spans)) - 1; i >= 0; i-- {
		if spans[i].End >= 0 {
			return spans[i].End
		}
	}
	return 0
}

// commonPrefix is how many bytes two texts have in common at their start.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	if string(a[:n]) == string(b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// ids returns how many ids the text up to at has, where a token ends there,
// else that of the whole tokens before.
func (b *builder) idsAt(at int) int {
	ps := b.s.pieces
	i, _ := slices.BinarySearchFunc(ps, at, func(p piece, at int) int { return p.text - at })
	if i == len(ps) {
		return b.s.ids.Len()
	}
	if ps[i].text == at {
		return ps[i].ids
	}
	text, n := 0, 0
	if i > 0 {
		text, n = ps[i-1].text, ps[i-1].ids
	}
	for ; n < ps[i].ids && text < at; n++ {
		text += len(b.m.tok.Token(b.s.ids.At(n)))
	}
	if text > at {
		n--
	}
	return n
}
