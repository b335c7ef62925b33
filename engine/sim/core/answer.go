package core

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentinfer/dyn/engine/sim/sched"
)

// Answer is the stream that an ask gets. One goroutine calls Next; Drop may
// come from any.
type Answer struct {
	engine *Engine

	// Owned by the engine's goroutine.
	req      *sched.Request
	ask      *Ask
	text     text
	spoken   int // ids of the script used in this round
	made     int
	notUntil time.Time // no token before
	began    time.Time // arrival
	first    time.Time // first token
	latest   time.Time // latest token
	counted  bool      // the admission is in the numbers
	id       uint32    // this step's token
	end      *End      // and what ends with it

	wake chan struct{}

	mu    sync.Mutex // guards all below
	piece Piece      // what the reader has not taken yet
	err   error
	full  bool // piece or err is new
}

// Next waits for something new and moves it to p, whose slices are written
// over. After a piece with an End, or an error, there is nothing more. The
// error of a context that ends first does not end the answer: call Drop.
func (a *Answer) Next(ctx context.Context, p *Piece) error {
	for {
		select {
		case <-a.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if a.take(p) {
			return nil
		}
		if err := a.failed(); err != nil {
			return err
		}
	}
}

// Drop ends the answer at the next step; what it holds is free then. It may
// be called at any time and more than once.
func (a *Answer) Drop() {
	a.engine.post(func(e *Engine) {
		if e.live[a.req] == a {
			e.forget(a)
			e.sched.Drop(a.req)
		}
	})
}

// take moves what is new to p and says whether there was anything. With an
// error behind it the reader is woken once more.
func (a *Answer) take(p *Piece) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.full {
		return false
	}
	a.full = false
	p.Text, a.piece.Text = a.piece.Text, p.Text[:0]
	p.IDs, a.piece.IDs = a.piece.IDs, p.IDs[:0]
	p.End, p.Cached = a.piece.End, a.piece.Cached
	if a.err != nil {
		a.signal()
	}
	return true
}

func (a *Answer) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// add appends an id and the text that became whole with it.
func (a *Answer) add(id uint32, end *End) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.piece.IDs = append(a.piece.IDs, id)
	a.piece.Text = a.text.move(a.piece.Text, end)
	a.piece.End, a.piece.Cached = end, a.req.Cached
	a.full = true
}

// finish ends the answer without a further id.
func (a *Answer) finish(end *End) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.piece.Text = a.text.move(a.piece.Text, end)
	a.piece.End, a.piece.Cached = end, max(a.req.Cached, 0)
	a.full = true
	a.signal()
}

// fail ends the answer with an error, after what is not taken yet.
func (a *Answer) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
	a.signal()
}

// signal wakes the reader; one wake-up may stand for many.
func (a *Answer) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// say returns the next id of the script: the ids that were written, then the
// end token; again from the start where the end does not count yet.
func (a *Answer) say(end, filler uint32) uint32 {
	ids := a.ask.Script.IDs
	early := a.made < a.ask.MinTokens
	for range len(ids) + 1 {
		if a.spoken >= len(ids) {
			if !early && !a.ask.IgnoreEnd {
				return end
			}
			a.spoken = 0
		}
		if len(ids) == 0 {
			break
		}
		id := ids[a.spoken]
		a.spoken++
		if !early || !a.stops(id, end) {
			return id
		}
	}
	return filler
}

func (a *Answer) stops(id, end uint32) bool {
	return id == end && !a.ask.IgnoreEnd || slices.Contains(a.ask.StopIDs, id)
}
