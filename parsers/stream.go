package parsers

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Options choose how an answer is read.
type Options struct {
	Tools     string        // "hermes", or "" when calls stay text
	Reasoning string        // "think", or "" when think tags stay text
	Thinks    bool          // the prompt ends inside an open think block
	NewID     func() string // an id for a call; nil makes random ones
	Known     []string      // names of the tools on offer; unknown names pass
}

// names are the formats of each kind.
var (
	toolNames      = []string{"hermes"}
	reasoningNames = []string{"think"}
)

// Known lists the formats that New takes.
func Known() []string { return slices.Concat(toolNames, reasoningNames) }

// Stream reads one answer. It belongs to one goroutine.
type Stream struct {
	o     Options
	tools bool
	think bool
	eof   bool
	cut   bool

	at   state
	buf  []byte // pushed and not yet read
	ws   []byte // white space, held until text follows
	trim bool   // line feeds are dropped until something else comes
	said bool   // some text was sent
	open int    // start tags that turned out to be text, so that their end tags are too

	call    call
	raw     []byte // of the call, while it may yet be text
	tagged  bool   // raw begins with the start tag
	sent    bool   // the call was announced
	list    bool   // calls stand in a list
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
	if o.Tools != "" && !slices.Contains(toolNames, o.Tools) {
		return nil, fmt.Errorf("tool call format %q: unknown; known: %s", o.Tools, strings.Join(toolNames, ", "))
	}
	if o.Reasoning != "" && !slices.Contains(reasoningNames, o.Reasoning) {
		return nil, fmt.Errorf("reasoning format %q: unknown; known: %s", o.Reasoning, strings.Join(reasoningNames, ", "))
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	s := &Stream{o: o, tools: o.Tools != "", think: o.Reasoning != ""}
	switch {
	case s.think && o.Thinks:
		s.at, s.trim = inThought, true
	case !s.think:
		s.at = inText
	}
	return s, nil
}

// pieceBytes is how much text is looked at once, so that reading again stays
// cheap however much is pushed.
const pieceBytes = 4096

// newID makes an id in OpenAI's form.
func newID() string { return "call_" + rand.Text()[:24] }

// Push reads the next piece of the answer and appends the events that are
// settled by it to dst.
func (s *Stream) Push(dst []turn.Event, text string) []turn.Event {
	s.dst = dst
	for len(text) > 0 {
		n := min(len(text), pieceBytes)
		s.buf = append(s.buf, text[:n]...)
		text = text[n:]
		s.run()
	}
	return s.flush()
}

// Cut says that the answer was ended by a token limit. Call it before Close:
// then arguments that break off are left as they are, and tags of a call that
// did not come to its name are dropped.
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
