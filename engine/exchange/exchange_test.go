package exchange_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/exchange"
)

// counted is a test server that counts its connections.
func counted(t *testing.T, h http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	n := new(atomic.Int32)
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, n
}

// ask makes one exchange and reads it to its end.
func ask(t *testing.T, c *exchange.Client, body string) string {
	t.Helper()
	a, err := c.Post(t.Context(), "/p", "id-1", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(a)
	if err != nil {
		t.Fatal(err)
	}
	a.Done()
	return fmt.Sprintf("%d %s", a.Status, b)
}

// A request arrives as it was given, and answers of all forms are read to
// their end over one connection.
func TestPost(t *testing.T) {
	big := strings.Repeat("x", 300<<10)
	s, conns := counted(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		for name, want := range map[string]string{"X-Request-Id": "id-1", "Authorization": "Bearer k", "Content-Type": "application/json"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if r.URL.Path != "/base/p" || int64(len(b)) != r.ContentLength {
			t.Errorf("%s with %d bytes of %d", r.URL.Path, len(b), r.ContentLength)
		}
		switch string(b[:1]) {
		case "l":
			fmt.Fprint(w, "with a length")
		case "c":
			w.(http.Flusher).Flush()
			fmt.Fprint(w, big)
		case "i":
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		case "n":
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprint(w, len(b))
		}
	})
	c := exchange.New(s.URL+"/base/", exchange.Options{Key: "k"})
	defer c.Close()
	for body, want := range map[string]string{
		"l": "200 with a length", "c": "200 " + big, "i": "418 ", "n": "204 ", big: fmt.Sprint("200 ", len(big)),
	} {
		if got := ask(t, c, body); got != want {
			t.Errorf("%.10s: %.40q, want %.40q", body, got, want)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A reader that stops at the last event leaves the end of the body behind; it
// is read when he is done, and the connection is used again.
func TestDone(t *testing.T) {
	s, conns := counted(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
	})
	c := exchange.New(s.URL, exchange.Options{})
	defer c.Close()
	for range 5 {
		a, err := c.Post(t.Context(), "/p", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReaderSize(io.LimitReader(a, 13), 16).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		if err := a.Done(); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// An answer that goes on is not waited for.
func TestDoneBefore(t *testing.T) {
	over := make(chan struct{})
	s, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(over)
	})
	c := exchange.New(s.URL, exchange.Options{})
	a, err := c.Post(t.Context(), "/p", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Done()
	<-over
}

// A connection on which the server hung up while it waited is found out, and
// the request is sent again; on a new one a missing answer is an error.
func TestHungUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hung := make(chan struct{}, 1)
	var conns atomic.Int32
	go func() {
		for {
			k, err := l.Accept()
			if err != nil {
				return
			}
			if n := conns.Add(1); n > 2 {
				k.Close()
				continue
			}
			r, err := http.ReadRequest(bufio.NewReader(k))
			if err == nil {
				io.Copy(io.Discard, r.Body)
				fmt.Fprint(k, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
			k.Close()
			hung <- struct{}{}
		}
	}()
	c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
	defer c.Close()
	for range 2 {
		if got := ask(t, c, "{}"); got != "200 ok" {
			t.Fatal(got)
		}
		<-hung
	}
	if _, err := c.Post(t.Context(), "/p", "", []byte("{}")); err == nil {
		t.Fatal("an answer from nobody")
	}
	if n := conns.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
}

// An engine that refuses what it has not read is heard, and its connection is
// not used again.
func TestEarly(t *testing.T) {
	s, conns := counted(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		fmt.Fprint(w, "too much")
	})
	c := exchange.New(s.URL, exchange.Options{})
	defer c.Close()
	for range 3 {
		if got := ask(t, c, strings.Repeat("x", 16<<20)); got != "413 too much" {
			t.Fatal(got)
		}
	}
	if n := conns.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
}

// The end of the context ends an exchange in each of its phases.
func TestContext(t *testing.T) {
	for _, phase := range []string{"write", "head", "body"} {
		t.Run(phase, func(t *testing.T) {
			reached, ended, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				if phase != "write" {
					io.Copy(io.Discard, r.Body)
				}
				if phase == "body" {
					fmt.Fprint(w, "a")
					w.(http.Flusher).Flush()
				}
				close(reached)
				if phase == "write" {
					<-ended
					if n, err := io.Copy(io.Discard, r.Body); err == nil {
						t.Errorf("a body of %d bytes", n)
					}
					return
				}
				<-r.Context().Done()
			})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-reached
				cancel()
			}()
			c := exchange.New(s.URL, exchange.Options{})
			a, err := c.Post(ctx, "/p", "", make([]byte, 32<<20))
			if err == nil {
				_, err = io.ReadAll(a)
				a.Done()
			}
			close(ended)
			if err == nil || ctx.Err() == nil {
				t.Fatalf("err = %v", err)
			}
			<-gone
		})
	}
}

// Close by another goroutine ends a read.
func TestClose(t *testing.T) {
	s, conns := counted(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := exchange.New(s.URL, exchange.Options{})
	for range 2 {
		a, err := c.Post(t.Context(), "/p", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		go a.Close()
		if _, err := io.ReadAll(a); err == nil {
			t.Error("a whole answer")
		}
		a.Done()
	}
	if n := conns.Load(); n != 2 {
		t.Errorf("%d connections, want 2: one that was closed is not used again", n)
	}
}

// What is no HTTP, and addresses that are none, are errors.
func TestBad(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			k, err := l.Accept()
			if err != nil {
				return
			}
			http.ReadRequest(bufio.NewReader(k))
			fmt.Fprint(k, "nonsense\r\n\r\n")
			k.Close()
		}
	}()
	for _, base := range []string{"http://" + l.Addr().String(), "ftp://x", "http://", "://", "http://127.0.0.1:1"} {
		if _, err := exchange.New(base, exchange.Options{}).Post(t.Context(), "/p", "", nil); err == nil {
			t.Errorf("%s: an answer", base)
		}
	}
}

// Header lines cannot be made by a name.
func TestInjection(t *testing.T) {
	s, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Evil") != "" || r.Header.Get("X-Request-Id") != "aEvil: 1" {
			t.Errorf("headers %v", r.Header)
		}
	})
	a, err := exchange.New(s.URL, exchange.Options{}).Post(t.Context(), "/p", "a\r\nEvil: 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// Engines behind TLS are reached too; one whose certificate nobody signed is
// not.
func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	s.Config.ErrorLog = nil
	_, err := exchange.New(s.URL, exchange.Options{}).Post(t.Context(), "/p", "", nil)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("err = %v", err)
	}
}

// Connections that wait for nothing are closed after a while.
func TestIdle(t *testing.T) {
	closed := make(chan struct{}, 8)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	c := exchange.New(s.URL, exchange.Options{Idle: 10 * time.Millisecond})
	if got := ask(t, c, "{}"); got != "200 " {
		t.Fatal(got)
	}
	<-closed
	if got := ask(t, c, "{}"); got != "200 " {
		t.Fatal(got)
	}
	c.Close()
	<-closed
	if _, err := c.Post(canceled(), "/p", "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
