package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

func serve(t *testing.T, h http.HandlerFunc) *remote.Server {
	t.Helper()
	s := httptest.NewServer(h)
	c := remote.New(engine.Endpoint{URL: s.URL, Key: "secret"})
	t.Cleanup(func() { c.Close(); s.CloseClientConnections(); s.Close() })
	return c
}

func TestDocuments(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), body)
	})
	if got, err := s.Get(t.Context(), "/a?b=1"); string(got) != "GET /a?b=1 Bearer secret  " {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := s.Post(t.Context(), "/a", []byte("{}")); string(got) != "POST /a Bearer secret application/json {}" {
		t.Errorf("%q, %v", got, err)
	}
}

// A document that is longer than what is read of it is an error, not its
// beginning.
func TestLongDocument(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"total_slots":1,"more":"`)
		for range 9 << 4 {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
				return
			}
		}
	})
	if b, err := s.Get(t.Context(), "/props"); !errors.Is(err, turn.ErrLost) || !strings.Contains(err.Error(), "over 1 MiB") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := s.Page(t.Context(), "/metrics"); !errors.Is(err, turn.ErrLost) || !strings.Contains(err.Error(), "over 8 MiB") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// What a server says of an error is told, but neither all of a book nor what a
// terminal obeys.
func TestMessage(t *testing.T) {
	err := remote.Fault(400, "no \x1b[2J\x07\xff\n"+strings.Repeat("é", 1<<20))
	words := err.Error()
	if !strings.Contains(words, "no  [2J \uFFFD\né") || len(words) > 5<<10 || !utf8.ValidString(words) {
		t.Errorf("%d bytes, %.40q", len(words), words)
	}
}

// What a status means is the same for documents and for answers.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		refused bool
		busy    bool
		words   string
	}{
		{400, `{"error":{"message":"too long"}}`, true, false, "too long"},
		{404, `{"detail":"Not Found"}`, true, false, "Not Found"},
		{422, `{"detail":[{"msg":"x"}]}`, true, false, "422 Unprocessable"},
		{401, `{"error":"no"}`, false, false, "our key: no"},
		{429, `{"message":"later"}`, false, true, "later"},
		{503, ``, false, true, "503 Service"},
		{500, `oh`, false, false, "500 Internal"},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, one := s.Get(t.Context(), "/x")
		_, two := s.Answer(t.Context(), "/x", "id", []byte("{}"))
		for _, err := range []error{one, two} {
			var refused *turn.Refused
			if errors.As(err, &refused) != c.refused || errors.Is(err, turn.ErrLost) == c.refused ||
				errors.Is(err, turn.ErrBusy) != c.busy || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%d %s is %v", c.status, c.body, err)
			}
		}
		if n, err := s.Status(t.Context(), "/x"); err != nil || n != c.status {
			t.Errorf("status %d, %v", n, err)
		}
	}
}

// A client that knows its engine's words says what they mean.
func TestJudge(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		io.WriteString(w, "your fault")
	})
	s.Judge = func(status int, body []byte) error {
		if status == 500 && string(body) == "your fault" {
			return &turn.Refused{Status: 400, Message: string(body)}
		}
		return nil
	}
	var refused *turn.Refused
	if _, err := s.Get(t.Context(), "/x"); !errors.As(err, &refused) || refused.Status != 400 {
		t.Errorf("error is %v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	free, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	c := remote.New(engine.Endpoint{URL: fmt.Sprintf("http://127.0.0.1:%d", free)})
	if _, err := c.Answer(t.Context(), "/x", ""); !errors.Is(err, turn.ErrLost) || !errors.Is(err, turn.ErrUnsent) {
		t.Errorf("error is %v", err)
	}
}

// Our own cancel loses no worker; a server that is too slow is lost, and the
// error says what was waited for.
func TestCancel(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	cancel(mine)
	if _, err := s.Get(ctx, "/x"); !errors.Is(err, mine) || errors.Is(err, turn.ErrLost) {
		t.Errorf("error is %v", err)
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, fmt.Errorf("no models: %w", context.DeadlineExceeded))
	defer stop()
	if _, err := s.Get(ctx, "/x"); !errors.Is(err, turn.ErrLost) || !strings.Contains(err.Error(), "no models") {
		t.Errorf("error is %v", err)
	}
}

// lateContext is one whose deadline has passed and whose timer has not run yet,
// as on a busy machine.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// A socket has the deadline of its context too, and may tell first that it is
// over.
func TestDeadlineToldBySocket(t *testing.T) {
	timeout := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		ours bool
	}{
		"our deadline":           {lateContext{t.Context()}, timeout, true},
		"something else by then": {lateContext{t.Context()}, io.ErrUnexpectedEOF, false},
		"no deadline of ours":    {t.Context(), timeout, false},
	} {
		err := remote.Unreachable(c.ctx, c.err)
		if errors.Is(err, context.DeadlineExceeded) != c.ours || !errors.Is(err, turn.ErrLost) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
