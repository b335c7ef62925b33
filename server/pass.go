package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/agentinfer/dyn/turn"
)

// kinds are those of workers that take no turns: what comes for them is
// handed on as it is.
var kinds = []string{"embeddings", "images", "videos"}

// upstream is an attached worker that takes no turns.
type upstream struct {
	name           string // the kind and a number
	kind, url, key string
	models         []string // that it named when it was attached
	served         int64    // requests so far; guarded by upstreams' mutex
}

// upstreams are those workers. The zero value has none.
type upstreams struct {
	mu   sync.Mutex // guards all below
	list []*upstream
	made int
}

// add adds a worker, in place of one with the same address and kind, and
// names it.
func (u *upstreams) add(one *upstream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	one.name = fmt.Sprintf("%s-%d", one.kind, u.made)
	u.made++
	u.list = slices.DeleteFunc(u.list, func(o *upstream) bool { return o.url == one.url && o.kind == one.kind })
	u.list = append(u.list, one)
}

// remove forgets a worker, and reports whether there was one.
func (u *upstreams) remove(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.list)
	u.list = slices.DeleteFunc(u.list, func(o *upstream) bool { return o.name == name })
	return len(u.list) < n
}

// pick returns a worker of a kind: of those that named the model or have the
// address, when some did, the one that has served least.
func (u *upstreams) pick(kind, model, url string) *upstream {
	u.mu.Lock()
	defer u.mu.Unlock()
	var best *upstream
	knows := func(o *upstream) bool { return o.url == url || model != "" && slices.Contains(o.models, model) }
	for _, o := range u.list {
		switch {
		case o.kind != kind:
		case best == nil, knows(o) && !knows(best), knows(o) == knows(best) && o.served < best.served:
			best = o
		}
	}
	if best != nil {
		best.served++
	}
	return best
}

// handed carries requests that are handed on. Answers may take as long as a
// video does; only the way to the worker has a limit.
var handed = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: time.Minute, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// pass makes the handler of a kind.
func pass(kind string) func(*Server, *call) error {
	return func(s *Server, c *call) error {
		body, err := s.body(c.RequestCtx, nil)
		if err != nil {
			return err
		}
		var ask struct {
			Model string `json:"model"`
		}
		if body, err = c.fence(body); err != nil {
			return err
		}
		json.Unmarshal(body, &ask) // a form, say, names no model here
		url := ""
		if kind == "videos" {
			id, err := jobOf(c.path, c.header("Content-Type"), body)
			if err != nil && c.who != nil { // whose it is must not depend on how the engine reads it
				return err
			}
			if url, err = s.owned(c, kind, id); err != nil {
				return err
			}
		}
		up := s.ups.pick(kind, ask.Model, url)
		if up == nil {
			return &dialect.Problem{Kind: dialect.NotFound, Message: "no worker for " + kind + " is attached; see dyn up --attach URL,kind=" + kind}
		}
		if err := c.enter(); err != nil {
			return full(err)
		}
		return s.hand(c, up, body)
	}
}

// Headers that are handed on with a request, and with its answer.
var (
	handedUp   = []string{"Content-Type", "Accept", "Range"}
	handedDown = []string{"Content-Type", "Retry-After", "Content-Range", "Accept-Ranges", "Content-Disposition"}
)

