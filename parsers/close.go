package parsers

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// settle decides what the end of the answer leaves open. It reports whether
// text is to be read again.
func (s *Stream) settle() bool {
	if s.frame != nil {
		return s.frame.settle()
	}
	switch s.at {
	case inSection:
		return s.settleSection()
	case inCall:
		return s.settleCall()
	case inSeries, behind:
		s.accept()
	case atStart, inText:
		if s.calls == 0 {
			s.emit(turn.Says, s.ws)
		}
	}
	s.ws = s.ws[:0]
	return false
}

// settleSection decides about the opening of a section with nothing behind
// it: it is text, unless the answer was cut or whole calls stand before it.
func (s *Stream) settleSection() bool {
	if s.cut || s.drafts() > 0 {
		s.buf, s.looked = s.buf[:0], 0 // the beginning of a marker
		s.accept()
		return false
	}
	s.unread()
	return true
}

// settleCall decides about a call that breaks off. Of one that is cut before
// its name the markers are dropped.
func (s *Stream) settleCall() bool {
	s.take(len(s.buf))
	s.kit.reader.finish(s.cut)
	blank := len(bytes.TrimLeft(s.raw[min(s.head, len(s.raw)):], spaces)) == 0
	switch {
	case s.out.said && s.cut:
		s.out.flaw(turn.Truncated)
	case s.out.said:
		s.out.flaw(turn.Repaired)
	case blank && !s.out.bare && (s.cut || s.drafts() > 0):
		s.accept()
		s.ws = s.ws[:0]
		return false
	case s.cut && !s.out.bare:
		rest := s.raw[s.head:]
		s.accept()
		s.say(rest)
		s.raw = s.raw[:0]
		return true
	default:
		s.unread()
		return true
	}
	s.end()
	s.accept()
	return false
}

// accept makes calls of the draft and leaves the call behind.
func (s *Stream) accept() {
	s.release()
	draft := s.draft
	s.draft, s.held = nil, nil
	s.dst = append(s.dst, draft...)
	s.at = inText
}
