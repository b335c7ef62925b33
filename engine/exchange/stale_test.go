package exchange_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/agentinfer/dyn/engine/exchange"
)

// speaking listens, and has speak answer the requests of each connection,
// which is the n-th from 1 on. A connection is closed when speak returns.
func speaking(t *testing.T, speak func(n int32, k net.Conn, next func() (body string, ok bool))) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var conns atomic.Int32
	go func() {
		for {
			k, err := l.Accept()
			if err != nil {
				return
			}
			n := conns.Add(1)
			in := bufio.NewReader(k)
			go func() {
				defer k.Close()
				speak(n, k, func() (string, bool) {
					r, err := http.ReadRequest(in)
					if err != nil {
						return "", false
					}
					b, err := io.ReadAll(r.Body)
					return string(b), err == nil
				})
			}()
		}
	}()
	return l
}

// echoed is an answer that says what was asked.
func echoed(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// What a server says without being asked is the answer to no request: neither
// what comes with an answer, nor what comes while the connection waits, such
// as the 408 with which many close one.
func TestStale(t *testing.T) {
	const late = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	for _, when := range []string{"with", "after", "meanwhile"} {
		t.Run(when, func(t *testing.T) {
			answered, said := make(chan struct{}), make(chan struct{}, 8)
			l := speaking(t, func(_ int32, k net.Conn, next func() (string, bool)) {
				for n := 0; ; n++ {
					body, ok := next()
					switch {
					case !ok:
						return
					case when == "with":
						fmt.Fprint(k, echoed(body)+late)
						continue
					case when == "meanwhile" && n > 0:
						fmt.Fprint(k, late) // the request crossed it on the way
						return
					}
					if fmt.Fprint(k, echoed(body)); when == "meanwhile" {
						continue
					}
					<-answered
					fmt.Fprint(k, late)
					arrived(k)
					said <- struct{}{}
				}
			})
			c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
			defer c.Close()
			for i := range 3 {
				if got, want := ask(t, c, fmt.Sprint("turn ", i)), fmt.Sprint("200 turn ", i); got != want {
					t.Fatalf("answer %q, want %q", got, want)
				}
				if when == "after" {
					answered <- struct{}{}
					<-said
				}
			}
		})
	}
}

// A request that was taken and not answered is sent again once, over a new
// connection; what then fails is no request that was never sent.
func TestTaken(t *testing.T) {
	const kept = 4
	var took atomic.Int32
	var l net.Listener
	ready := make(chan struct{}, kept)
	all := make(chan struct{})
	var down atomic.Bool
	set := make(chan struct{})
	l = speaking(t, func(_ int32, k net.Conn, next func() (string, bool)) {
		for body, ok := next(); ok; body, ok = next() {
			if body == "first" {
				ready <- struct{}{}
				<-all
				fmt.Fprint(k, echoed(body))
				continue
			}
			took.Add(1)
			if <-set; down.Load() {
				l.Close()
			}
			return
		}
	})
	close(set)
	c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
	defer c.Close()
	fill := make(chan string, kept)
	for range kept {
		go func() { fill <- ask(t, c, "first") }()
	}
	for range kept {
		<-ready
	}
	close(all)
	for range kept {
		if got := <-fill; got != "200 first" {
			t.Fatal(got)
		}
	}
	if _, err := c.Post(t.Context(), "/p", "", []byte("killer")); err == nil {
		t.Fatal("an answer from nobody")
	}
	if n := took.Load(); n != 2 {
		t.Errorf("sent %d times, want 2", n)
	}
	down.Store(true)
	_, err := c.Post(t.Context(), "/p", "", []byte("killer"))
	if err == nil {
		t.Fatal("an answer from nobody")
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a request that was taken counts as refused: %v", err)
	}
}

// A body in pieces arrives whole, also when it is sent a second time, and the
// pieces are the caller's as they were.
func TestPieces(t *testing.T) {
	l := speaking(t, func(_ int32, k net.Conn, next func() (string, bool)) {
		for n := 0; ; n++ {
			body, ok := next()
			if !ok || n > 0 {
				return // the second request of a connection meets nobody
			}
			fmt.Fprint(k, echoed(body))
		}
	})
	c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
	defer c.Close()
	body := [][]byte{[]byte("one,"), nil, []byte("two,"), []byte(strings.Repeat("3", 1<<20)), {}}
	for len(body) < 2000 { // more than one call to the system takes
		body = append(body, []byte("4"))
	}
	want := string(bytes.Join(body, nil))
	for range 3 {
		a, err := c.Post(t.Context(), "/p", "", body...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(a)
		if a.Done(); err != nil || string(got) != want {
			t.Fatalf("%d bytes of %d, err = %v", len(got), len(want), err)
		}
		if string(bytes.Join(body, nil)) != want {
			t.Fatal("the pieces have changed")
		}
	}
}

// A head without an end is an error, in any number of parts.
func TestEndlessHead(t *testing.T) {
	for name, piece := range map[string]string{
		"lines": "X-More: " + strings.Repeat("x", 1000) + "\r\n", "line": strings.Repeat("x", 1000), "answers before": "\r\nHTTP/1.1 100 Continue\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := speaking(t, func(_ int32, k net.Conn, next func() (string, bool)) {
				next()
				fmt.Fprint(k, "HTTP/1.1 100 Continue\r\nX: ")
				for sent := 0; sent < 32<<20; sent += len(piece) {
					if _, err := io.WriteString(k, piece); err != nil {
						return
					}
				}
			})
			c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
			if a, err := c.Post(t.Context(), "/p", "", nil); err == nil || !strings.Contains(err.Error(), "head") || strings.Contains(err.Error(), "EOF") {
				t.Errorf("answer %v, err = %v", a, err)
			}
		})
	}
}

// A connection that speaks something else from now on is not used again.
func TestSwitched(t *testing.T) {
	l := speaking(t, func(_ int32, k net.Conn, next func() (string, bool)) {
		for n := 0; ; n++ {
			body, ok := next()
			if !ok {
				return
			}
			if n > 0 {
				fmt.Fprint(k, echoed("not HTTP any more"))
				continue
			}
			if body == "switch" {
				fmt.Fprint(k, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
				continue
			}
			fmt.Fprint(k, echoed(body))
		}
	})
	c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
	defer c.Close()
	if got := ask(t, c, "switch"); got != "101 " {
		t.Fatal(got)
	}
	if got := ask(t, c, "next"); got != "200 next" {
		t.Fatal(got)
	}
}
