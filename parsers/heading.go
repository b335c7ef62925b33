package parsers

import (
	"bytes"
	"strings"
)

// heading is what the header of a message says.
type heading struct {
	channel string
	to      string // the recipient
	body    string // the marker that ended the header
}

const (
	maxHeading = 512 // bytes of a message's header
	maxWordLen = 128 // and of a word in one
	maxAsides  = 2   // words that say nothing to us, such as the form of the body
)

// heading reads a header up to the marker of the body. Channel and recipient
// may stand in any order, with other tokens between them.
func (c *channels) heading(b []byte, last bool) (int, heading, guess) {
	if c.f.Body.usual() == "\n" {
		return c.line(b, last)
	}
	r := headingReader{c: c, b: b, last: last}
	for {
		if said := r.part(); said != yes {
			return 0, heading{}, said
		}
		if r.whole {
			return r.n, r.h, yes
		}
	}
}

// headingReader reads one header. What is not there yet may still come, unless
// nothing follows.
type headingReader struct {
	c    *channels
	b    []byte
	last bool

	n      int
	h      heading
	role   bool    // who speaks is known
	marked bool    // a channel or a recipient was read
	slot   *string // where the next word goes
	asides int
	whole  bool
}

// part reads one token or word.
func (r *headingReader) part() guess {
	for r.n < len(r.b) && isSpace(r.b[r.n]) {
		r.n++
	}
	rest := r.b[r.n:]
	switch {
	case r.n > maxHeading:
		return no
	case len(rest) == 0:
		return unless(r.last)
	}
	f := r.c.f
	if n, more := meets(rest, r.last, f.Body); n > 0 || more {
		r.whole, r.h.body = n > 0, string(rest[:n])
		return r.took(n, more)
	}
	if n, more := meets(rest, r.last, Marks{f.Channel}); f.Channel != "" && (n > 0 || more) {
		r.slot, r.marked = &r.h.channel, r.marked || n > 0
		return r.took(n, more)
	}
	if n, more := meets(rest, r.last, Marks{f.Recipient}); f.Recipient != "" && (n > 0 || more) {
		r.slot, r.marked = &r.h.to, r.marked || n > 0
		return r.took(n, more)
	}
	if rest[0] == '<' {
		return r.token(rest)
	}
	return r.word(rest)
}

// took goes on behind n bytes, or waits for more of them.
func (r *headingReader) took(n int, more bool) guess {
	if more {
		return wait
	}
	r.n += n
	return yes
}

// token passes over a token that is not known, such as <|constrain|>. The
// opening of a message begins the header anew.
func (r *headingReader) token(rest []byte) guess {
	f := r.c.f
	if n, more := meets(rest, r.last, f.Open); n > 0 || more {
		*r = headingReader{c: r.c, b: r.b, last: r.last, n: r.n}
		return r.took(n, more)
	}
	n, more := meets(rest, r.last, f.End)
	if more {
		return wait
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxWordLen)], '>')
	switch {
	case n > 0 || !r.marked || len(rest) > 1 && rest[1] != '|':
		return no
	case end > 0:
		r.slot = nil
		return r.took(end+1, false)
	case len(rest) >= maxWordLen:
		return no
	}
	return unless(r.last)
}

// word reads a word: the channel or recipient that its marker announced, who
// speaks, or one that says nothing.
func (r *headingReader) word(rest []byte) guess {
	n := 0
	for n < len(rest) && n < maxWordLen && (isWord(rest[n]) || rest[n] == ':' || rest[n] == '/') {
		n++
	}
	switch {
	case n == 0 || n == maxWordLen:
		return no
	case n == len(rest):
		return unless(r.last)
	case rest[n] != '<' && !isSpace(rest[n]):
		return no
	}
	word := string(rest[:n])
	prefix := r.c.spec.Call.Prefix
	_, known := r.c.f.Roles[word]
	switch {
	case r.slot != nil && (prefix == "" || !strings.HasPrefix(word, prefix)):
		*r.slot = word
	case r.slot != nil: // a tool, on either place
		r.h.to = strings.TrimPrefix(word, prefix)
	case r.h.to == "" && prefix != "" && strings.HasPrefix(word, prefix) && r.role:
		r.h.to = strings.TrimPrefix(word, prefix)
	case !r.role && !r.marked:
		r.role = true
		r.h.channel = word // unless there is one
	case !r.marked && known:
		r.h.channel, r.marked = word, true
	case !r.marked || r.asides == maxAsides:
		return no
	default:
		r.asides++
	}
	r.slot = nil
	r.n += n
	return yes
}

// line reads a header that is just a name and the end of its line. A name that
// nobody knows is one only before an object.
func (c *channels) line(b []byte, last bool) (int, heading, guess) {
	n := 0
	for n < len(b) && n < maxWordLen && isCallName(b[n]) {
		n++
	}
	if n == 0 && len(b) > 0 || n == maxWordLen {
		return 0, heading{}, no
	}
	rest := bytes.TrimPrefix(b[n:], []byte{'\r'})
	k, more := meets(rest, last, c.f.Body)
	switch {
	case len(rest) == 0 || more:
		return 0, heading{}, unless(last)
	case k == 0:
		return 0, heading{}, no
	}
	h := heading{to: string(b[:n])}
	n = len(b) - len(rest) + k
	if _, known := c.f.Roles[h.to]; known || c.s.offered.has(h.to) {
		return n, h, yes
	}
	ch, here, said := look(rest[k:], false)
	switch {
	case said == wait:
		return 0, heading{}, unless(last)
	case len(here) == 0 || ch != '{':
		return 0, heading{}, no
	}
	return n, h, yes
}
