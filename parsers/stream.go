package parsers

import (
	"crypto/rand"

	"github.com/agentinfer/dyn/turn"
)

// Options choose how an answer is read.
type Options struct {
	Tools     string        // a format whose calls are read, or ""; calls then stay text
	Reasoning string        // a format whose reasoning is read, or ""; its markers then stay text
	Set       *Set          // where formats are looked up; nil means those of this program
	Tail      string        // the end of the prompt, which says what the answer begins with
	Thinks    bool          // the prompt ends inside open reasoning; Tail need not say so
	NewID     func() string // an id for a call; nil makes random ones
	Offered   []turn.Tool   // the tools on offer; other names pass, and are marked
}

// Stream reads one answer. It belongs to one goroutine.
type Stream struct {
	o       Options
	calling *Spec // how calls are written; nil when they stay text
	think   *Reasoning
	offered *tools
	reader  reader
	series  series // the reader, where it is one
	frame   framer // nil without messages
	live    [behind + 1]marks
	ends    marks // what closes reasoning
	eof     bool
	cut     bool

	at    state
	buf   []byte // pushed and not yet read
	store []byte // its memory
	ws    []byte // white space, held until text follows
	trim  bool   // line feeds are dropped until something else comes
	said  bool   // some visible text was sent
	open  int    // opening markers that turned out to be text, so that their closers are too

	out     out
	raw     []byte // of the call, while it may yet be text
	tag     int    // how much of raw is the first marker
	head    int    // and all markers up to the call
	closed  bool   // a closer was met behind the call
	junk    []byte // behind a call, while it is unknown what it is
	calls   int    // announced
	rereads int    // bytes read again

	draft []turn.Event // of calls inside reasoning, which may be drafts
	held  []byte       // their text; nil outside

	dst  []turn.Event
	kind turn.EventKind // of acc
	acc  []byte         // text of an event not yet in dst
}

// New returns a Stream. An unknown format is an error that names the known
// ones.
func New(o Options) (*Stream, error) {
	set := o.Set
	if set == nil {
		set = builtin()
	}
	var calling, thinking *Spec
	var err error
	if o.Tools != "" {
		if calling, err = set.Lookup(o.Tools, Tools); err != nil {
			return nil, err
		}
	}
	if o.Reasoning != "" {
		if thinking, err = set.Lookup(o.Reasoning, Thinking); err != nil {
			return nil, err
		}
	}
	return newStream(calling, thinking, o), nil
}

// Using returns a Stream that reads by one spec, calls and reasoning; the
// names in the options do not count. A spec that is wrong is an error.
func Using(spec *Spec, o Options) (*Stream, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	return newStream(spec.part(Tools), spec.part(Thinking), o), nil
}

// newStream returns a Stream for the calls of one spec and the reasoning of
// another, each nil to leave them text.
func newStream(calling, thinking *Spec, o Options) *Stream {
	if o.NewID == nil {
		o.NewID = newID
	}
	s := &Stream{o: o, calling: calling, offered: newTools(o.Offered)}
	if calling != nil {
		s.reader = newReader(calling, s.offered)
		s.series, _ = s.reader.(series)
		s.mark(calling)
	}
	if thinking != nil {
		if s.think = thinking.Reasoning; s.think != nil {
			s.ends.add(closesThought, s.think.Close...)
		}
		s.mark(thinking)
	}
	s.begin()
	if spec := framed(calling, thinking); spec != nil {
		s.frame = newFrame(s, spec, spec == thinking)
	}
	return s
}

// mark puts the markers of a spec where they count.
func (s *Stream) mark(spec *Spec) {
	if spec == s.calling {
		for _, at := range []state{inText, inThought, behind} {
			s.live[at].add(opensSection, spec.Section.Open...)
			s.live[at].add(opensCall, heads(spec.Call.Open)...)
		}
		s.live[inSection].add(opensCall, heads(spec.Call.Open)...)
		s.live[inSection].add(closes, spec.Section.Close...)
		for _, at := range []state{inText, behind} {
			s.live[at].add(closes, distinct(spec.Section.Close)...)
			s.live[at].add(closes, distinct(spec.Call.Close)...)
		}
		for _, t := range spec.Arg.Close {
			if head(t) == t {
				s.live[behind].add(closes, t)
			}
		}
		if spec.Call.Fence {
			s.live[behind].add(closes, "```")
		}
	}
	if t := spec.Reasoning; t != nil && t == s.think {
		s.live[atStart].add(opensThought, t.Open...)
		s.live[atStart].add(closesThought, t.Close...)
		s.live[inThought].add(closesThought, t.Close...)
		s.live[inThought].add(opensThought, t.Open...)
		s.live[inText].add(closesThought, t.Close...)
		if t.Anywhere {
			s.live[inText].add(opensThought, t.Open...)
		}
	}
	for _, at := range []state{atStart, inText, behind} {
		s.live[at].add(absorbed, spec.Absorb...)
	}
	for _, at := range []state{atStart, inText, inThought, behind} {
		s.live[at].add(absorbed, spec.Tokens.Strip...)
		s.live[at].add(absorbed, spec.Tokens.Stop...)
	}
}

// distinct leaves out closers that prose may hold without meaning them.
func distinct(m Marks) Marks {
	var kept Marks
	for _, t := range m {
		if len(t) > 3 {
			kept = append(kept, t)
		}
	}
	return kept
}

// begin sets the first state: what the prompt's tail says, else undecided.
func (s *Stream) begin() {
	if s.think == nil {
		if !s.bare() {
			s.at = inText
		}
		return
	}
	thinks := s.think.Always
	if does, ok := s.live[atStart].end(s.o.Tail); ok {
		thinks = does == opensThought
	}
	if thinks || s.o.Thinks {
		s.at, s.trim = inThought, true
	}
}

// bare reports whether calls need no marker.
func (s *Stream) bare() bool { return s.calling != nil && s.calling.Bare }

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
		s.store = append(append(s.store[:0], s.buf...), text[:n]...)
		s.buf = s.store
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
	return s.flush()
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
	e := turn.Event{Kind: s.kind, Text: string(s.acc)}
	if s.kind == turn.CallArgs {
		e.Call.Index = s.calls - 1
	}
	s.acc = s.acc[:0]
	s.event(e)
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
