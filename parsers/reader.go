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
	//	whole   the call has ended; closing markers may be taken or left
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

// series is a reader of calls that can follow each other with no marker
// between them, such as the items of a list.
type series interface {
	reader

	// next looks behind a whole call. It says
	//
	//	more    it cannot be judged before more is there
	//	whole   another call begins at b[n:]
	//	broken  none does; n bytes, such as the end of a list, are taken
	next(b []byte, last bool) (n int, p progress)
}

// framer reads answers that are messages with headers, in place of the
// Stream's own states for text and reasoning. It works on the Stream: takes
// bytes off s.buf with s.skip, sets s.at to inText or inThought before s.say,
// and sends calls through an out.
type framer interface {
	// step reads a piece of s.buf, which is not empty; false means that more is
	// needed.
	step() bool

	// settle decides what the end of the answer leaves open, once step has said
	// false, or s.buf is empty, with s.eof set. It reports whether step has to
	// go on.
	settle() bool
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
	s       *Stream
	open    string    // the marker that opened the call, "" when none did
	bare    bool      // no marker did: only a tool on offer can be called, with arguments that look like some
	again   bool      // the call follows another with no marker, as next found
	said    bool      // the name was said
	refused bool      // the name is of no tool on offer, and would have to be
	called  string    // the name
	flaws   turn.Flaw // of the call, sent with its end
}

// name says what is called, once, before any arguments. With an empty id the
// call gets one of ours.
func (o *out) name(name, id string) {
	if o.said || o.refused {
		return
	}
	if o.bare && !o.s.offered.has(name) {
		o.refused = true
		return
	}
	o.said, o.called = true, name
	o.s.announce(name, id)
}

// args hands on a piece of the arguments. All pieces of a call joined are one
// JSON object; what was handed on so far is at any time the beginning of one.
func (o *out) args(json []byte) {
	if o.said {
		o.s.emit(turn.CallArgs, json)
	}
}

// flaw notes what is wrong with the call.
func (o *out) flaw(f turn.Flaw) { o.flaws |= f }
