package trtllm

import (
	"slices"

	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/turn"
)

// speller makes the text of an answer from its ids. An id that may end the
// answer waits until it is known whether it does, since the text of an end
// token is no part of the answer.
type speller struct {
	tok   *bpe.Tokenizer
	d     *bpe.Decoder
	stops []uint32
	held  []uint32
	text  []byte
}

// lead is how many of a prompt's last ids the text begins behind: tokens of
// some vocabularies have a space before them only inside of a text.
const lead = 4

func newSpeller(tok *bpe.Tokenizer, j turn.Job) *speller {
	s := &speller{tok: tok, d: tok.Decoder(), stops: stopSet(j)}
	n := j.Prompt.Len()
	for _, id := range j.Prompt.AppendTo(nil, max(0, n-lead), n) {
		_ = s.d.Push(nil, id)
	}
	return s
}

// push takes the next ids and returns the text that is whole now. end is the
// answer's, when it ends with them.
func (s *speller) push(ids []uint32, end *turn.End) string {
	s.text = s.text[:0]
	for i, id := range ids {
		s.flush()
		if i == len(ids)-1 && (end != nil && end.StopID || slices.Contains(s.stops, id)) {
			s.held = append(s.held, id)
			break
		}
		s.text = s.d.Push(s.text, id)
	}
	if end != nil && !end.StopID {
		s.flush()
	}
	return string(s.text)
}

// special reports whether an id is of a special token. To a nil speller none
// is.
func (s *speller) special(id uint32) bool { return s != nil && s.tok.Special(id) }

// waits reports whether the last id may be the answer's end. A nil speller has
// none.
func (s *speller) waits() bool { return s != nil && len(s.held) > 0 }

// flush spells the id that waited: it did not end the answer.
func (s *speller) flush() {
	for _, id := range s.held {
		s.text = s.d.Push(s.text, id)
	}
	s.held = s.held[:0]
}
