package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// decode reads a turn.
func (s *Server) decode(c *call) (*turn.Turn, error) {
	arrived := time.Now()
	room := bodies.Get().(*[]byte)
	defer letGo(room) // a turn keeps nothing of its body
	body, err := s.document(c, room)
	if err != nil {
		return nil, err
	}
	whole := body
	if c.codec.Dialect() == turn.Responses {
		if whole, err = s.resume(c, body); err != nil {
			return nil, err
		}
	}
	t, err := c.codec.Decode(whole, c.header, s.recall)
	if err != nil {
		return nil, err
	}
	t.ID, t.Arrived = newID(), arrived
	if t.Store {
		c.input = ownInput(body)
	}
	return t, nil
}

// bodies is memory for the bodies of turns, which come again and again and are
// long: to clear new memory for each costs as much as to read it.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// bodyKept is how much of that memory is kept for a later body.
const bodyKept = 4 << 20

// spent, where a test sets it, gets the memory of bodies that are done with.
var spent func([]byte)

func letGo(room *[]byte) {
	if spent != nil {
		spent((*room)[:cap(*room)])
	}
	if cap(*room) <= bodyKept {
		bodies.Put(room)
	}
}

// body reads a request's body up to the limit, into room, where that is not
// nil, as far as it goes. What is left unread of it, refuse reads off.
func (s *Server) body(c *fasthttp.RequestCtx, room *[]byte) ([]byte, error) {
	if n := c.Request.Header.ContentLength(); n > s.o.MaxBody {
		return nil, s.tooLarge()
	}
	if enc := string(c.Request.Header.ContentEncoding()); enc != "" && enc != "identity" {
		return nil, &dialect.Problem{Kind: dialect.Invalid, Message: "bodies in content-encoding " + clip(enc) + " are not read here; send the JSON as it is"}
	}
	stream := c.RequestBodyStream()
	if stream == nil {
		return c.PostBody(), nil
	}
	n := c.Request.Header.ContentLength()
	if room == nil {
		room = new([]byte)
	}
	buf := (*room)[:0]
	if want := min(max(n, 512), 1<<20) + 1; cap(buf) < want { // a promise of more is believed as it comes
		buf = make([]byte, 0, want)
	}
	defer func() { *room = buf }()
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		k, err := stream.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+k]
		if len(buf) > s.o.MaxBody {
			return nil, s.tooLarge()
		}
		if errors.Is(err, io.EOF) && len(buf) >= n {
			return buf, nil
		}
		if err != nil {
			c.SetConnectionClose()
			return nil, unread(err, len(buf))
		}
	}
}

// unread says why a body of which so many bytes came cannot be read.
func unread(err error, came int) *dialect.Problem {
	text := "the body cannot be read: " + clip(err.Error())
	var slow net.Error
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		text = fmt.Sprintf("the body ended early, after %d bytes", came)
	case errors.As(err, &slow) && slow.Timeout():
		text = fmt.Sprintf("the body ended early: after %d bytes nothing more came within %s", came, bodyTime)
	}
	return &dialect.Problem{Kind: dialect.Invalid, Message: text}
}

// document reads a body that must hold a document.
func (s *Server) document(c *call, room *[]byte) ([]byte, error) {
	body, err := s.body(c.RequestCtx, room)
	if err == nil && len(body) == 0 {
		c.SetConnectionClose() // a body without a length would be read as the next request
		err = &dialect.Problem{Message: "the request has no body; send a JSON object, with Content-Length or in chunks"}
	}
	return body, err
}

// tooLarge is the 413.
func (s *Server) tooLarge() *dialect.Problem {
	return &dialect.Problem{Kind: dialect.TooLarge, Message: "the body is larger than " + strconv.Itoa(s.o.MaxBody>>20) + " MiB"}
}

// drain reads off what a refused request still sends, so that a client that
// sends before it reads gets its answer: a connection that is closed over
// unread bytes takes the answer along. It gives up on one that sends too
// much or pauses; the connection is then closed after the answer.
func drain(c *fasthttp.RequestCtx) {
	if stream := c.RequestBodyStream(); stream != nil && !readOff(c.Conn(), stream, drainPause) {
		c.SetConnectionClose()
	}
}

// readOff reads from r, which reads from conn, and reports whether it came to
// the end.
func readOff(conn net.Conn, r io.Reader, pause time.Duration) bool {
	var buf [16 << 10]byte
	end := time.Now().Add(drainTime)
	for left := drainLimit; left > 0 && time.Now().Before(end); {
		conn.SetReadDeadline(time.Now().Add(pause))
		n, err := r.Read(buf[:])
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		left -= n
	}
	return false
}

// find returns the model of a turn, when somebody serves it now.
func (s *Server) find(c *call, name string) (*model, error) {
	m, err := s.known(name)
	if err != nil {
		return nil, err
	}
	if s.stopping.Load() {
		return nil, stopped()
	}
	if !s.meets(c, m) {
		return nil, m.unavailable()
	}
	return m, nil
}

// known returns a model by its name.
func (s *Server) known(name string) (*model, error) {
	s.mu.Lock()
	m := s.models[name]
	s.mu.Unlock()
	if m != nil {
		return m, nil
	}
	var ids []string
	for _, m := range s.all() {
		ids = append(ids, m.ID)
	}
	sort.Strings(ids)
	text := "the model `" + clip(name) + "` does not exist; served here: " + strings.Join(ids, ", ")
	if len(ids) == 0 {
		text = "the model `" + clip(name) + "` does not exist; none is served yet"
	}
	return nil, &dialect.Problem{Kind: dialect.NotFound, Param: "model", Message: text}
}

// explain makes any error a problem that a client can be told.
func (s *Server) explain(err error) *dialect.Problem {
	if errors.Is(err, errNoWorker) || errors.Is(err, turn.ErrLost) && !errors.Is(err, turn.ErrBusy) {
		return &dialect.Problem{Kind: dialect.Unavailable, Message: "service unavailable: no worker is ready for this turn; see dyn ps", RetryAfter: retryAfter}
	}
	if errors.Is(err, errLeft) {
		return &dialect.Problem{Kind: dialect.Left, Message: "the client closed its side of the connection"}
	}
	if errors.Is(err, errStopping) {
		return stopped()
	}
	return dialect.Explain(err)
}

// stopped is the 503 of a daemon that ends.
func stopped() *dialect.Problem {
	return &dialect.Problem{Kind: dialect.Unavailable, Message: "dyn is stopping", RetryAfter: retryAfter}
}

// problem is what the flight's client is told about err.
func (f *flight) problem(err error) error { return f.s.explain(err) }

// cause is why a flight ends that met err: when its life is over, whatever
// failed did so because of that.
func (f *flight) cause(err error) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	return err
}

// newID names a turn: "t" and 16 hex digits.
func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return "t" + hex.EncodeToString(b[:])
}

// clip bounds text that a client sent, for messages.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}

func equal(a []byte, b string) bool { return subtle.ConstantTimeCompare(a, []byte(b)) == 1 }

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
