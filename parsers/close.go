package parsers

import "github.com/agentinfer/dyn/turn"

// settle decides what the end of the answer leaves open. It reports whether
// text is to be read again.
func (s *Stream) settle() bool {
	switch s.at {
	case atBody, inList:
		return s.settleTag()
	case inCall:
		return s.settleCall()
	case behind, between:
		s.accept()
	case atStart, inText:
		if s.calls == 0 {
			s.emit(turn.Says, s.ws)
		}
	}
	s.ws = s.ws[:0]
	return false
}

// settleTag decides about a start tag with nothing behind it: it is text,
// unless the answer was cut or whole calls stand before it.
func (s *Stream) settleTag() bool {
	if s.cut || s.sent || s.drafts() > 0 {
		s.accept()
		return false
	}
	s.unread()
	return true
}

// settleCall decides about a call that breaks off.
func (s *Stream) settleCall() bool {
	if s.sent || s.call.finish(s.cut) {
		if s.sent {
			s.call.finish(s.cut)
		}
		s.end()
		s.accept()
		return false
	}
	if s.cut {
		_, rest := s.tagAndRest()
		s.accept()
		s.at = inText
		s.say(rest)
		s.raw = s.raw[:0]
		return true
	}
	s.unread()
	return true
}

// accept makes calls of the draft and leaves the call behind.
func (s *Stream) accept() {
	s.release()
	draft := s.draft
	s.draft, s.held = nil, nil
	s.dst = append(s.dst, draft...)
	s.at = inText
}
