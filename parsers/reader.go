package parsers

import "github.com/agentinfer/dyn/turn"

// reader reads one call, from behind the marker that opens it. A Stream has
// one for each grammar in use and uses it again for each call.
//
// What it says must depend on the bytes alone, never on how they are split:
// it takes only what is settled and leaves the rest in front of the next
// look.
type reader interface {
	// begin makes it ready for a call, whose parts it writes to o.
	begin(o *out)

	// read looks at b, which holds all that was not taken yet, and returns how
	// many bytes of it are taken. With last nothing will follow b. It says
	//
	//	more    the call goes on, or cannot be judged before more is there
	//	whole   the call has ended, its closing marker is taken if there is one
	//	broken  at b[n:] no call goes on
	//
	// Before the name was said, broken makes text of the call and what it took
	// is read again; afterwards the arguments are closed and b[n:] is text.
	read(b []byte, last bool) (n int, p progress)

	// finish ends a call that breaks off, after read has said broken or the answer
	// has ended: what can be said of it is said, and arguments are closed. With
	// cut a token limit ended the answer: then nothing is added. It reports
	// whether this is a call at all; false only when no name was said.
	finish(cut bool) bool
}

// progress is what a reader says of what it was shown.
type progress uint8

const (
	more progress = iota
	whole
	broken
)

// out takes the parts of one call from its reader and hands them on as events.
type out struct {
	s     *Stream
	said  bool      // the name was said
	flaws turn.Flaw // of the call, sent with its end
}

// name says what is called, once, before any arguments. With an empty id the
// call gets one of ours.
func (o *out) name(name, id string) {
	panic("the engine's") // stream.go
}

// args hands on a piece of the arguments. All pieces of a call joined are one
// JSON object; what was handed on so far is at any time the beginning of one.
func (o *out) args(json []byte) {
	panic("the engine's")
}

// flaw notes what is wrong with the call.
func (o *out) flaw(f turn.Flaw) { o.flaws |= f }

// tools are the tools on offer and what their arguments may be.
type tools struct {
	list []turn.Tool
}
