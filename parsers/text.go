package parsers

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// state is where in an answer a Stream is.
type state uint8

const (
	atStart   state = iota // nothing but white space yet; thinking may open
	inText                 // the visible answer
	inThought              // reasoning
	inSection              // behind the opening of a section, before a call
	inCall                 // in a call
	inSeries               // behind a call that another may follow without a marker
	behind                 // behind a call, where closers may stand
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
	if s.frame != nil {
		return s.frame.step()
	}
	switch s.at {
	case atStart:
		return s.start()
	case inText, inThought:
		return s.text()
	case inSection:
		return s.section()
	case inCall:
		return s.call()
	case inSeries:
		return s.next()
	}
	return s.behind()
}

// skip drops n bytes of what is to be read.
func (s *Stream) skip(n int) { s.buf, s.looked = s.buf[n:], max(s.looked-n, 0) }

// white returns the white space that stands next.
func (s *Stream) white() []byte {
	n := 0
	for n < len(s.buf) && isSpace(s.buf[n]) {
		n++
	}
	return s.buf[:n]
}

// start looks for reasoning where the answer begins, and for calls that need
// no marker.
func (s *Stream) start() bool {
	if w := s.white(); len(w) > 0 {
		s.hold(w)
		s.skip(len(w))
		return true
	}
	m, wait := s.f.live[atStart].at(s.buf, s.eof)
	switch {
	case wait:
		return false
	case m != nil && m.does == learned:
		return s.learn(m)
	case m != nil:
		s.skip(len(m.text))
		if m.does != absorbed {
			s.ws = s.ws[:0]
			s.trim = true
		}
		if m.does == opensThought {
			s.at = inThought
		}
		return true
	case s.bare():
		m, wait := s.f.live[inText].at(s.buf, s.eof)
		if wait {
			return false
		}
		if m == nil {
			s.enter("", true)
			return true
		}
	}
	s.at = inText
	return true
}

// text reads text up to the next marker.
func (s *Stream) text() bool {
	n, m, wait := s.f.live[s.at].scan(s.buf, s.eof)
	if n > 0 {
		s.say(s.buf[:n])
		s.skip(n)
	}
	if m != nil && m.does == learned {
		return s.learn(m)
	}
	if m != nil {
		s.skip(len(m.text))
		s.marker(m)
	}
	return !wait
}

// marker acts on a marker that was read.
func (s *Stream) marker(m *mark) {
	switch m.does {
	case opensSection, opensCall:
		if s.at == inThought && s.held == nil {
			s.held = make([]byte, 0, 256)
		}
		if m.does == opensCall {
			s.enter(m.text, false)
			return
		}
		s.raw = s.raw[:0]
		s.out.said = false
		s.keep([]byte(m.text))
		s.tag, s.head = len(m.text), len(m.text)
		s.at = inSection
	case opensThought:
		if s.at == inText {
			if s.said {
				s.emit(turn.Says, s.ws)
			}
			s.ws = s.ws[:0]
			s.at, s.trim = inThought, true
		}
	case closesThought:
		if s.at == inThought {
			s.ws = s.ws[:0]
			s.at, s.trim = atStart, !s.said
		}
	case closes:
		if s.open > 0 {
			s.open--
			s.say([]byte(m.text))
		}
	}
}

// glance reads text that holds no marker as it is, without a copy, and
// returns how much of it that is.
func (s *Stream) glance(text string) int {
	if len(s.buf) > 0 || s.trim || s.frame != nil || s.at != inText && s.at != inThought {
		return 0
	}
	live := &s.f.live[s.at]
	n := 0
	for n < len(text) {
		if n = live.nextIn(text, n); n == len(text) {
			break
		}
		if live.mayAt(text[n:]) {
			break
		}
		n++
	}
	for n > 0 && isSpace(text[n-1]) {
		n--
	}
	if n == 0 {
		return 0
	}
	kind := s.speech()
	if len(s.ws)+len(s.acc) > 0 {
		s.emit(kind, s.ws)
		s.ws = s.ws[:0]
		s.release()
	}
	s.dst = append(s.dst, turn.Event{Kind: kind, Text: text[:n]})
	s.said = s.said || kind == turn.Says
	return n
}

// say sends text of the kind that the state is for. White space at its end is
// held until more text follows.
func (s *Stream) say(text []byte) {
	if s.trim && len(s.ws) == 0 {
		if text = bytes.TrimLeft(text, "\r\n"); len(text) == 0 {
			return
		}
	}
	body := text
	for len(body) > 0 && isSpace(body[len(body)-1]) {
		body = body[:len(body)-1]
	}
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
