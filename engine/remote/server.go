package remote

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/turn"
)

// IdleLimit is how long a connection without a request is kept. Engines close
// theirs after 5 s, so ours are let go before.
const IdleLimit = 3 * time.Second

// The receive buffer is small, because what lies in it has been computed
// whether or not anybody reads it.
const (
	connectLimit  = 5 * time.Second
	receiveBuffer = 64 << 10
)

// maxHead, maxDocument and maxPage are how much of a head, of a document and of
// a page are read, and docLimit for how long.
const (
	maxHead     = 256 << 10
	maxDocument = 1 << 20
	maxPage     = 8 << 20
	docLimit    = 10 * time.Second
)

// Server is one server's address and key, and the connections to it. It is
// safe for concurrent use.
type Server struct {
	// Judge may say what an answer means that is not a 200, before Fault does.
	// nil, and an error of nil, leave it to Fault. It is set before the first
	// request.
	Judge func(status int, body []byte) error

	base  string
	key   string
	http  *http.Client
	posts *exchange.Client
}

// New makes a Server; it does not connect yet.
func New(at engine.Endpoint) *Server {
	d := &net.Dialer{Timeout: connectLimit}
	return &Server{
		base: at.URL, key: at.Key,
		http: &http.Client{
			Transport: &http.Transport{
				DialContext: d.DialContext, IdleConnTimeout: IdleLimit, DisableCompression: true,
				MaxResponseHeaderBytes: maxHead,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		posts: exchange.New(at.URL, exchange.Options{
			Key: at.Key, Connect: connectLimit, Idle: IdleLimit, Buffer: receiveBuffer,
		}),
	}
}

// Base is the address, without a path.
func (s *Server) Base() string { return s.base }

// Close drops idle connections. What is being read goes on.
func (s *Server) Close() {
	s.http.CloseIdleConnections()
	s.posts.Close()
}

// Status asks for a path and tells the answer's status, whatever it is.
func (s *Server) Status(ctx context.Context, path string) (int, error) {
	r, err := s.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0, err
	}
	drop(r)
	return r.StatusCode, nil
}

// Takes tells the status with which a path answers to a request that only
// asks what is there: 404 where nothing is. Nothing is done by it.
func (s *Server) Takes(ctx context.Context, path string) (int, error) {
	r, err := s.do(ctx, http.MethodHead, path, nil)
	if err != nil {
		return 0, err
	}
	drop(r)
	return r.StatusCode, nil
}

// Get reads a document. Any status but 200 is an error, see Fault.
func (s *Server) Get(ctx context.Context, path string) ([]byte, error) {
	return s.document(ctx, http.MethodGet, path, nil, maxDocument)
}

// Page is Get for what is long, such as metrics.
func (s *Server) Page(ctx context.Context, path string) ([]byte, error) {
	return s.document(ctx, http.MethodGet, path, nil, maxPage)
}

// Post sends a JSON document, nil for none, and reads what comes back, of up
// to a page's length.
func (s *Server) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return s.document(ctx, http.MethodPost, path, body, maxPage)
}

func (s *Server) document(ctx context.Context, method, path string, body []byte, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, docLimit,
		fmt.Errorf("no whole answer in %v: %w", docLimit, context.DeadlineExceeded))
	defer cancel()
	r, err := s.do(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer drop(r)
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %w", path, s.refusal(r.StatusCode, r.Status, r.Body))
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, Unreachable(ctx, err))
	case int64(len(b)) > most: // its beginning would say something else
		return nil, fmt.Errorf("%s: an answer over %d MiB: %w", path, most>>20, turn.ErrLost)
	}
	return b, nil
}

func (s *Server) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if s.key != "" {
		q.Header.Set("Authorization", "Bearer "+s.key)
	}
	if len(body) > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	r, err := s.http.Do(q)
	if err != nil {
		return nil, Unreachable(ctx, err)
	}
	return r, nil
}

// Answer posts a body, given in any number of pieces, that asks for a stream,
// and returns the answer, whose status is 200; any other is an error, see
// Fault. The caller must close it.
func (s *Server) Answer(ctx context.Context, path, id string, body ...[]byte) (*exchange.Answer, error) {
	a, err := s.posts.Post(ctx, path, id, body...)
	if err != nil {
		return nil, Unreachable(ctx, err)
	}
	if a.Status != http.StatusOK {
		defer a.Done()
		return nil, s.refusal(a.Status, a.Reason, a)
	}
	return a, nil
}

// refusal reads a response that is no answer. reason is its status in words,
// which is told where the body says nothing.
func (s *Server) refusal(status int, reason string, r io.Reader) error {
	body, _ := io.ReadAll(io.LimitReader(r, maxError)) // what came is what we can tell
	if s.Judge != nil {
		if err := s.Judge(status, body); err != nil {
			return err
		}
	}
	return Fault(status, cmp.Or(Message(body), reason))
}

// drop reads what little is left, so that the connection can be used again.
func drop(r *http.Response) {
	_, _ = io.CopyN(io.Discard, r.Body, maxError)
	r.Body.Close()
}
