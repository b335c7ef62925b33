package parsers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// channels reads answers that are messages: a header, which says what the body
// is, the body, and a marker of its end. It is the frame of a Stream.
//
// A marker counts only where a header follows it, and an end marker where the
// next message or the end of the answer does, so that prose may quote them.
// What is no header is text.
type channels struct {
	s     *Stream
	spec  *Spec
	f     *Frame
	live  marks // in a body of text
	think bool  // reasoning is told from text
	body  bodyReader
	json  *jsonReader // of bodies that name the call themselves

	at      channelsAt
	before  string   // of a header that the prompt begins
	certain bool     // the prompt ends in a header, or behind one
	first   *heading // the prompt has the whole header
	ended   bool     // an end marker was met in the gap
	reader  reader   // of the call under way
	raw     []byte   // of it, until its name is known
	kinds   [2]bool  // text, reasoning: some was sent
}

// channelsAt is where in a message channels is.
type channelsAt uint8

const (
	inHeader channelsAt = iota // where the answer may begin with one
	inWords                    // in a body of text
	inBody                     // in the body of a call
	inGap                      // behind a call or a message
)

// bodyReader reads the body of a call whose header told its name.
type bodyReader interface {
	reader
	named(name, id string)
}

// newChannels returns the frame of a spec. think says whether reasoning is
// told from text. Its tables are made once for a kit.
func newChannels(s *Stream, spec *Spec, think bool) *channels {
	c := s.kit.channels
	if c == nil {
		c = &channels{}
		c.live.add(opensCall, slices.Concat(spec.Frame.Open, Marks{spec.Frame.Channel}, kindsOfBody(spec))...)
		c.live.add(closes, spec.Frame.End...)
		c.live.add(absorbed, spec.Tokens.Strip...)
		c.live.add(absorbed, spec.Tokens.Stop...)
		c.body, c.json = newBody(spec, s.offered), newJSONReader(spec)
		if spec.Frame.Content == Tagged {
			c.body = newTagged(spec, s.offered)
		}
		s.kit.channels = c
	}
	*c = channels{s: s, spec: spec, f: spec.Frame, think: think, live: c.live, body: c.body, json: c.json}
	c.begin(s.o.Tail)
	return c
}

// kindsOfBody are the markers of a body that say what it is.
func kindsOfBody(spec *Spec) Marks {
	var kinds Marks
	for _, m := range spec.Frame.Body {
		if spec.Frame.Roles[m] != "" {
			kinds = append(kinds, m)
		}
	}
	return kinds
}

// begin sets the first state by the prompt's end: what stands there of a
// message that is not ended belongs to the answer.
func (c *channels) begin(tail string) {
	from := -1
	for _, open := range c.f.Open {
		if i := strings.LastIndex(tail, open); i >= 0 {
			from = max(from, i+len(open))
		}
	}
	if from < 0 {
		return
	}
	rest := tail[from:]
	for _, end := range slices.Concat(c.f.End, Marks(c.spec.Tokens.Stop)) {
		if strings.Contains(rest, end) {
			return
		}
	}
	c.certain = true
	if n, h, said := c.heading([]byte(rest), false); said == yes {
		c.s.buf = append(c.s.buf, strings.TrimLeft(rest[n:], spaces)...)
		c.first = &h
		return
	}
	if c.before = rest; !strings.ContainsAny(rest, " <>=") && rest != "" {
		c.before += " " // who speaks
	}
}

// step reads a piece.
func (c *channels) step() bool {
	c.start()
	switch c.at {
	case inHeader:
		return c.header()
	case inWords:
		return c.words()
	case inBody:
		return c.call()
	}
	return c.gap()
}

// start begins the message whose header the prompt has.
func (c *channels) start() {
	if h := c.first; h != nil {
		c.first = nil
		c.message(*h)
	}
}

// header reads the first header of the answer, if it begins with one.
func (c *channels) header() bool {
	s := c.s
	said := no
	if m, _ := c.live.at(s.buf, s.eof); c.before == "" && m != nil && m.does == opensCall {
		said = c.opened(m)
	} else {
		var n int
		var h heading
		if n, h, said = c.heading(append([]byte(c.before), s.buf...), s.eof); said == yes {
			s.skip(max(0, n-len(c.before)))
			c.message(h)
		}
	}
	if said == no {
		c.text(turn.Says)
	}
	return said != wait
}

// message begins the body of a message.
func (c *channels) message(h heading) {
	s := c.s
	role := c.role(h)
	switch {
	case role == "reasoning" && c.think:
		c.text(turn.Reasoning)
	case role != "" && role != "call" || s.f.calling != c.spec:
		c.text(turn.Says)
	default:
		s.out = out{s: s}
		c.at, c.raw = inBody, c.raw[:0]
		if role == "call" {
			c.reader = c.json
			c.json.begin(&s.out)
			return
		}
		c.reader = c.body
		c.body.begin(&s.out)
		name, _ := s.offered.find(h.to)
		c.body.named(name, "")
	}
}

// text goes on in a body of text. Two messages of a kind are two paragraphs.
func (c *channels) text(kind turn.EventKind) {
	s := c.s
	s.at, c.at = inText, inWords
	if kind == turn.Reasoning {
		s.at = inThought
	}
	s.ws, s.trim = s.ws[:0], true
	if i := s.at - inText; c.kinds[i] {
		s.ws, s.trim = append(s.ws, "\n\n"...), false
	}
}

