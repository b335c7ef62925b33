package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/turn"
)

// ErrNone is in the chain when no daemon listens on the socket.
var ErrNone = errors.New("no daemon is running")

// ErrSilent is in the chain when a daemon is there and does not answer.
var ErrSilent = errors.New("the daemon does not answer")

// leaves are the signs that nobody listens, or that who did has just ended: a
// daemon that lives answers what it has accepted.
var leaves = []error{os.ErrNotExist, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF}

// left reports whether err is one of the leaves.
func left(err error) bool {
	return slices.ContainsFunc(leaves, func(sign error) bool { return errors.Is(err, sign) }) ||
		strings.Contains(err.Error(), "server closed idle connection") // before a byte was written; net/http has no name for it
}

// quickLimit is how long a daemon may take for its picture, or to hear that it
// shall end: both cost it no more than a moment.
const quickLimit = 5 * time.Second

// Refusal is a daemon's answer that says no, with its reason and advice.
type Refusal struct {
	Status  int    `json:"-"`
	Op      string `json:"op"`
	Message string `json:"message"`
	Why     string `json:"why"`
	Try     string `json:"try"`
}

// Error returns the daemon's words.
func (r *Refusal) Error() string { return r.Message }

// maxAnswer bounds what is read of one answer.
const maxAnswer = 64 << 20

// Client asks one daemon. It is safe for concurrent use.
type Client struct{ http http.Client }

// New makes a client of the daemon at a socket. It does not connect.
func New(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &Client{http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Now returns a picture that was drawn after the question. A daemon may show
// many viewers one picture; a command that has just changed something must
// see the change.
func (c *Client) Now(ctx context.Context) (snapshot.Snapshot, error) {
	var s snapshot.Snapshot
	var err error
	asked := time.Now()
	limit, cancel := context.WithTimeout(ctx, time.Second) // a clock that steps back is no reason to wait for ever
	defer cancel()
	Wait(limit, 5*time.Millisecond, func() bool {
		s, err = c.Snapshot(ctx)
		return err != nil || !s.At.Before(asked)
	})
	return s, err
}

// Snapshot returns the daemon's picture of itself, a moment old at most.
func (c *Client) Snapshot(ctx context.Context) (snapshot.Snapshot, error) {
	var s snapshot.Snapshot
	quick, cancel := context.WithTimeout(ctx, quickLimit)
	defer cancel()
	data, err := c.Raw(quick, http.MethodGet, "/snapshot", nil)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, silent(ctx, quick, err)
}

// silent says of a question that was given up on, and not by the asker, that
// the daemon does not answer.
func silent(asker, quick context.Context, err error) error {
	if err != nil && quick.Err() != nil && !errors.Is(asker.Err(), context.Canceled) {
		return fmt.Errorf("ask daemon: %w", ErrSilent)
	}
	return err
}

// Attach adds an engine that dyn did not start. It returns when the engine
// was probed.
func (c *Client) Attach(ctx context.Context, a turn.Attach) (json.RawMessage, error) {
	return c.Raw(ctx, http.MethodPost, "/workers", a)
}

// Detach removes an attached engine; the engine itself runs on.
func (c *Client) Detach(ctx context.Context, name string) error {
	_, err := c.Raw(ctx, http.MethodDelete, "/workers/"+url.PathEscape(name), nil)
	return err
}

// Restart drains a worker and starts it anew; it returns when that gives
// tokens again. An attached one, or one that was drained, takes turns again.
func (c *Client) Restart(ctx context.Context, name string) error {
	_, err := c.Raw(ctx, http.MethodPost, "/workers/"+url.PathEscape(name)+"/restart", nil)
	return err
}

// Drain takes a worker out of routing; it returns when its turns have ended.
func (c *Client) Drain(ctx context.Context, name string) error {
	_, err := c.Raw(ctx, http.MethodPost, "/workers/"+url.PathEscape(name)+"/drain", nil)
	return err
}

// Stop asks the daemon to end: after the running turns, or at once.
func (c *Client) Stop(ctx context.Context, s Stop) error {
	quick, cancel := context.WithTimeout(ctx, quickLimit)
	defer cancel()
	_, err := c.Raw(quick, http.MethodPost, "/stop", s)
	return silent(ctx, quick, err)
}

// Stop is the body of a stop.
type Stop struct {
	Now bool `json:"now"`
}

// Raw asks one thing and returns the answer's body. An answer of 400 and more
// is a *Refusal.
func (c *Client) Raw(ctx context.Context, method, path string, body any) ([]byte, error) {
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("ask daemon: %w", err)
		}
		sent = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://dyn"+path, sent)
	if err != nil {
		return nil, fmt.Errorf("ask daemon: %w", err)
	}
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if left(err) {
			return nil, fmt.Errorf("ask daemon: %w", ErrNone)
		}
		return nil, fmt.Errorf("ask daemon: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("ask daemon: %w", err)
	}
	if resp.StatusCode >= 400 {
		return nil, refusal(resp, data)
	}
	return data, nil
}

// refusal reads an error document, {"error":{…}}; where there is none the
// status has to do.
func refusal(resp *http.Response, data []byte) *Refusal {
	var doc struct {
		Error Refusal `json:"error"`
	}
	if json.Unmarshal(data, &doc) != nil || doc.Error.Message == "" {
		doc.Error = Refusal{Message: resp.Status}
	}
	doc.Error.Status = resp.StatusCode
	return &doc.Error
}

// Wait polls until done reports true or ctx ends. It reports whether done
// did.
func Wait(ctx context.Context, every time.Duration, done func() bool) bool {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return done()
		case <-tick.C:
		}
	}
	return true
}
