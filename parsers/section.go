package parsers

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// enter goes into a call behind its marker, or with "" where none stands.
func (s *Stream) enter(marker string, bare bool) {
	if s.at != inSection {
		s.raw, s.tag = s.raw[:0], len(marker)
	}
	s.out = out{s: s, open: marker, bare: bare, again: s.at == inSeries}
	s.keep([]byte(marker))
	s.head = len(s.raw)
	s.closed = false
	s.kit.reader.begin(&s.out)
	s.at = inCall
}

// keep remembers bytes of a call for the case that it is none.
func (s *Stream) keep(b []byte) {
	if s.held != nil {
		s.held = append(s.held, b...)
	}
	if !s.out.said {
		s.raw = append(s.raw, b...)
	}
}

// take keeps and drops n bytes of what is to be read.
func (s *Stream) take(n int) {
	s.keep(s.buf[:n])
	s.skip(n)
}

// section looks for the first call of a section. One that ends at once is
// nothing at all.
func (s *Stream) section() bool {
	if w := s.white(); len(w) > 0 && len(s.raw) < maxWhite {
		s.take(len(w))
		return true
	}
	m, wait := s.f.live[inSection].at(s.buf, s.eof && !s.cut)
	switch {
	case wait:
		return false
	case m != nil && m.does == opensCall:
		s.skip(len(m.text))
		s.enter(m.text, false)
	case m != nil:
		s.take(len(m.text))
		s.raw, s.closed = s.raw[:0], true
		s.junk = s.junk[:0]
		s.at = behind
	case len(s.f.calling.Call.Open) == 0, s.buf[0] == '{', s.buf[0] == '[':
		s.enter("", false)
	default:
		s.unread()
	}
	return true
}

// call has the reader read.
func (s *Stream) call() bool {
	b, ends := s.buf, false
	last := s.eof && (!s.cut || s.out.said) // what was cut could have become a call
	if s.held != nil {                      // where reasoning goes on, the call was a draft
		b, ends = s.inside()
		if len(b) == 0 {
			if ends {
				s.unread()
			}
			return ends
		}
		last = last && len(b) == len(s.buf)
	}
	n, p := s.kit.reader.read(b, last)
	s.take(n)
	switch {
	case s.out.refused, p == broken && !s.out.said:
		s.unread()
	case p == broken:
		s.out.flaw(turn.Repaired)
		s.kit.reader.finish(false)
		s.end()
		s.at = behind
	case p == whole:
		s.end()
	case n == 0 && ends:
		s.unread()
	case len(s.raw) > maxRaw && !s.out.said, len(s.held) > maxRaw:
		s.rereads = maxReread
		s.unread()
	default:
		return n > 0
	}
	return true
}

// inside is what is to be read before the end of reasoning, and before what
// may become it; ends means that it is there. What a reader leaves is not
// searched again.
func (s *Stream) inside() (b []byte, ends bool) {
	n, m, _ := s.f.ends.scan(s.buf[s.looked:], s.eof)
	s.looked += n
	return s.buf[:s.looked], m != nil
}

// announce sends the beginning of a call.
func (s *Stream) announce(name, id string) {
	s.release()
	if s.held == nil && !s.said {
		s.ws = s.ws[:0]
	}
	s.raw = s.raw[:0]
	if id == "" {
		id = s.o.NewID()
	}
	s.event(turn.Event{Kind: turn.CallStart, Call: turn.Call{Index: s.calls, ID: id, Name: name}})
	s.calls++
}

// end sends the end of a call.
func (s *Stream) end() {
	s.release()
	if len(s.offered.list) > 0 && !s.offered.has(s.out.called) {
		s.out.flaw(turn.Unknown)
	}
	s.event(turn.Event{Kind: turn.CallEnd, Call: turn.Call{Index: s.calls - 1, Flaws: s.out.flaws}})
	s.raw, s.junk = s.raw[:0], s.junk[:0]
	s.at = behind
	if s.kit.series != nil {
		s.at = inSeries
	}
}

// next looks for a call that follows with no marker.
func (s *Stream) next() bool {
	n, p := s.kit.series.next(s.buf, s.eof)
	s.take(n)
	switch p {
	case whole:
		s.enter("", s.out.bare)
	case broken:
		s.at = behind
	default:
		return n > 0
	}
	return true
}

// unread makes text of the first marker and reads again what followed it.
func (s *Stream) unread() {
	var text, rest []byte
	if !s.out.said {
		text, rest = s.raw[:s.tag], s.raw[s.tag:]
	}
	if s.held != nil {
		text = s.held[:len(s.held)-len(rest)]
	} else if s.tag > 0 {
		s.open++
	}
	s.plain()
	s.say(text)
	if s.rereads += len(rest); s.rereads > maxReread {
		s.say(rest)
	} else if len(rest) > 0 {
		s.buf, s.looked = append(bytes.Clone(rest), s.buf...), 0
	}
	s.raw, s.tag = s.raw[:0], 0
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

// behind looks for closers and for the next call. In reasoning anything else
// makes drafts of the calls before it.
func (s *Stream) behind() bool {
	if n := s.dross(); n > 0 {
		s.junk = append(s.junk, s.buf[:n]...)
		if s.held != nil {
			s.held = append(s.held, s.buf[:n]...)
		}
		s.skip(n)
		return true
	}
	m, wait := s.f.live[behind].at(s.buf, s.eof && !s.cut)
	switch {
	case wait:
		return false
	case m != nil && (m.does == closes || m.does == absorbed):
		if s.held != nil {
			s.held = append(s.held, m.text...)
		}
		s.skip(len(m.text))
		s.junk, s.closed = s.junk[:0], true
		return true
	case m != nil:
		s.skip(len(m.text))
		s.junk = s.junk[:0]
		s.at = inText
		if s.held != nil {
			s.at = inThought
		}
		s.marker(m)
		return true
	case s.held != nil:
		text := s.held
		s.plain()
		s.say(text)
	default:
		s.at = inText
		s.say(s.junk)
	}
	s.junk = s.junk[:0]
	return true
}

// dross counts bytes that mean nothing where a closer follows them: white
// space, and what closes more JSON than there was.
func (s *Stream) dross() int {
	n := 0
	for n < len(s.buf) && len(s.junk)+n < maxWhite {
		c := s.buf[n]
		if !isSpace(c) && (s.closed || !s.f.calling.json() || c != '}' && c != ']') {
			break
		}
		n++
	}
	return n
}
