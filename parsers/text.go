package parsers

import (
	"bytes"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// state is where in an answer a Stream is.
type state uint8

const (
	atStart   state = iota // nothing but white space yet; thinking may open
	inText                 // the visible answer
	inThought              // reasoning
	atBody                 // behind a start tag, before what it holds
	inCall                 // in a call's object
	inList                 // in a list of calls
	behind                 // behind a call, before its end tag
	between                // behind a call inside reasoning
)

const (
	openThink  = "<think>"
	closeThink = "</think>"
	openCall   = "<tool_call>"
	closeCall  = "</tool_call>"
)

const (
	maxWhite  = 4096    // white space held at once
	maxRaw    = 1 << 20 // text of an undecided call
	maxReread = 1 << 20 // bytes read again per answer
	spaces    = " \t\r\n"
)

// run reads as far as what is there allows.
func (s *Stream) run() {
	for len(s.buf) > 0 && s.step() {
	}
}

// step reads a piece; false means that more is needed.
func (s *Stream) step() bool {
	switch s.at {
	case atStart:
		return s.start()
	case inText, inThought:
		return s.text()
	case atBody:
		return s.body()
	case inCall:
		return s.object()
	case inList:
		return s.items()
	case behind:
		return s.behind()
	}
	return s.between()
}

// skip drops n bytes of what is to be read.
func (s *Stream) skip(n int) { s.buf = s.buf[n:] }

// sees reports whether a tag stands next.
func (s *Stream) sees(tag string) bool { return bytes.HasPrefix(s.buf, []byte(tag)) }

// may reports whether a tag may stand next once more is there.
func (s *Stream) may(tag string) bool {
	return !s.eof && len(s.buf) < len(tag) && strings.HasPrefix(tag, string(s.buf))
}

// white returns the white space that stands next.
func (s *Stream) white() []byte {
	return s.buf[:len(s.buf)-len(bytes.TrimLeft(s.buf, spaces))]
}

// start looks for an opening think tag where the answer begins.
func (s *Stream) start() bool {
	w := s.white()
	if len(w) > 0 {
		s.hold(w)
		s.skip(len(w))
		return true
	}
	switch {
	case s.sees(openThink):
		s.skip(len(openThink))
		s.ws = s.ws[:0]
		s.at, s.trim = inThought, true
	case s.may(openThink):
		return false
	default:
		s.at = inText
	}
	return true
}

// text reads text up to the next tag.
func (s *Stream) text() bool {
	n := bytes.IndexByte(s.buf, '<')
	if n < 0 {
		n = len(s.buf)
	}
	if n > 0 {
		s.say(s.buf[:n])
		s.skip(n)
		return true
	}
	for _, tag := range s.tags() {
		switch {
		case s.sees(tag):
			s.skip(len(tag))
			s.tag(tag)
			return true
		case s.may(tag):
			return false
		}
	}
	s.say(s.buf[:1])
	s.skip(1)
	return true
}

var (
	bothTags  = []string{openCall, closeCall, closeThink}
	callTags  = []string{openCall, closeCall}
	thinkTags = []string{closeThink}
	innerTags = []string{openCall, closeThink, openThink}
	plainTags = []string{closeThink, openThink}
)

// tags are those that count here.
func (s *Stream) tags() []string {
	switch {
	case s.at == inThought && s.tools:
		return innerTags
	case s.at == inThought:
		return plainTags
	case s.tools && s.think:
		return bothTags
	case s.tools:
		return callTags
	case s.think:
		return thinkTags
	}
	return nil
}

// tag acts on a tag that was read.
func (s *Stream) tag(tag string) {
	switch {
	case tag == openCall:
		s.opened()
		if s.at == inThought {
			s.held = append(make([]byte, 0, 256), tag...)
		}
		s.at = atBody
	case tag == closeThink && s.at == inThought:
		s.ws = s.ws[:0]
		s.at, s.trim = atStart, true
	case tag == closeCall && s.open > 0:
		s.open--
		s.say([]byte(tag))
	}
}

// say sends text of the kind that the state is for. White space at its end is
// held until more text follows.
func (s *Stream) say(text []byte) {
	if s.trim && len(s.ws) == 0 {
		if text = bytes.TrimLeft(text, "\r\n"); len(text) == 0 {
			return
		}
	}
	body := bytes.TrimRight(text, spaces)
	if len(body) > 0 {
		s.trim = false
		s.emit(s.speech(), s.ws)
		s.emit(s.speech(), body)
		s.ws = s.ws[:0]
		s.said = s.said || s.at != inThought
	}
	s.hold(text[len(body):])
}

// hold keeps white space. What goes beyond the limit is sent in whole pieces
// of that size, so that the same is held however the text was split.
func (s *Stream) hold(w []byte) {
	if s.trim && len(s.ws) == 0 {
		w = bytes.TrimLeft(w, "\r\n")
	}
	s.ws = append(s.ws, w...)
	for len(s.ws) > maxWhite {
		s.emit(s.speech(), s.ws[:maxWhite])
		s.ws = append(s.ws[:0], s.ws[maxWhite:]...)
	}
}

// speech is the kind of event that text here is.
func (s *Stream) speech() turn.EventKind {
	if s.at == inThought {
		return turn.Reasoning
	}
	return turn.Says
}
