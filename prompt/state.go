package prompt

import (
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// State is what one agent's last prompt was made of. The zero value is ready.
// It belongs to one goroutine at a time.
type State struct {
	Most int // tokens of a prompt that is kept; 0 is any number

	page    template.Page
	resting bool // page holds no text: what stays is told by the pieces' sums
	known   history

	ids    turn.IDs // the last Prompt's
	pieces []piece

	noted // of the last turn, see parting
}

// piece is a run of text that was tokenised on its own, or an answer's own
// ids in place of its text.
type piece struct {
	text    int          // where it ends in the text
	ids     int          // where its ids end
	sum     xxh3.Uint128 // of its text
	spliced bool         // the ids are the model's
}

// Clone returns a State that goes its own way from here, for an agent that
// forks, at rest. Ids are shared, as far as both keep them.
func (s *State) Clone() *State {
	return &State{
		page: template.Page{Now: s.page.Now}, resting: true,
		known: history{
			root: s.known.root, keys: slices.Clone(s.known.keys),
			rolling: slices.Clip(s.known.rolling), said: slices.Clone(s.known.said), saidBytes: s.known.saidBytes,
		},
		ids: s.ids, pieces: slices.Clone(s.pieces),
		noted: noted{s.sketch.Clone(), s.opening, s.tools, s.thinking, s.kind, s.last},
		Most:  s.Most,
	}
}

// Rest lets go of what the State can make again: the text, that of the ids, and
// all that the next rendering would reuse, two thirds of what it holds. Of the
// next prompt all is rendered, and what is new is tokenised, as ever.
func (s *State) Rest() {
	s.page, s.resting = template.Page{Now: s.page.Now}, true
	s.ids = s.ids.Plain()
}

// back makes the State that of the prompt before the one just built, which is too
// long to be kept: so much of it as the next one can be told from.
func (s *State) back(was *former) {
	*s = State{
		Most: s.Most, page: template.Page{Now: s.page.Now}, resting: true,
		known: history{root: was.root}, ids: was.ids.Plain(), noted: s.noted,
	}
}

// same is how much of a text that was rendered from nothing is as the last one
// was: whole pieces of it.
func (s *State) same(text []byte) (n int) {
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.text > len(text) || xxh3.Hash128(text[n:p.text]) != p.sum {
			break
		}
		n = p.text
	}
	return n
}

// Len tells how many ids the State holds.
func (s *State) Len() int { return s.ids.Len() }

// Bytes tells how much memory the State holds. Raw turns and ids count, whoever
// else holds them.
func (s *State) Bytes() int {
	k := &s.known
	return int(unsafe.Sizeof(*s)) + s.page.Bytes() + s.ids.Bytes() + cap(s.pieces)*int(unsafe.Sizeof(piece{})) +
		s.sketch.Bytes() + 16*cap(k.keys) + 8*cap(k.rolling) + 8*cap(k.said) + k.saidBytes
}
