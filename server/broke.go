package server

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/valyala/fasthttp"
)

// mostBroke is how many texts of breaks are held; one takes 600 bytes or so.
const mostBroke = 512

// broke holds the texts of the newest breaks, so that they can be shown while
// the daemon lives: they are content, which the ledger's books have none of.
// The zero value has none.
type broke struct {
	mu   sync.Mutex // guards all below
	list []brokeText
	next int // where the next one goes, once the list is full
}

// brokeText is the text of one turn's break.
type brokeText struct {
	turn, session string
	text          *diff.Text
}

// add holds a text, in place of the oldest where there is no room.
func (b *broke) add(turn, session string, text *diff.Text) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := brokeText{turn, session, text}
	if len(b.list) < mostBroke {
		b.list = append(b.list, one)
		return
	}
	b.list[b.next] = one
	b.next = (b.next + 1) % mostBroke
}

// find returns the text of a turn's break, nil where it is not held.
func (b *broke) find(turn string) *diff.Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.list {
		if b.list[i].turn == turn {
			return b.list[i].text
		}
	}
	return nil
}

// forget drops the texts of a session.
func (b *broke) forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.list {
		if b.list[i].session == session {
			b.list[i] = brokeText{}
		}
	}
}

// parted notes where the flight's prompt parts from the one before: in its row,
// without a text where the books are to have none. alone says that it was
// compared with none.
func (f *flight) parted(b *diff.Break, alone bool) {
	f.broke = b
	switch {
	case b == nil && alone:
		f.row.Break = ledger.Alone
		return
	case b == nil:
		f.row.Break = ""
		return
	}
	for size := range f.chains {
		if b.Size == 0 || size < b.Size {
			b.Size = size
		}
	}
	f.s.broke.add(f.t.ID, f.t.Who.Session, b.Text)
	kept := *b
	if !f.s.o.KeepText {
		kept.Text = nil
	}
	row, err := json.Marshal(kept)
	if err != nil {
		return // of strings and numbers there is always a form
	}
	f.row.Break = string(row)
}

var errNoText = errors.New("no text is held of that turn")

// brokeText answers GET /turns/{id}/break of the control socket: what stood and
// what stands where the turn's prompt parts from the one before.
func (s *Server) brokeText(c *fasthttp.RequestCtx, path string) error {
	id := strings.TrimSuffix(strings.TrimPrefix(path, "/turns/"), "/break")
	text := s.broke.find(id)
	if text == nil {
		return errNoText
	}
	return reply(c, text)
}
