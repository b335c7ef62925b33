package exchange

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Connections through TLS are used again as well, unless their server said
// more than it was asked.
func TestKeptTLS(t *testing.T) {
	var conns, more atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if more.Load() == 0 {
			w.Write(b)
			return
		}
		k, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer k.Close()
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
		fmt.Fprint(k, answer+"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
		io.Copy(io.Discard, k)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.StartTLS()
	defer s.Close()
	c := New(s.URL, Options{})
	defer c.Close()
	c.secure.RootCAs = x509.NewCertPool()
	c.secure.RootCAs.AddCert(s.Certificate())
	for i := range 6 {
		if i == 3 {
			more.Store(1)
		}
		a, err := c.Post(t.Context(), "/p", "", fmt.Append(nil, "turn ", i))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(a); err != nil || string(b) != fmt.Sprint("turn ", i) {
			t.Fatalf("%q, %v", b, err)
		}
		a.Done()
	}
	if n := conns.Load(); n != 3 {
		t.Errorf("%d connections, want 3: one until the server says too much, and then one for each", n)
	}
}

func BenchmarkQuiet(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	n, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	k := newConn(n)
	b.ReportAllocs()
	for b.Loop() {
		if !k.quiet() {
			b.Fatal("not quiet")
		}
	}
}
