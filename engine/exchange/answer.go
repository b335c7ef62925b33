package exchange

import (
	"io"
	"sync/atomic"
	"time"
)

// Answer is an answer whose head was read. Read is for one goroutine; Close
// is for any, at any time.
type Answer struct {
	Status int
	Reason string // the status with its words, such as "404 Not Found"

	client *Client
	conn   *conn
	body   body
	stop   func() bool // lets go of the context
	keep   bool        // the server lets the connection be used again
	whole  bool        // read to its end
	closed atomic.Bool
}

// Read reads the body as it comes, io.EOF at its end.
func (a *Answer) Read(b []byte) (int, error) {
	n, err := a.body.Read(b)
	if err == io.EOF {
		a.whole = true
	}
	return n, err
}

// Close ends the exchange: the server sees its connection end, whatever it
// still had to say. It does not wait for a Read, which fails.
func (a *Answer) Close() error {
	if !a.closed.CompareAndSwap(false, true) {
		return nil
	}
	a.stop()
	return a.conn.Close()
}

// restLimit is how long Done waits for the end of an answer.
const restLimit = 20 * time.Millisecond

// restMost is how much of it Done reads.
const restMost = 64 << 10

// Done ends the exchange of a reader who has what it wants and lets the
// connection be used again, if the answer's end is here or comes at once.
// Only the goroutine that reads may call it.
func (a *Answer) Done() error {
	if !a.keep || a.closed.Load() {
		return a.Close()
	}
	if !a.whole && !a.rest() {
		return a.Close()
	}
	if !a.closed.CompareAndSwap(false, true) {
		return nil // somebody closed it meanwhile
	}
	if !a.stop() {
		return a.conn.Close() // the context ended: it is being closed
	}
	a.client.idle.put(a.conn)
	return nil
}

// rest reads to the answer's end, and reports whether it came.
func (a *Answer) rest() bool {
	if a.conn.SetReadDeadline(time.Now().Add(restLimit)) != nil {
		return false
	}
	defer a.conn.SetReadDeadline(time.Time{})
	n, err := io.CopyN(io.Discard, a, restMost)
	return err == io.EOF && n < restMost
}
