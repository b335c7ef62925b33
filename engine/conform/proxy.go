package conform

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
)

// proxy stands before a server and can break its answers. A connection carries
// one exchange.
type proxy struct {
	url   string
	to    string
	empty atomic.Bool // answers are a 200 with nothing in it
	cut   atomic.Bool // answers end in the middle of their ninth event, behind what an engine tells of its progress
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{url: "http://" + l.Addr().String(), to: u.Host}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p
}

func (p *proxy) pass(c net.Conn) {
	defer c.Close()
	q, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	if p.empty.Load() {
		_, _ = io.Copy(io.Discard, q.Body)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	q.Close = true
	if q.Write(server) != nil {
		return
	}
	go func() { // a client that hangs up is one that the server sees hang up
		_, _ = io.Copy(io.Discard, c)
		server.Close()
	}()
	if p.cut.Load() {
		copyEvents(c, server, 8)
		return
	}
	_, _ = io.Copy(c, server)
}

// copyEvents copies a head, so many events and a little of the next.
func copyEvents(to io.Writer, from io.Reader, n int) {
	in := bufio.NewReader(from)
	for seen := 0; seen < n; {
		line, err := in.ReadBytes('\n')
		if _, werr := to.Write(line); err != nil || werr != nil {
			return
		}
		if bytes.HasPrefix(line, []byte("data:")) {
			seen++
		}
	}
	_, _ = io.CopyN(to, in, 9)
}