// words reads a body of text up to what ends it.
func (c *channels) words() bool {
	s := c.s
	n, m, stop := c.live.scan(s.buf, s.eof)
	c.say(n)
	switch {
	case m == nil:
		return !stop
	case m.does == absorbed:
		s.skip(len(m.text))
		return true
	}
	said := no
	if m.does == closes {
		said = c.ends(s.buf[len(m.text):])
		if said == yes {
			s.skip(len(m.text))
			c.at, c.ended = inGap, true
		}
	} else {
		said = c.opened(m)
	}
	if said == no {
		c.say(len(m.text))
	}
	return said != wait
}

// say sends n bytes of text.
func (c *channels) say(n int) {
	s := c.s
	if n == 0 {
		return
	}
	s.say(s.buf[:n])
	s.skip(n)
	c.kinds[s.at-inText] = c.kinds[s.at-inText] || !s.trim
}

// opened begins the message that a marker opens, if a header follows it.
func (c *channels) opened(m *mark) guess {
	s := c.s
	from := len(m.text)
	if !slices.Contains(c.f.Open, m.text) {
		from = 0 // it is part of the header
	}
	n, h, said := c.heading(s.buf[from:], s.eof)
	if said == yes {
		s.skip(from + n)
		c.message(h)
	}
	return said
}

// ends says whether b may stand behind the end of a message: nothing, another
// end, or the next message.
func (c *channels) ends(b []byte) guess {
	s := c.s
	_, here, said := look(b, s.eof)
	if said != yes || len(here) == 0 {
		return said
	}
	m, more := c.live.at(here, s.eof)
	switch {
	case more:
		return wait
	case m != nil && (m.does == closes || m.does == absorbed):
		return yes
	case m != nil && slices.Contains(c.f.Open, m.text):
		here = here[len(m.text):]
	}
	_, _, said = c.heading(here, s.eof)
	return said
}

// call has the reader of the body read.
func (c *channels) call() bool {
	s := c.s
	n, p := c.reader.read(s.buf, s.eof)
	if !s.out.said {
		c.raw = append(c.raw, s.buf[:n]...)
	}
	s.skip(n)
	switch {
	case p == broken && !s.out.said, !s.out.said && len(c.raw) > maxRaw:
		c.unread()
		return true
	case p == more:
		return n > 0
	case p == broken:
		s.out.flaw(turn.Repaired)
		c.reader.finish(false)
	}
	s.end()
	c.at, c.ended = inGap, false
	return true
}

// unread makes text of a call without a name.
func (c *channels) unread() {
	s := c.s
	s.buf, s.looked = append(bytes.Clone(c.raw), s.buf...), 0
	c.raw = c.raw[:0]
	c.text(turn.Says)
}

// gap reads what stands between messages. What belongs to none is text.
func (c *channels) gap() bool {
	s := c.s
	n := 0
	for n < len(s.buf) && n < maxWhite && (isSpace(s.buf[n]) || !c.ended && (s.buf[n] == '}' || s.buf[n] == ']')) {
		n++
	}
	if n == len(s.buf) {
		return false
	}
	m, stop := c.live.at(s.buf[n:], s.eof)
	switch {
	case stop:
		return false
	case m != nil && (m.does == closes || m.does == absorbed):
		s.skip(n + len(m.text))
		c.ended = true
		return true
	}
	from := n
	if m != nil && slices.Contains(c.f.Open, m.text) {
		from += len(m.text)
	}
	k, h, said := c.heading(s.buf[from:], s.eof)
	switch said {
	case wait:
		return false
	case yes:
		s.skip(from + k)
		c.message(h)
		return true
	}
	c.text(turn.Says)
	if c.kinds[0] {
		c.s.ws = c.s.ws[:0]
	}
	if m != nil {
		c.say(n + len(m.text))
	}
	return true
}

// settle decides what the end of the answer leaves open.
func (c *channels) settle() bool {
	s := c.s
	c.start()
	switch {
	case c.at == inBody && !c.reader.finish(s.cut):
		c.unread()
		return true
	case c.at == inBody:
		s.out.flaw(turn.Repaired)
		if s.cut {
			s.out.flaw(turn.Truncated)
		}
		s.end()
		c.at = inGap
	case c.at == inHeader && !(s.cut && c.certain):
		c.text(turn.Says)
		return true
	case c.at == inWords && s.at == inText && s.calls == 0:
		s.emit(turn.Says, s.ws)
	}
	s.ws, s.buf, s.looked = s.ws[:0], s.buf[:0], 0
	return false
}

// role is what the spec says of a message: "reasoning", "content", or "" for a
// call.
func (c *channels) role(h heading) string {
	if role := c.f.Roles[h.body]; role != "" {
		return role
	}
	if role := c.f.Roles[h.to]; h.to != "" {
		return role
	}
	if role := c.f.Roles[h.channel]; role != "" {
		return role
	}
	return "content"
}

// trimmed is b without white space in front.
func trimmed(b []byte) []byte { return bytes.TrimLeft(b, spaces) }
