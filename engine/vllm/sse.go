package vllm

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	lineBuffer = 8 << 10
	maxLine    = 16 << 20
)

var errLine = errors.New("an event over 16 MiB")

// events cuts a stream of server-sent events into the data of each. It reads
// only when it is asked and nothing is left of the last read. A document of one
// line in place of a stream, as of a server that cannot stream, is the only
// event, and its end.
type events struct {
	r          io.Reader
	buf        []byte
	start, end int  // what is read and not given out yet
	begun      bool // an event was given out
	single     bool // that was a document
}

func newEvents(r io.Reader) *events { return &events{r: r, buf: *lines.Get().(*[]byte)} }

var lines = sync.Pool{New: func() any {
	b := make([]byte, lineBuffer)
	return &b
}}

// release gives the memory back; nothing may be read after it.
func (e *events) release() {
	if len(e.buf) == lineBuffer {
		lines.Put(&e.buf)
	}
}

var dataPrefix = []byte("data:")

// next returns the data of the next event, valid until the call after. Comment
// lines and other fields are passed over. An engine's event has one data line.
func (e *events) next() ([]byte, error) {
	if e.single {
		return done, nil
	}
	for {
		line, err := e.line()
		if err != nil {
			return e.rest(err)
		}
		if data, ok := bytes.CutPrefix(line, dataPrefix); ok {
			e.begun = true
			return bytes.TrimSpace(data), nil
		}
		if e.document(line) {
			return line, nil
		}
	}
}

// document reports whether a line is a document; nothing follows it then.
func (e *events) document(line []byte) bool {
	e.single = !e.begun && len(line) > 0 && line[0] == '{'
	return e.single
}

// rest is what stands behind the last end of a line when there is no more to
// read: a document may.
func (e *events) rest(err error) ([]byte, error) {
	line := e.buf[e.start:e.end]
	if errors.Is(err, io.EOF) && e.document(line) {
		return line, nil
	}
	return nil, err
}

// buffered reports that the data of an event is here without a read.
func (e *events) buffered() bool {
	rest := e.buf[e.start:e.end]
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return false
		}
		if bytes.HasPrefix(rest, dataPrefix) {
			return true
		}
		rest = rest[i+1:]
	}
}

// line returns the next line without its end.
func (e *events) line() ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(e.buf[e.start+seen:e.end], '\n'); i >= 0 {
			line := e.buf[e.start : e.start+seen+i]
			e.start += seen + i + 1
			return line, nil
		}
		n, err := e.fill()
		if err != nil {
			return nil, err
		}
		seen = e.end - e.start - n // all but the new bytes
	}
}

// fill reads more behind what is there, and tells how much.
func (e *events) fill() (int, error) {
	e.room()
	if e.end == len(e.buf) {
		return 0, errLine
	}
	n, err := e.r.Read(e.buf[e.end:])
	e.end += n
	if n > 0 {
		return n, nil // an error comes again with the next read
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return 0, err
}

// room makes place to read into: by moving what is there to the front of a
// buffer of the usual size, by dropping the prompt's echo, or by growing.
func (e *events) room() {
	held := e.buf[e.start:e.end]
	switch {
	case len(held) == 0 && len(e.buf) > lineBuffer:
		e.buf = make([]byte, lineBuffer)
		e.start, e.end = 0, 0
		return
	case e.start > 0:
		e.end = copy(e.buf, held)
		e.start = 0
	}
	if e.end < len(e.buf) {
		return
	}
	if e.end = squeeze(e.buf); e.end < len(e.buf) || len(e.buf) >= maxLine {
		return
	}
	grown := make([]byte, 2*len(e.buf))
	copy(grown, e.buf)
	e.buf = grown
}

var echo = []byte(`"prompt_token_ids":[`)

// squeeze drops the numbers of an unfinished echo of the prompt, which nobody
// reads and which is most of a first chunk, and returns what length is left.
// Inside a JSON string its mark would be written with backslashes.
func squeeze(b []byte) int {
	at := bytes.LastIndex(b, echo)
	if at < 0 || bytes.IndexByte(b[at:], ']') >= 0 {
		return len(b)
	}
	return at + len(echo)
}
