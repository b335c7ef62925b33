package exchange

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options of a Client. The zero value has no key and the default limits.
type Options struct {
	Key     string        // bearer token; "" for none
	Connect time.Duration // how long connecting may take; default 5 s
	Idle    time.Duration // how long a connection waits for its next request; default 3 s
	Buffer  int           // receive buffer of a connection in bytes; 0 for the system's
}

// Client posts to one server. It is safe for concurrent use.
type Client struct {
	o      Options
	addr   string // host:port
	secure *tls.Config
	prefix string // path of the base
	fixed  string // head lines that are the same for all requests
	bad    error  // why no request can be made
	idle   idle
}

// New makes a client for the server at base, an http or https URL. What is
// wrong with base is told by Post.
func New(base string, o Options) *Client {
	o.Connect, o.Idle = cmp.Or(o.Connect, 5*time.Second), cmp.Or(o.Idle, 3*time.Second)
	c := &Client{o: o}
	c.idle.after = o.Idle
	u, err := url.Parse(base)
	switch {
	case err != nil:
		c.bad = err
		return c
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		c.bad = fmt.Errorf("%q is no http or https address", base)
		return c
	}
	port := u.Port()
	if u.Scheme == "https" {
		c.secure = &tls.Config{ServerName: u.Hostname(), NextProtos: []string{"http/1.1"}}
		port = cmp.Or(port, "443")
	}
	c.addr = net.JoinHostPort(u.Hostname(), cmp.Or(port, "80"))
	c.prefix = strings.TrimSuffix(u.EscapedPath(), "/")
	c.fixed = " HTTP/1.1\r\nHost: " + u.Host + "\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n"
	if o.Key != "" {
		c.fixed += "Authorization: Bearer " + printable(o.Key) + "\r\n"
	}
	return c
}

// Close drops the connections that wait. Answers that are being read go on.
func (c *Client) Close() { c.idle.close() }

// Post sends a JSON body to path, with id as its X-Request-Id unless that is
// empty, and returns the answer's head. The body is given in any number of
// pieces, which are sent as they lie, none copied; they are neither changed
// nor used after the return. The caller must close the answer; the end of ctx
// closes it too.
func (c *Client) Post(ctx context.Context, path, id string, body ...[]byte) (*Answer, error) {
	if c.bad != nil {
		return nil, c.bad
	}
	var before error // of a kept connection
	if k := c.idle.take(); k != nil {
		a, err := c.over(ctx, k, path, id, body)
		if err == nil && a.Status == http.StatusRequestTimeout { // it had waited too long, and did not see this request
			a.Close()
			err = errUnanswered
		}
		if err == nil {
			return a, nil
		}
		k.Close()
		if !errors.Is(err, errUnanswered) || ctx.Err() != nil {
			return nil, err
		}
		before = err // it may have been closed before the request came
	}
	k, err := c.connect(ctx)
	if err == nil {
		var a *Answer
		if a, err = c.over(ctx, k, path, id, body); err == nil {
			return a, nil
		}
		k.Close()
	}
	if before != nil && ctx.Err() == nil { // the server may have taken it, whatever this one met
		return nil, fmt.Errorf("%w; then: %v", before, err)
	}
	return nil, err
}

func (c *Client) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Connect)
	defer cancel()
	n, err := dialer(c.addr).DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	if t, ok := n.(*net.TCPConn); ok && c.o.Buffer > 0 {
		_ = t.SetReadBuffer(c.o.Buffer) // the default holds too
	}
	if c.secure != nil {
		s := tls.Client(n, c.secure)
		if err := s.HandshakeContext(ctx); err != nil {
			n.Close()
			return nil, err
		}
		n = s
	}
	return newConn(n), nil
}

// errUnanswered says that the connection ended before the first byte of an
// answer.
var errUnanswered = errors.New("the connection ended before an answer")

// over makes one exchange over a connection, which is the answer's from then
// on. After an error it is of no use.
func (c *Client) over(ctx context.Context, k *conn, path, id string, body [][]byte) (*Answer, error) {
	stop := context.AfterFunc(ctx, func() { k.Close() })
	h, err := c.exchange(k, path, id, body)
	if err != nil {
		stop()
		return nil, err
	}
	return &Answer{
		Status: h.status, Reason: h.reason,
		client: c, conn: k, body: newBody(k, h), stop: stop, keep: h.keep,
	}, nil
}

func (c *Client) exchange(k *conn, path, id string, body [][]byte) (head, error) {
	sent := k.send(c.head(k.out[:0], path, id, size(body)), body)
	// An engine that refuses what it has not read answers and hangs up.
	if _, err := k.in.Peek(1); err != nil {
		if sent != nil {
			err = sent
		}
		return head{}, fmt.Errorf("%w: %w", errUnanswered, err)
	}
	h, err := k.head()
	h.keep = h.keep && sent == nil
	return h, err
}

func (c *Client) head(b []byte, path, id string, length int) []byte {
	b = append(append(append(append(b, "POST "...), c.prefix...), path...), c.fixed...)
	if id = printable(id); id != "" {
		b = append(append(append(b, "X-Request-Id: "...), id...), "\r\n"...)
	}
	b = strconv.AppendInt(append(b, "Content-Length: "...), int64(length), 10)
	return append(b, "\r\n\r\n"...)
}

// size is the length of a body in pieces.
func size(body [][]byte) (n int) {
	for _, piece := range body {
		n += len(piece)
	}
	return n
}

// printable drops what would end a head line.
func printable(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return -1
				}
				return r
			}, s)
		}
	}
	return s
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
