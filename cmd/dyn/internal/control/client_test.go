package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return New(path)
}

func TestClient(t *testing.T) {
	var asked string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		fmt.Fprint(w, `{"v":1,"daemon":{"pid":7}}`)
	})
	ctx := context.Background()
	s, err := c.Snapshot(ctx)
	if err != nil || s.Daemon.PID != 7 || asked != "GET /snapshot " {
		t.Fatalf("snapshot: %v %v, asked %q", s.Daemon, err, asked)
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return c.Stop(ctx, Stop{Now: true}) }, `POST /stop {"now":true}`},
		{func() error { return c.Detach(ctx, "a b") }, "DELETE /workers/a%20b "},
		{func() error { _, err := c.Attach(ctx, turn.Attach{URL: "http://h"}); return err }, `POST /workers {"url":"http://h"}`},
	} {
		if err := step.do(); err != nil || asked != step.want {
			t.Fatalf("asked %q (%v), want %q", asked, err, step.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct{ body, want, try string }{
		{`{"error":{"op":"find","message":"no such worker","try":"dyn ps"}}`, "no such worker", "dyn ps"},
		{`{"error":{}}`, "404 Not Found", ""},
		{`{"error":"no"}`, "404 Not Found", ""},
		{`oops`, "404 Not Found", ""},
	} {
		cl := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); io.WriteString(w, c.body) })
		err := cl.Detach(context.Background(), "w9")
		var no *Refusal
		if !errors.As(err, &no) || no.Status != 404 || no.Message != c.want || no.Try != c.try {
			t.Fatalf("error = %v, want a refusal %q", err, c.want)
		}
	}
}

// A daemon that is there and says nothing is waited for no longer than one
// waits for a picture.
func TestSilent(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Snapshot(ctx); !errors.Is(err, ErrSilent) {
		t.Fatalf("error = %v, want ErrSilent", err)
	}
	if err := c.Stop(ctx, Stop{}); !errors.Is(err, ErrSilent) {
		t.Fatalf("stop = %v, want ErrSilent", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Snapshot(ended); !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v, want Canceled", err)
	}
}

func TestNobody(t *testing.T) {
	if _, err := New(filepath.Join(t.TempDir(), "none")).Snapshot(context.Background()); !errors.Is(err, ErrNone) {
		t.Fatalf("error = %v, want ErrNone", err)
	}
}

// Who ends with a question before it, and no answer given, is nobody too.
func TestLeaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for unread := false; ; unread = !unread {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if !unread {
				c.Read(make([]byte, 4096)) // closing after that is an end of file, before it a reset
			}
			c.Close()
		}
	}()
	for range 4 {
		if _, err := New(path).Snapshot(t.Context()); !errors.Is(err, ErrNone) {
			t.Errorf("error = %v, want ErrNone", err)
		}
	}
}

// A picture from before the question is not taken for an answer.
func TestNow(t *testing.T) {
	asked := 0
	old := time.Now().Add(-time.Minute)
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 2 {
			old = time.Now()
		}
		fmt.Fprintf(w, `{"at":%q}`, old.Format(time.RFC3339Nano))
	})
	s, err := c.Now(context.Background())
	if err != nil || asked != 3 || time.Since(s.At) > 30*time.Second {
		t.Fatalf("picture of %v after %d questions (%v), want the third", s.At, asked, err)
	}
}
