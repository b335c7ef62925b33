package parsers

import (
	"crypto/rand"

	"github.com/agentinfer/dyn/turn"
)

// Options choose how an answer is read.
type Options struct {
	Tail    string        // the end of the prompt, which says what the answer begins with
	Thinks  bool          // the prompt ends inside open reasoning; counts where Tail says nothing
	Spoken  bool          // the answer begins with visible text, whatever Tail says
	NewID   func() string // an id for a call; nil makes random ones
	Offered []turn.Tool   // the tools on offer; other names pass, and are marked

	Tools     string // for New: a format whose calls are read; with "" they stay text
	Reasoning string // for New: a format whose reasoning is read; with "" its markers stay text
	Set       *Set   // for New: where formats are looked up; nil means those of this program
}

// Stream reads one answer. It belongs to one goroutine.
type Stream struct {
	f       *Format
	o       Options
	kit     *kit   // nil once the answer is closed
	frame   framer // nil without messages
	offered *tools
	eof     bool
	cut     bool
	memory

	at     state
	buf    []byte // pushed and not yet read
	looked int    // bytes of buf that do not end reasoning, for a call in it
	trim   bool   // line feeds are dropped until something else comes
	said   bool   // some visible text was sent
	open   int    // opening markers that turned out to be text, so that their closers are too

	out     out
	tag     int  // how much of raw is the first marker
	head    int  // and all markers up to the call
	closed  bool // a closer was met behind the call
	calls   int  // announced
	rereads int  // bytes read again

	draft []turn.Event // of calls inside reasoning, which may be drafts
	held  []byte       // their text; nil outside

	dst  []turn.Event
	kind turn.EventKind // of acc
}

// New returns a Stream for the formats that the options name. An unknown one
// is an error that names the known ones.
func New(o Options) (*Stream, error) {
	set := o.Set
	if set == nil {
		set = builtin()
	}
	f, err := set.Format(o.Tools, o.Reasoning)
	if err != nil {
		return nil, err
	}
	return f.Open(o), nil
}

// Using returns a Stream that reads by one spec, calls and reasoning; the
// names in the options do not count. A spec that is wrong is an error.
func Using(spec *Spec, o Options) (*Stream, error) {
	f, err := FormatOf(spec)
	if err != nil {
		return nil, err
	}
	return f.Open(o), nil
}

// begin sets the first state: what the prompt's tail says, else undecided.
func (s *Stream) begin() {
	if s.f.think == nil {
		if !s.bare() {
			s.at = inText
		}
		return
	}
	if s.o.Spoken {
		return
	}
	thinks, known := s.f.Begins(s.o.Tail)
	if thinks || !known && s.o.Thinks {
		s.at, s.trim = inThought, true
	}
}

// bare reports whether calls need no marker.
func (s *Stream) bare() bool { return s.f.calling != nil && s.f.calling.Bare }

// pieceBytes is how much text is looked at once, so that reading again stays
// cheap however much is pushed.
const pieceBytes = 4096

// newID makes an id in OpenAI's form.
func newID() string { return "call_" + rand.Text()[:24] }

// Push reads the next piece of the answer and appends the events that are
// settled by it to dst.
func (s *Stream) Push(dst []turn.Event, text string) []turn.Event {
	s.dst = dst
	text = text[s.glance(text):]
	for len(text) > 0 {
		n := min(len(text), pieceBytes)
		if len(s.buf) >= pieceBytes { // a reader holds a long value; it is not to be copied for each piece
			s.buf = append(s.buf, text[:n]...)
		} else {
			s.store = append(append(s.store[:0], s.buf...), text[:n]...)
			s.buf = s.store
		}
		text = text[n:]
		s.run()
	}
	return s.flush()
}

// Cut says that the answer was ended by a token limit. Call it before Close:
// then arguments that break off are left as they are, and markers of a call
// that did not come to its name are dropped.
func (s *Stream) Cut() { s.cut = true }

// Close settles what is held, ends an open call, and appends the events to
// dst. It never appends Finish. The Stream is used up.
func (s *Stream) Close(dst []turn.Event) []turn.Event {
	s.dst = dst
	if !s.eof {
		s.eof = true
		for s.run(); s.settle(); s.run() {
		}
	}
	dst = s.flush()
	s.putBack()
	return dst
}

// Calls tells how many calls were sent so far.
func (s *Stream) Calls() int { return s.calls - s.drafts() }

// drafts counts the calls in the draft.
func (s *Stream) drafts() int {
	n := 0
	for i := range s.draft {
		if s.draft[i].Kind == turn.CallStart {
			n++
		}
	}
	return n
}

// emit adds text to the events, joined with what came before of its kind.
func (s *Stream) emit(kind turn.EventKind, text []byte) {
	if len(text) == 0 {
		return
	}
	if s.kind != kind {
		s.release()
	}
	s.kind = kind
	s.acc = append(s.acc, text...)
}

// release moves joined text to the events.
func (s *Stream) release() {
	if len(s.acc) == 0 {
		return
	}
	to := &s.dst
	if s.held != nil && s.kind != turn.Reasoning {
		to = &s.draft
	}
	*to = append(*to, turn.Event{Kind: s.kind, Text: string(s.acc)})
	if s.kind == turn.CallArgs {
		(*to)[len(*to)-1].Call.Index = s.calls - 1
	}
	s.acc = s.acc[:0]
}

// event adds an event, to the draft where there is one.
func (s *Stream) event(e turn.Event) {
	if s.held != nil && e.Kind != turn.Reasoning {
		s.draft = append(s.draft, e)
		return
	}
	s.dst = append(s.dst, e)
}

// flush returns the events with all text in them.
func (s *Stream) flush() []turn.Event {
	s.release()
	dst := s.dst
	s.dst = nil
	return dst
}
