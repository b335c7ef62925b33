package parsers

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// opened goes on behind a start tag.
func (s *Stream) opened() {
	s.raw = append(s.raw[:0], openCall...)
	s.tagged, s.sent = true, false
}

// keep remembers bytes of a call for the case that it is none.
func (s *Stream) keep(b ...byte) {
	if s.held != nil {
		s.held = append(s.held, b...)
	}
	if !s.sent {
		s.raw = append(s.raw, b...)
	}
}

// body looks at what a start tag is followed by.
func (s *Stream) body() bool {
	switch c := s.buf[0]; {
	case isSpace(c) && len(s.raw) < maxWhite:
		s.keep(c)
		s.skip(1)
	case c == '{':
		s.list = false
		s.next()
	case c == '[':
		s.list = true
		s.keep(c)
		s.skip(1)
		s.at = inList
	default:
		s.unread()
	}
	return true
}

// next starts to read a call's object.
func (s *Stream) next() {
	s.call = call{}
	s.sent = false
	s.at = inCall
}

// items reads what stands between the calls of a list.
func (s *Stream) items() bool {
	switch c := s.buf[0]; {
	case isSpace(c) || c == ',':
		s.keep(c)
		s.skip(1)
	case c == '{':
		if s.sent {
			s.raw, s.tagged = s.raw[:0], false
		}
		s.next()
	case c == ']' && s.sent:
		s.keep(c)
		s.skip(1)
		s.at = behind
	case s.sent:
		s.at = behind
	default:
		s.unread()
	}
	return true
}

// object reads the bytes of a call.
func (s *Stream) object() bool {
	for len(s.buf) > 0 {
		if s.call.stuck() && s.buf[0] == '<' {
			if s.may(closeCall) {
				return false
			}
			if s.sees(closeCall) {
				return s.broken()
			}
		}
		if s.held != nil && s.buf[0] == '<' {
			if s.may(closeThink) {
				return false
			}
			if s.sees(closeThink) { // reasoning goes on: a draft
				s.unread()
				return true
			}
		}
		c := s.buf[0]
		said := s.call.feed(c)
		if said == bad {
			return s.broken()
		}
		s.keep(c)
		s.skip(1)
		s.announce()
		if said == done {
			s.end()
			return true
		}
		if len(s.raw) > maxRaw && !s.sent || len(s.held) > maxRaw {
			s.rereads = maxReread
			s.unread()
			return true
		}
	}
	return false
}

// stuck reports whether a raw line feed was just read inside a string of the
// arguments. JSON allows none: where an end tag follows, the closing quote is
// missing.
func (c *call) stuck() bool {
	return c.busy && c.v.at == inString && c.v.fed == '\n'
}

// announce sends what is settled of the call.
func (s *Stream) announce() {
	if !s.sent {
		if !s.call.ready() {
			return
		}
		s.release()
		if s.held == nil && !s.said {
			s.ws = s.ws[:0]
		}
		s.sent = true
		s.raw = s.raw[:0]
		s.event(turn.Event{Kind: turn.CallStart, Call: turn.Call{Index: s.calls, ID: s.o.NewID(), Name: s.call.name}})
		s.calls++
	}
	s.emit(turn.CallArgs, s.call.take())
}

// end sends the end of a call.
func (s *Stream) end() {
	s.announce()
	s.release()
	s.event(turn.Event{Kind: turn.CallEnd, Call: turn.Call{Index: s.calls - 1}})
	s.at = behind
	if s.list {
		s.at = inList
	}
}

// broken ends a call where no JSON goes on: it is closed when it was sent, or
// when only its end is missing, else it is text.
func (s *Stream) broken() bool {
	if !s.sent {
		if s.call.name == "" || s.call.busy && s.call.is == other {
			s.unread()
			return true
		}
		if s.may(closeCall) {
			return false
		}
		if !s.sees(closeCall) {
			s.unread()
			return true
		}
	}
	s.call.finish(false)
	s.end()
	s.at = behind
	return true
}

// unread makes text of a start tag and reads again what followed it.
func (s *Stream) unread() {
	text, rest := s.tagAndRest()
	if s.held != nil {
		text = s.held[:len(s.held)-len(rest)]
	} else if s.tagged {
		s.open++
	}
	s.plain()
	s.say(text)
	if s.rereads += len(rest); s.rereads > maxReread {
		s.say(rest)
	} else {
		s.buf = append(bytes.Clone(rest), s.buf...)
	}
	s.raw = s.raw[:0]
}

// tagAndRest splits the text of a call behind its start tag. Of a call that
// was announced nothing is left to read.
func (s *Stream) tagAndRest() (tag, rest []byte) {
	if !s.tagged || s.sent {
		return nil, s.raw
	}
	return s.raw[:len(openCall)], s.raw[len(openCall):]
}

// plain goes back from a call to the text around it; calls of a draft are
// forgotten.
func (s *Stream) plain() {
	if s.held == nil {
		s.at = inText
		return
	}
	if s.kind == turn.CallArgs {
		s.acc = s.acc[:0]
	}
	s.calls -= s.drafts()
	s.draft, s.held = nil, nil
	s.at = inThought
}

// behind looks for the end tag.
func (s *Stream) behind() bool {
	switch c := s.buf[0]; {
	case (isSpace(c) || c == '}' || c == ']') && len(s.junk) < maxWhite:
		s.junk = append(s.junk, c)
		if s.held != nil {
			s.held = append(s.held, c)
		}
		s.skip(1)
		return true
	case s.sees(closeCall):
		if s.held != nil {
			s.held = append(s.held, closeCall...)
		}
		s.skip(len(closeCall))
		s.junk = s.junk[:0]
	case s.may(closeCall), s.may(openCall):
		return false
	case s.sees(openCall):
		s.junk = s.junk[:0]
	}
	if s.held != nil {
		s.junk = s.junk[:0]
		s.at = between
		return true
	}
	s.at = inText
	s.say(s.junk)
	s.junk = s.junk[:0]
	return true
}

// between decides about calls inside reasoning: another call may follow, and
// anything else makes drafts of them.
func (s *Stream) between() bool {
	switch {
	case isSpace(s.buf[0]) && len(s.held) < maxRaw:
		s.held = append(s.held, s.buf[0])
		s.skip(1)
	case s.sees(openCall):
		s.skip(len(openCall))
		s.held = append(s.held, openCall...)
		s.opened()
		s.at = atBody
	case s.may(openCall):
		return false
	default:
		text := s.held
		s.plain()
		s.say(text)
	}
	return true
}
