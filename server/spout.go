package server

import (
	"io"
	"net"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
)

// spout is the body of a streamed answer. fasthttp lets it write on the
// connection's own goroutine, each write one chunk that is sent at once: its
// other way to stream has a goroutine and a pipe between.
type spout struct {
	f     *flight
	conn  net.Conn
	enc   dialect.Encoder
	as    *answers
	first item
	ran   bool
}

// SupportsBodyWriteTo has WriteTo called, see fasthttp.BodyWriterTo.
func (s *spout) SupportsBodyWriteTo() bool { return true }

// Read is never called: fasthttp asks for a reader and takes a writer.
func (s *spout) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// WriteTo sends the answer and lands the flight. What w fails with is kept by
// fasthttp.
func (s *spout) WriteTo(w io.Writer) (int64, error) {
	s.ran = true
	defer s.f.watch()
	defer func() { s.conn.SetWriteDeadline(time.Now().Add(s.f.s.o.Patience)) }() // for the end, which fasthttp writes
	out := &sink{w: w, deadline: s.conn.SetWriteDeadline, patience: s.f.s.o.Patience}
	s.f.emit(out, s.enc, s.as, s.first)
	return out.sent, nil
}

// Close is called in the end. It lands the flight of a client that was gone
// before the first byte.
func (s *spout) Close() error {
	if !s.ran {
		s.f.watch()
		s.as.land(errLeft)
	}
	return nil
}

// sink writes to a client that may have stopped reading.
type sink struct {
	w        io.Writer
	deadline func(time.Time) error
	patience time.Duration
	sent     int64
	wrote    time.Time // when something was last written
	set      time.Time // when the deadline was last moved
}

// write sends b; false when the client is gone.
func (s *sink) write(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	s.wrote = time.Now()
	if s.wrote.Sub(s.set) > s.patience/8 { // not for each token: it costs as much as encoding one
		s.set = s.wrote
		s.deadline(s.wrote.Add(s.patience))
	}
	n, err := s.w.Write(b)
	s.sent += int64(n)
	return err == nil
}
