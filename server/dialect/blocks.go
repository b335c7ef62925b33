package dialect

import "github.com/agentinfer/dyn/turn"

// block is one block of an answer: thinking, text, or a call.
type block struct {
	kind  turn.EventKind // Reasoning, Says or CallStart
	call  turn.Call
	index int  // among the answer's blocks, from 0
	nth   int  // among its calls, from 0
	some  bool // it has had text
}

// blockWriter gives blocks the form of one API. Of a blocks it gets, for each
// block, one open, any number of pieces that hold something, and one close,
// and never two open blocks.
type blockWriter interface {
	open(dst []byte, b *block) []byte
	piece(dst []byte, b *block, text string) []byte
	close(dst []byte, b *block) []byte
}

// blocks makes blocks of an answer's events, for all dialects: numbered, one
// open at a time, in any order of thinking, text and calls. While a call is
// open, events of other calls and texts wait for its end. It holds nothing
// else. The zero value is ready.
type blocks struct {
	block  // the open one, when inside is true; else the last one
	inside bool
	count  int // blocks so far
	calls  int
	held   []turn.Event
}

// event writes what an event brings; of Finish and Fail, the end of all
// blocks.
func (s *blocks) event(dst []byte, w blockWriter, e *turn.Event) []byte {
	if s.waits(e) {
		s.held = append(s.held, *e)
		return dst
	}
	switch e.Kind {
	case turn.Reasoning, turn.Says:
		if e.Text == "" {
			return dst
		}
		if !s.inside || s.kind != e.Kind {
			return s.next(dst, w, e)
		}
		dst = s.text(dst, w, e.Text)
	case turn.CallStart:
		dst = s.next(dst, w, e)
	case turn.CallArgs:
		if e.Text != "" && s.inCall() {
			dst = s.text(dst, w, e.Text)
		}
	case turn.CallEnd:
		if s.inCall() {
			dst = s.stop(dst, w)
		}
	case turn.Finish, turn.Fail:
		for s.inside { // a call that waited may have no end either
			dst = s.stop(dst, w)
		}
	}
	return dst
}

// next ends the open block and begins the one of e, unless what waited for the
// end has begun another.
func (s *blocks) next(dst []byte, w blockWriter, e *turn.Event) []byte {
	if dst = s.stop(dst, w); s.inside {
		return s.event(dst, w, e)
	}
	dst = s.begin(dst, w, e)
	if e.Text != "" {
		dst = s.text(dst, w, e.Text)
	}
	return dst
}

func (s *blocks) inCall() bool { return s.inside && s.kind == turn.CallStart }

// waits reports whether an event has to wait for the end of the open call. A
// call that begins under the number of the open one shows that this one has
// ended.
func (s *blocks) waits(e *turn.Event) bool {
	if !s.inCall() || e.Kind == turn.Finish || e.Kind == turn.Fail {
		return false
	}
	if e.Kind == turn.Reasoning || e.Kind == turn.Says {
		return e.Text != ""
	}
	return e.Call.Index != s.call.Index
}

func (s *blocks) begin(dst []byte, w blockWriter, e *turn.Event) []byte {
	s.block = block{kind: e.Kind, call: e.Call, index: s.count, nth: s.calls}
	s.inside = true
	s.count++
	if e.Kind == turn.CallStart {
		s.calls++
	}
	return w.open(dst, &s.block)
}

func (s *blocks) text(dst []byte, w blockWriter, text string) []byte {
	dst = w.piece(dst, &s.block, text)
	s.some = true
	return dst
}

// stop closes the open block, if there is one, and lets in what waited for
// its end.
func (s *blocks) stop(dst []byte, w blockWriter) []byte {
	if !s.inside {
		return dst
	}
	dst = w.close(dst, &s.block)
	s.inside = false
	held := s.held
	s.held = nil
	for i := range held {
		dst = s.event(dst, w, &held[i])
	}
	return dst
}

// emptyArgs are the arguments of a call that had none, which clients parse.
const emptyArgs = "{}"
