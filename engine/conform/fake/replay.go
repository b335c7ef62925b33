package fake

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
)

// Replay serves until the test ends: each connection's request is answered
// with the bytes that answer returns for it, in writes of a size, and then the
// connection ends. It returns the server's address. answer is called by many
// goroutines.
func Replay(t testing.TB, size int, answer func(q *http.Request, body []byte) []byte) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go replay(c, size, answer)
		}
	}()
	return "http://" + l.Addr().String()
}

func replay(c net.Conn, size int, answer func(*http.Request, []byte) []byte) {
	defer c.Close()
	q, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	for part := range slices.Chunk(answer(q, body), size) {
		if _, err := c.Write(part); err != nil {
			return
		}
	}
	if t, ok := c.(*net.TCPConn); ok { // the client reads all before it sees the end
		_ = t.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}
}

// Same answers every request with the same bytes.
func Same(response []byte) func(*http.Request, []byte) []byte {
	return func(*http.Request, []byte) []byte { return bytes.Clone(response) }
}
