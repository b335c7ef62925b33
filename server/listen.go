package server

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// Times that a client has, from when its connection is open or its last
// answer was sent.
const (
	headTime = 30 * time.Second // for the head of a request that has begun
	bodyTime = 2 * time.Minute  // for the rest of it
)

// errTLS says that a client greets as TLS does.
var errTLS = errors.New("what came is TLS, and this port speaks plain HTTP; use http:// in the address")

// listening accepts connections that tell TLS from HTTP: who greets in TLS
// waits for an answer in it, and would wait for long.
type listening struct{ net.Listener }

func (l listening) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, err
	}
	raw, err := tcp.SyscallConn()
	return &accepted{TCPConn: tcp, raw: raw}, err
}

// accepted is a connection whose first byte is looked at, and whose socket is
// watched during each turn.
type accepted struct {
	*net.TCPConn
	raw   syscall.RawConn
	begun bool
}

func (c *accepted) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// hello is the first byte of a TLS connection, and of no request.
const hello = 0x16

func (c *accepted) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 && !c.begun {
		if c.begun = true; p[0] == hello {
			return 0, errTLS
		}
	}
	return n, err
}

// malformed answers what fasthttp could not read as a request.
func (s *Server) malformed(c *fasthttp.RequestCtx, err error) {
	status, text := unheard(err)
	readOff(c.Conn(), c.Conn(), malformedPause) // else what it still sends would take the answer along
	s.count.refused(status)
	c.ResetBody()
	plainProblem(c, status, "invalid_request_error", text)
}

// unheard says what is wrong with what came in place of a request.
func unheard(err error) (status int, text string) {
	var small *fasthttp.ErrSmallBuffer
	var slow net.Error
	switch {
	case errors.As(err, &small):
		return fasthttp.StatusRequestHeaderFieldsTooLarge, "the headers are larger than 64 KiB"
	case errors.As(err, &slow) && slow.Timeout():
		return fasthttp.StatusRequestTimeout, "the head of the request did not come within " + headTime.String() + "; it ends with an empty line, and lines end with CR LF"
	case errors.Is(err, errTLS):
		return fasthttp.StatusBadRequest, errTLS.Error()
	}
	text, _, _ = strings.Cut(err.Error(), ": buffer size=")
	for _, whose := range []string{"error when reading request headers: ", "fasthttp: "} {
		text = strings.TrimPrefix(text, whose)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "it ended within its head"
	}
	return fasthttp.StatusBadRequest, "malformed request: " + clip(text)
}

// plainProblem answers with an error whose dialect is not known: in one
// document that clients of each read as theirs.
func plainProblem(c *fasthttp.RequestCtx, status int, kind, text string) {
	b, _ := json.Marshal(map[string]any{ // plain values can always be written
		"type":  "error",
		"error": map[string]any{"type": kind, "message": text, "param": nil, "code": nil},
	})
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.SetBody(b)
}
