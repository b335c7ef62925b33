package sim

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/agentinfer/dyn/engine/sim/core"
)

// completions is POST /v1/completions.
func (s *server) completions(w http.ResponseWriter, r *http.Request) {
	body, p := readBody(w, r)
	if p != nil {
		p.write(w)
		return
	}
	c, p := readCompletion(body)
	if p != nil {
		p.write(w)
		return
	}
	ask, p := s.ask(c, r.Header)
	if p != nil {
		p.write(w)
		return
	}
	s.answer(w, r, ask, s.dress(c, ask, r.Header), c.stream)
}

// dressing is how the answer to one request is written. A draining engine
// answers 200 with nothing in it: there is no answer then.
type dressing interface {
	stream(context.Context, http.ResponseWriter, *core.Answer)
	document(context.Context, http.ResponseWriter, *core.Answer)
}

// answer has the engine answer, and writes that.
func (s *server) answer(w http.ResponseWriter, r *http.Request, ask *core.Ask, d dressing, stream bool) {
	answer, err := s.engine.Submit(ask)
	switch {
	case errors.Is(err, core.ErrBusy):
		errBusy.write(w)
		return
	case errors.Is(err, core.ErrDead):
		errDead.write(w)
		return
	case err == nil:
		defer answer.Drop()
	}
	if stream {
		d.stream(r.Context(), w, answer)
	} else {
		d.document(r.Context(), w, answer)
	}
}

// dress is how the answer to one request is written.
type dress struct {
	c      *completion
	prompt []uint32
	id     string
	head   []byte // start of every chunk and of the document
	print  string
	made   int // ids written
	cached int
	begun  bool
}

func (s *server) dress(c *completion, ask *core.Ask, h http.Header) *dress {
	id := h.Get("X-Request-Id")
	if id == "" {
		id = c.requestID
	}
	if id == "" {
		id = randomID(8)
	}
	d := &dress{c: c, prompt: ask.Prompt, id: "cmpl-" + id, print: s.print}
	d.head = d.appendHead(nil, s.o.name, time.Now())
	return d
}

// stream writes the answer as server-sent events.
func (d *dress) stream(ctx context.Context, w http.ResponseWriter, a *core.Answer) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	var (
		p   core.Piece
		buf []byte
	)
	for done := a == nil; !done; {
		if out.Flush() != nil {
			return
		}
		err := a.Next(ctx, &p)
		switch {
		case errors.Is(err, core.ErrDead):
			_, _ = w.Write([]byte(deadChunk + "data: [DONE]\n\n"))
			return
		case errors.Is(err, core.ErrCut):
			panic(http.ErrAbortHandler)
		case err != nil:
			return
		}
		done = p.End != nil
		buf = d.appendChunk(buf[:0], &p)
		if _, err := w.Write(buf); err != nil {
			return
		}
	}
	buf = buf[:0]
	if d.c.usage {
		buf = d.appendUsageChunk(buf)
	}
	_, _ = w.Write(append(buf, "data: [DONE]\n\n"...))
}

// document writes the answer in one piece.
func (d *dress) document(ctx context.Context, w http.ResponseWriter, a *core.Answer) {
	all := core.Piece{End: &core.End{Reason: core.Aborted, StopID: -1}}
	if a != nil {
		all.End = nil
	}
	var p core.Piece
	for all.End == nil {
		err := a.Next(ctx, &p)
		switch {
		case errors.Is(err, core.ErrDead):
			errDead.write(w)
			return
		case errors.Is(err, core.ErrCut):
			panic(http.ErrAbortHandler)
		case err != nil:
			return
		}
		all.Text = append(all.Text, p.Text...)
		all.IDs = append(all.IDs, p.IDs...)
		all.End, all.Cached = p.End, p.Cached
	}
	writeJSON(w, http.StatusOK, string(d.appendDocument(nil, &all)))
}
