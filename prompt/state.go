package prompt

import (
	"slices"
	"unsafe"

	"github.com/agentinfer/dyn/prompt/template"
)

// State is what one agent's last prompt was made of. The zero value is ready.
// It belongs to one goroutine at a time.
type State struct {
	page  template.Page
	fork  []byte // the text that page would hold, had this State not been cloned
	known history

	ids    []uint32 // the last Prompt's; written only behind its end
	pieces []piece
}

// piece is a run of text that was tokenised on its own, or an answer's own
// ids in place of its text.
type piece struct {
	text    int  // where it ends in the text
	ids     int  // where its ids end
	spliced bool // the ids are the model's
}

// Clone returns a State that goes its own way from here, for an agent that
// forks. Ids are shared as long as both keep them; the text is copied.
func (s *State) Clone() *State {
	return &State{
		page: template.Page{Now: s.page.Now},
		fork: slices.Clone(s.text()),
		known: history{
			root: s.known.root, keys: slices.Clone(s.known.keys),
			rolling: slices.Clip(s.known.rolling), said: slices.Clone(s.known.said),
		},
		ids: slices.Clip(s.ids), pieces: slices.Clone(s.pieces),
	}
}

// text is the last prompt's.
func (s *State) text() []byte {
	if s.fork != nil {
		return s.fork
	}
	return s.page.Text
}

// Len tells how many ids the State holds.
func (s *State) Len() int { return len(s.ids) }

// Bytes tells how much memory the State holds. Raw turns are their store's,
// but for those that it dropped.
func (s *State) Bytes() int {
	k := &s.known
	return int(unsafe.Sizeof(*s)) + s.page.Bytes() + cap(s.fork) + 4*cap(s.ids) +
		cap(s.pieces)*int(unsafe.Sizeof(piece{})) + 16*cap(k.keys) + 8*cap(k.rolling) + 8*cap(k.said)
}
