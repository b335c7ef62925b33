package server

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// unable is a codec that makes no encoders and no documents.
type unable struct{ dialect.Codec }

func (unable) Stream(*turn.Turn) dialect.Encoder    { panic("stream") }
func (unable) Document(*turn.Turn) dialect.Document { panic("document") }

// TestPanicBeforeAnswer: a turn whose answer cannot even begin leaves nothing
// behind, and its client is told.
func TestPanicBeforeAnswer(t *testing.T) {
	r := newRig(t, 1)
	fail := make(chan error, 1)
	front := &fasthttp.Server{StreamRequestBody: true, Handler: func(c *fasthttp.RequestCtx) {
		fail <- r.s.serve(&call{RequestCtx: c, codec: unable{dialect.For(turn.Chat)}})
	}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go front.Serve(ln)
	defer ln.Close()
	for i, stream := range []string{"true", "false"} {
		resp, err := http.Post("http://"+ln.Addr().String(), "application/json", strings.NewReader(says("hi", `,"stream":`+stream)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if err := <-fail; !errors.Is(err, errPanic) {
			t.Errorf("err = %v", err)
		}
		if n, p := len(r.aloft()), r.s.count.panics.Load(); n != 0 || p != int64(i+1) {
			t.Errorf("%d turns aloft, %d panics counted", n, p)
		}
	}
}

// timed is a connection that knows whether a write has a time.
type timed struct {
	*net.TCPConn
	until   atomic.Pointer[time.Time]
	wrote   atomic.Pointer[time.Time] // that of the last write
	endless *atomic.Int32             // writes that had none
}

func (c *timed) SetWriteDeadline(t time.Time) error {
	c.until.Store(&t)
	return c.TCPConn.SetWriteDeadline(t)
}

func (c *timed) Write(b []byte) (int, error) {
	t := c.until.Load()
	if c.wrote.Store(t); t == nil || t.IsZero() {
		c.endless.Add(1)
	}
	return c.TCPConn.Write(b)
}

type timedListener struct {
	net.Listener
	endless *atomic.Int32
	conns   chan<- *timed // nil is told of none
}

func (l timedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	k := &timed{TCPConn: c.(*net.TCPConn), endless: l.endless}
	if l.conns != nil {
		l.conns <- k
	}
	return k, nil
}

// TestEveryWriteHasATime: no client can hold a connection for ever by not
// reading, not even for the end of a stream's last chunk.
func TestEveryWriteHasATime(t *testing.T) {
	r := newRig(t, 1)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var endless atomic.Int32
	go r.s.http.Serve(timedListener{Listener: ln, endless: &endless})
	r.url = "http://" + ln.Addr().String()
	for _, body := range []string{says("hi", `,"stream":true`), says("hi", ""), "{"} {
		r.post(chatPath, body)
		r.post(chatPath, body)
		if n := endless.Swap(0); n > 0 {
			t.Errorf("%.60s: %d writes without a time", body, n)
		}
	}
}
