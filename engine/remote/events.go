package remote

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

// Events cuts a stream of server-sent events into the data of each. It reads
// only when it is asked and nothing is left of the last read. It belongs to one
// goroutine.
type Events struct {
	// Squeeze may drop part of an event that is not whole yet and does not fit:
	// it moves what it keeps to the front of b and returns its length. nil
	// drops nothing.
	Squeeze func(b []byte) int

	// Documents has a document of one line in place of a stream, as of a server
	// that cannot stream, be the only event, with [DONE] behind it.
	Documents bool

	r          io.Reader
	buf        []byte
	start, end int  // what is read and not given out yet
	begun      bool // an event was given out
	single     bool // that was a document
}

// NewEvents makes Events of what is read from r.
func NewEvents(r io.Reader) *Events { return &Events{r: r, buf: *lines.Get().(*[]byte)} }

var lines = sync.Pool{New: func() any {
	b := make([]byte, lineBuffer)
	return &b
}}

// Release gives the memory back; nothing may be read after it.
func (e *Events) Release() {
	if len(e.buf) == lineBuffer {
		lines.Put(&e.buf)
	}
}

var (
	dataPrefix = []byte("data:")
	done       = []byte("[DONE]") // as every engine ends a stream
)

// Next returns the data of the next event, valid until the call after. Comment
// lines and other fields are passed over. An engine's event has one data line.
func (e *Events) Next() ([]byte, error) {
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
func (e *Events) document(line []byte) bool {
	e.single = e.Documents && !e.begun && len(line) > 0 && line[0] == '{'
	return e.single
}

// rest is what stands behind the last end of a line when there is no more to
// read: a document may.
func (e *Events) rest(err error) ([]byte, error) {
	line := e.buf[e.start:e.end]
	if errors.Is(err, io.EOF) && e.document(line) {
		return line, nil
	}
	return nil, err
}

// Buffered reports that the data of an event is here without a read.
func (e *Events) Buffered() bool {
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
func (e *Events) line() ([]byte, error) {
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
func (e *Events) fill() (int, error) {
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
// buffer of the usual size, by squeezing, or by growing.
func (e *Events) room() {
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
	if e.Squeeze != nil {
		e.end = e.Squeeze(e.buf)
	}
	if e.end < len(e.buf) || len(e.buf) >= maxLine {
		return
	}
	grown := make([]byte, 2*len(e.buf))
	copy(grown, e.buf)
	e.buf = grown
}
