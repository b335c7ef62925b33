package vllm

import (
	"bytes"
	"math"
	"strings"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// chunk is one event of an answer. Absent and null mean the same.
type chunk struct {
	text   string
	ids    []uint32 // nil when there are none
	likely []turn.Logprob
	finish string // "stop", "length", "abort" …; "" while it goes on
	stop   stop
	usage  usage
	fault  *fault // an error in place of a chunk
}

// stop says what met the end: a string, an id, or nothing, which is the
// model's own end.
type stop struct {
	text   string
	id     uint32
	byText bool
	byID   bool
}

// usage counts tokens; set tells that the server sent it.
type usage struct {
	set       bool
	prompt    int
	output    int
	cached    int
	cachedSet bool
}

// fault is an error as the server words it.
type fault struct {
	status  int
	message string
}

// reader reads chunks. It cuts the text and the ids of each from larger pieces
// of memory, since most chunks have one id and a few bytes; what was given out
// is never written again. The pieces begin small, for answers of a few tokens.
type reader struct {
	slab   []uint32
	texts  strings.Builder
	escape []byte // a text whose escapes are being resolved
}

const (
	slabIDs  = 512
	slabText = 2 << 10
	smaller  = 8 // the first ones, by so much
)

// read reads one event's data.
func (r *reader) read(data []byte) (chunk, error) {
	c := cursor{b: data}
	var out chunk
	if !c.enter('{') {
		return out, errJSON
	}
	for c.more('}') {
		switch string(c.key()) {
		case "choices":
			r.choices(&c, &out)
		case "usage":
			readUsage(&c, &out.usage)
		case "error":
			out.fault = readFault(&c)
		default:
			c.skip()
		}
	}
	if c.bad {
		return out, errJSON
	}
	return out, nil
}

// choices reads the first choice; we ask for one.
func (r *reader) choices(c *cursor, out *chunk) {
	if !c.enter('[') {
		c.skip()
		return
	}
	for n := 0; c.more(']'); n++ {
		if n > 0 || !c.enter('{') {
			c.skip()
			continue
		}
		for c.more('}') {
			switch string(c.key()) {
			case "text":
				out.text = r.text(c)
			case "logprobs":
				out.likely = readLogprobs(c)
			case "token_ids":
				out.ids = r.ids(c)
			case "finish_reason":
				out.finish = reason(c)
			case "stop_reason":
				out.stop = readStop(c)
			default:
				c.skip()
			}
		}
	}
}

// text reads a text.
func (r *reader) text(c *cursor) string {
	if c.null() {
		return ""
	}
	raw := c.raw()
	if i := bytes.IndexByte(raw, '\\'); i >= 0 {
		r.escape = unescape(append(r.escape[:0], raw[:i]...), raw[i:])
		raw = r.escape
	}
	if len(raw) > slabText/smaller {
		return string(raw)
	}
	if r.texts.Cap()-r.texts.Len() < len(raw) {
		room := min(max(2*r.texts.Cap(), slabText/smaller), slabText)
		r.texts = strings.Builder{}
		r.texts.Grow(room)
	}
	r.texts.Write(raw)
	all := r.texts.String()
	return all[len(all)-len(raw):]
}

// ids reads token ids.
func (r *reader) ids(c *cursor) []uint32 {
	if !c.enter('[') {
		c.skip()
		return nil
	}
	if cap(r.slab)-len(r.slab) < 16 {
		r.slab = make([]uint32, 0, min(max(2*cap(r.slab), slabIDs/smaller), slabIDs))
	}
	from := len(r.slab)
	for c.more(']') {
		var id uint64
		start := c.i
		for ; c.i < len(c.b) && c.b[c.i]-'0' < 10; c.i++ {
			id = id*10 + uint64(c.b[c.i]-'0')
		}
		if c.i == start || c.i-start > 10 || id > math.MaxUint32 {
			c.bad = true
			return nil
		}
		r.slab = append(r.slab, uint32(id))
	}
	out := r.slab[from:len(r.slab):len(r.slab)]
	if cap(r.slab) > slabIDs { // one long list: it stays with its chunk
		r.slab = nil
	}
	return out
}

// reason reads a finish reason without allocating the usual ones.
func reason(c *cursor) string {
	if c.null() {
		return ""
	}
	raw := c.raw()
	switch string(raw) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "abort":
		return "abort"
	}
	return string(raw)
}

func readStop(c *cursor) stop {
	switch b := c.space(); {
	case b == '"':
		return stop{text: c.text(), byText: true}
	case b >= '0' && b <= '9':
		return stop{id: uint32(c.number()), byID: true}
	}
	c.skip()
	return stop{}
}

func readUsage(c *cursor, u *usage) {
	if !c.enter('{') {
		c.skip()
		return
	}
	u.set = true
	for c.more('}') {
		key := string(c.key())
		b := c.space()
		digit := b >= '0' && b <= '9'
		switch {
		case digit && key == "prompt_tokens":
			u.prompt = c.count()
		case digit && key == "completion_tokens":
			u.output = c.count()
		case b == '{' && key == "prompt_tokens_details":
			readDetails(c, u)
		default:
			c.skip()
		}
	}
}

// count reads how many there are of something.
func (c *cursor) count() int { return int(min(max(c.number(), 0), remote.Most)) }

func readDetails(c *cursor, u *usage) {
	c.enter('{')
	for c.more('}') {
		switch key := string(c.key()); {
		case key != "cached_tokens":
			c.skip()
		case !c.null():
			u.cached, u.cachedSet = c.count(), true
		}
	}
}

// readFault reads {"message", "code"}, or a bare string.
func readFault(c *cursor) *fault {
	f := &fault{status: 500}
	switch c.space() {
	case '"':
		f.message = c.text()
		return f
	case 'n':
		c.skip()
		return nil
	}
	if !c.enter('{') {
		c.skip()
		return f
	}
	for c.more('}') {
		key := string(c.key())
		b := c.space()
		switch {
		case b == '"' && key == "message":
			f.message = c.text()
		case b >= '0' && b <= '9' && key == "code":
			f.status = int(c.number())
		default:
			c.skip()
		}
	}
	return f
}