// hand sends a request to an upstream and its answer to the client as it
// comes. The client's FIN ends both.
func (s *Server) hand(c *call, up *upstream, body []byte) error {
	ctx, cancel := context.WithCancelCause(s.life)
	stop := s.watches.watch(c.Conn(), func() { cancel(errLeft) })
	req, err := http.NewRequestWithContext(ctx, string(c.Method()), up.url+string(c.Request.URI().RequestURI()), strings.NewReader(string(body)))
	if err != nil {
		stop()
		cancel(nil)
		return &dialect.Problem{Message: "hand on: " + err.Error()}
	}
	for _, name := range handedUp {
		if v := c.header(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	if up.key != "" {
		req.Header.Set("Authorization", "Bearer "+up.key)
	}
	resp, err := handed.Do(req)
	if err != nil {
		stop()
		left := context.Cause(ctx)
		cancel(nil)
		if left != nil {
			return left
		}
		return &dialect.Problem{Kind: dialect.Unavailable, Message: "the " + up.kind + " worker does not answer", RetryAfter: retryAfter}
	}
	if up.kind == "videos" && string(c.Method()) == "POST" {
		s.noteJob(c, up, resp)
	}
	c.SetStatusCode(resp.StatusCode)
	for _, name := range handedDown {
		if v := resp.Header.Get(name); v != "" {
			c.Response.Header.Set(name, v)
		}
	}
	c.let = false
	answer := &relay{ReadCloser: resp.Body, stop: stop, cancel: cancel, who: c.who, deadline: c.Conn().SetWriteDeadline, patience: s.o.Patience}
	c.SetBodyStream(answer, int(resp.ContentLength))
	return nil
}

// relay is an answer on its way from an upstream; closing it ends the watch
// of the client and the request, and gives the key's place back.
type relay struct {
	io.ReadCloser
	stop   func()
	cancel context.CancelCauseFunc
	who    *tenant.Tenant
	tail   []byte // of the answer, where its usage stands

	deadline func(time.Time) error // of the client's connection
	patience time.Duration
}

// Read gives the client its time anew for what it is about to get: an answer
// may take as long as it likes, but not stand still at a client's.
func (r *relay) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.deadline(time.Now().Add(r.patience))
	if r.who != nil {
		r.tail = append(r.tail, p[:n]...)
		r.tail = r.tail[max(0, len(r.tail)-usageRoom):]
	}
	return n, err
}

// usageRoom is how many bytes from its end an answer's usage begins at most.
const usageRoom = 1024

// used is what an answer says that it used, in tokens; 0 when it says nothing.
func used(tail []byte) int {
	_, number, _ := bytes.Cut(tail[max(0, bytes.LastIndex(tail, totalTokens)):], totalTokens)
	n := 0
	for _, c := range bytes.TrimLeft(number, ": ") {
		if c < '0' || c > '9' || n > 1<<30 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

var totalTokens = []byte(`"total_tokens"`)

func (r *relay) Close() error {
	r.stop()
	r.cancel(nil)
	r.who.Leave(time.Now(), used(r.tail))
	return r.ReadCloser.Close()
}

// AttachKind makes a worker known that takes no turns: at.Kind says what it
// is for. It must answer a question for its models.
func (s *Server) AttachKind(ctx context.Context, at turn.Attach) (name string, err error) {
	op := "attach " + at.URL
	if !slices.Contains(kinds, at.Kind) {
		return "", &turn.Fault{Op: op, Err: fmt.Errorf("kind %q: unknown; there are %s", at.Kind, strings.Join(kinds, ", "))}
	}
	url := strings.TrimSuffix(strings.TrimRight(at.URL, "/"), "/v1")
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/v1/models", nil)
	if err != nil {
		return "", &turn.Fault{Op: op, Err: err, Try: "dyn up --attach http://host:port,kind=" + at.Kind}
	}
	if at.Key != "" {
		req.Header.Set("Authorization", "Bearer "+at.Key)
	}
	resp, err := handed.Do(req)
	if err != nil {
		return "", &turn.Fault{Op: op, Err: err, Why: "it was asked for its models"}
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list)
	if resp.StatusCode != http.StatusOK || err != nil {
		return "", &turn.Fault{Op: op, Err: fmt.Errorf("asked for its models it answered %d", resp.StatusCode)}
	}
	up := &upstream{kind: at.Kind, url: url, key: at.Key}
	for _, m := range list.Data {
		up.models = append(up.models, m.ID)
	}
	s.ups.add(up)
	return up.name, nil
}
