package server

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// puppet is a worker that a test pulls the strings of.
type puppet struct {
	name string
	mu   sync.Mutex
	caps turn.Capabilities
	now  turn.State // "" is ready
	back time.Time  // when it takes turns again
	load turn.Load
	chat string // why its turns take the chat path
	play func(ctx context.Context, j turn.Job) (turn.Stream, error)
}

func (p *puppet) Name() string { return p.name }
func (p *puppet) Info() turn.WorkerInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return turn.WorkerInfo{Name: p.name, State: cmp.Or(p.now, turn.Ready), Caps: p.caps, Chat: p.chat, Back: p.back}
}

// set changes the worker's state; the server must be told.
func (p *puppet) set(now turn.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

func (p *puppet) Load() turn.Load {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.load
}

func (p *puppet) Generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	return p.play(ctx, j)
}

// script is an answer made of deltas; at their end it waits for its context.
type script struct {
	ctx    context.Context
	deltas []turn.Delta
}

func (s *script) Next() (turn.Delta, error) {
	if len(s.deltas) == 0 {
		<-s.ctx.Done()
		return turn.Delta{}, context.Cause(s.ctx)
	}
	d := s.deltas[0]
	s.deltas = s.deltas[1:]
	return d, nil
}
func (s *script) Close() error { return nil }

// aWord plays one word and ends.
func aWord(ctx context.Context, j turn.Job) (turn.Stream, error) {
	return &script{ctx, []turn.Delta{{Text: " word", IDs: []uint32{300}, End: &turn.End{
		Reason: turn.Cut, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 1},
	}}}}, nil
}

// stage is a server over puppets.
type stage struct {
	t    *testing.T
	s    *Server
	l    *ledger.Ledger
	path string // of the ledger
	url  string
}

func newStage(t *testing.T, ps ...*puppet) *stage {
	t.Helper()
	st := &stage{t: t, path: filepath.Join(t.TempDir(), "ledger.db")}
	st.l = ledger.Open(st.path, ledger.Options{})
	st.s = New(Options{Ledger: st.l})
	st.s.AddModel(Model{ID: "sim", Prompt: simModel(t), Parser: hermes})
	for _, p := range ps {
		if p.caps.Model == "" {
			p.caps.Model = "sim"
		}
		if err := st.s.Update(p); err != nil {
			t.Fatal(err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st.url = "http://" + ln.Addr().String()
	go st.s.Serve(ln, st.url)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		st.s.Shutdown(ctx)
		st.l.Close()
	})
	return st
}

func (st *stage) post(ctx context.Context, path, body string, headers ...string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, "POST", st.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// caps are those of a usual engine.
func caps(context int) turn.Capabilities {
	return turn.Capabilities{Model: "sim", Context: context, BlockSize: 16, KVTokens: 400000, MaxSeqs: 8, TokenIDs: true, Cached: true}
}

// until waits for a condition; it fails the test when it does not come true.
func (st *stage) until(what string, ok func() bool) {
	st.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			st.t.Fatalf("%s: not within a minute", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}
