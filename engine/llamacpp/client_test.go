package llamacpp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

func TestProbe(t *testing.T) {
	f, url := newFace(t, plain(3))
	c, seen := probed(t, f, url, plainArgs...)
	want := turn.Capabilities{
		Model: "face", Context: 2048, BlockSize: 16, KVTokens: 3 * 2048, MaxSeqs: 3,
		TokenIDs: true, Cached: true, Events: true, Formats: true, Logprobs: true, Chat: true, Engine: "llama.cpp b1",
	}
	if seen.Caps != want || seen.Events != "" {
		t.Errorf("seen %+v", seen)
	}
	if c.mirror.rules.perToken != 100 {
		t.Errorf("%d bytes a token", c.mirror.rules.perToken)
	}
	if f.count("/slots/2") != 1 { // where the probe ran, saved once
		t.Error("other questions were asked")
	}
}

// Nothing is written to a folder that is not ours.
func TestProbeOfOthers(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url)
	if n := f.count("/slots/0") + f.count("/slots/1"); n > 0 {
		t.Error("other questions were asked")
	}
	if r := c.mirror.rules; r.similarity != usualSimilarity || !r.saving || r.perToken != usualPerToken {
		t.Errorf("rules are %+v", r)
	}
}

// What is no llama-server is told apart at once.
func TestProbeOfStrangers(t *testing.T) {
	for _, body := range []string{`{}`, `{"total_slots":0}`, `{"total_slots":1e9}`, `no JSON`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { w.Write([]byte(body)) }))
		c := newClient(engine.Endpoint{URL: s.URL})
		if _, err := c.Probe(t.Context()); !errors.Is(err, turn.ErrLost) {
			t.Errorf("%s: %v", body, err)
		}
		c.Close()
		s.Close()
	}
}

// A server that seems to hang is probed while turns may come: they are kept
// apart as always, and their salts are not forgotten.
func TestTurnsDuringAProbe(t *testing.T) {
	f, _ := newFace(t, plain(1))
	var turns atomic.Pointer[func()] // that come during a probe
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("X-Request-Id") == "dyn-probe" {
			if during := turns.Swap(nil); during != nil {
				(*during)()
			}
		}
		f.ServeHTTP(w, q)
	}))
	defer s.Close()
	c := newClient(engine.Endpoint{URL: s.URL, Args: append(slices.Clone(plainArgs), "--slot-save-path", t.TempDir())})
	defer c.Close()
	if _, err := c.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.used = true
	reuse := func(salt string) any {
		if h := listen(t, c, turn.Job{Prompt: said(0, 64), MaxTokens: 2, Salt: salt}); h.err != nil {
			t.Fatal(h.err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.bodies[len(f.bodies)-1]["cache_prompt"]
	}
	if reuse("a") != true {
		t.Fatal("the only salt reuses nothing")
	}
	during := func() {
		if got := reuse("b"); got != false {
			t.Errorf("during a probe another salt reuses: %v", got)
		}
	}
	turns.Store(&during)
	if _, err := c.Probe(t.Context()); err != nil || turns.Load() != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mirror.salts.several {
		t.Error("after a probe the salt that came meanwhile is forgotten")
	}
}

func TestEndlessProbe(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/props" {
			w.Write([]byte(`{"total_slots":1}`))
		}
		for n := 1; q.URL.Path == "/completion" && q.Context().Err() == nil; n++ {
			if _, err := w.Write([]byte(`data: {"content":"x","tokens":[5],"tokens_predicted":` + strings.Repeat("1", min(n, 9)) + "}\n\n")); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	c := newClient(engine.Endpoint{URL: s.URL})
	defer c.Close()
	if _, err := c.Probe(t.Context()); !errors.Is(err, engine.ErrEndless) {
		t.Errorf("error is %v", err)
	}
}

// A stop id that the server does not know ends the answer here, without the
// text of its token, and the server is left.
func TestStopID(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url, plainArgs...)
	h := listen(t, c, turn.Job{Prompt: said(0, 40), MaxTokens: 20, StopIDs: []uint32{502}})
	want := turn.End{Reason: turn.Ended, StopID: true, Usage: turn.Usage{Prompt: 40, Output: 3}}
	if h.err != nil || h.text != "ab" || !slices.Equal(h.ids, []uint32{500, 501, 502}) || *h.end != want {
		t.Errorf("heard %q %v, %+v, %v", h.text, h.ids, h.end, h.err)
	}
	h = listen(t, c, turn.Job{Prompt: said(1, 40), MaxTokens: 40, Sampling: turn.Sampling{StopIDs: []uint32{2}}})
	if h.err != nil || len(h.text) != 30 || h.end.Reason != turn.Ended || !h.end.StopID || h.end.Usage.Output != 31 {
		t.Errorf("its own: heard %q, %+v, %v", h.text, h.end, h.err)
	}
}

func TestRefusedHere(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url)
	c.formed.Store(false)
	for name, j := range map[string]turn.Job{
		"form":       {Format: turn.Format{Kind: turn.JSONObject}},
		"min_tokens": {Sampling: turn.Sampling{MinTokens: 3}},
	} {
		j.Prompt, j.MaxTokens = said(0, 9), 4
		var refused *turn.Refused
		if h := listen(t, c, j); !errors.As(h.err, &refused) {
			t.Errorf("%s: %v", name, h.err)
		}
	}
	if len(f.sent("prompt")) > 0 {
		t.Error("they were sent")
	}
}

// A client that hangs up leaves its slot to others, with what was computed.
func TestClose(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url, plainArgs...)
	f.stalls()
	s, err := c.Generate(t.Context(), turn.Job{Prompt: said(0, 64), MaxTokens: 9})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Next(); err != nil || d.Text != "a" {
		t.Fatalf("%+v, %v", d, err)
	}
	s.Close()
	s.Close()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
	if sl := c.mirror.slots[0]; sl.busy != nil || sl.ids.Len() != 64 {
		t.Errorf("the slot has %d tokens, busy %v", sl.ids.Len(), sl.busy != nil)
	}
}

// Close ends a Next that waits, from any goroutine.
func TestCloseWhileWaiting(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url, plainArgs...)
	f.stalls()
	s, err := c.Generate(t.Context(), turn.Job{Prompt: said(0, 64), MaxTokens: 9})
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := s.Next()
		close(first)
		if err == nil {
			_, err = s.Next()
		}
		ended <- err
	}()
	<-first
	s.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// A turn that is cancelled while the server has not answered is forgotten.
func TestCancelUnanswered(t *testing.T) {
	asked := make(chan struct{})
	f, url := newFace(t, plain(1))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body) // the end is seen by who has read all
		close(asked)
		<-q.Context().Done()
	}))
	defer s.Close()
	c, _ := probed(t, f, url, plainArgs...)
	c.http = newClient(engine.Endpoint{URL: s.URL}).http
	mine := errors.New("mine")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(mine)
	}()
	if _, err := c.Generate(ctx, turn.Job{Prompt: said(0, 64), MaxTokens: 9}); !errors.Is(err, mine) {
		t.Errorf("error is %v", err)
	}
	if sl := c.mirror.slots[0]; sl.busy != nil || sl.sure || len(c.mirror.queue) > 0 {
		t.Errorf("the mirror believes %+v", sl)
	}
}

// An answer that ends after another probe is of a life that is over.
func TestEndOfAnEarlierLife(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	s, err := c.Generate(t.Context(), turn.Job{Prompt: said(0, 64), MaxTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	c.start(newMirror(1, rules{}))
	for d := (turn.Delta{}); d.End == nil; {
		if d, err = s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if n := len(c.mirror.holds()); n > 0 {
		t.Errorf("%d states are held", n)
	}
}

// An answer that the server did not begin changes nothing.
func TestUndone(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	listen(t, c, turn.Job{Prompt: said(0, 64), MaxTokens: 2})
	before := c.mirror.holds()
	f.refuses(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
	if h := listen(t, c, turn.Job{Prompt: said(1, 64), MaxTokens: 2}); !errors.Is(h.err, turn.ErrUnsent) {
		t.Errorf("error is %v", h.err)
	}
	if after := c.mirror.holds(); len(after) != len(before) || len(c.mirror.queue) > 0 {
		t.Errorf("%d states, before %d", len(after), len(before))
	}
}

// What the mirror tells makes an index that knows what the server will find.
func TestIndexKnows(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	index := cache.NewIndex(blockTokens, cache.Options{})
	w, err := index.Join("w0")
	if err != nil {
		t.Fatal(err)
	}
	c.listen()
	for i, step := range []struct{ agent, n int }{{0, 160}, {1, 170}, {2, 180}, {0, 230}, {1, 240}, {2, 250}, {0, 300}} {
		for _, e := range c.events() {
			index.Apply(w, e)
		}
		prompt, expected := said(step.agent, step.n), 0
		for _, o := range index.Overlap(nil, cache.Extend(nil, index.Seed(""), prompt.Flat(), blockTokens)) {
			expected = o.Tokens
		}
		h := listen(t, c, turn.Job{Prompt: prompt, MaxTokens: 3})
		if h.err != nil {
			t.Fatal(h.err)
		}
		if got := h.end.Usage.Cached; expected > got || expected < got-blockTokens || i > 2 && got < shared {
			t.Errorf("turn %d: %d tokens expected, %d found", i, expected, got)
		}
	}
}

// A listener hears that all is new, then what is held, then each change.
func TestMirrorTells(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url, plainArgs...)
	listen(t, c, turn.Job{Prompt: said(0, 64), MaxTokens: 2})
	for range 2 { // one after another
		ctx, cancel := context.WithCancel(t.Context())
		heard := make(chan []turn.KVEvent)
		var telling sync.WaitGroup
		telling.Go(func() {
			c.Mirror(ctx, func(e []turn.KVEvent) {
				select {
				case heard <- e:
				case <-ctx.Done():
				}
			})
		})
		e := <-heard
		if len(e) < 2 || e[0].Kind != turn.KVRestart || e[1].Kind != turn.KVStored || e[1].HasParent || len(e[1].Tokens) == 0 {
			t.Errorf("heard %+v", e)
		}
		if _, err := c.Probe(t.Context()); err != nil { // another life
			t.Error(err)
		}
		if e := <-heard; len(e) != 1 || e[0].Kind != turn.KVRestart {
			t.Errorf("then %+v", e)
		}
		listen(t, c, turn.Job{Prompt: said(0, 64), MaxTokens: 2})
		if e := <-heard; len(e) != 1 || e[0].Kind != turn.KVStored {
			t.Errorf("at last %+v", e)
		}
		cancel()
		telling.Wait()
	}
}

// Metrics are read every three seconds at most, health is asked between.
func TestLoadIsSparing(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	health := f.count("/health")
	for i := range 5 {
		l, err := c.Load(t.Context())
		if err != nil || l.Work != 7 || len(l.Tiers) != 2 || l.Tiers[0].Capacity != 4096 || l.Tiers[1].Capacity != 512<<20/100 {
			t.Fatalf("load is %+v, %v", l, err)
		}
		if i == 0 { // the others come within the three seconds, also on a busy machine
			c.metered.at = c.metered.at.Add(time.Hour)
		}
	}
	if f.count("/metrics") != 1 || f.count("/health")-health != 4 || f.count("/slots") != 1 {
		t.Error("other questions were asked")
	}
	for _, c := range []struct {
		at   time.Time
		want bool
	}{{time.Time{}, true}, {time.Unix(100, 0), false}, {time.Unix(97, 1), false}, {time.Unix(97, 0), true}} {
		if m := (&meter{at: c.at}); m.due(time.Unix(100, 0)) != c.want {
			t.Errorf("read at %v, due is %v", c.at, !c.want)
		}
	}
}

// A server that outlives its daemon may reuse what it held, as long as all of
// it is of one salt.
func TestAdoptedSalts(t *testing.T) {
	for _, c := range []struct {
		name  string
		salts []string
		kept  bool // the notes
		next  string
		reuse bool
	}{
		{"the same", []string{"a", "a"}, true, "a", true},
		{"none", []string{"", ""}, true, "", true},
		{"another", []string{"a"}, true, "b", false},
		{"several", []string{"a", "b"}, true, "a", false},
		{"no notes", []string{"a"}, false, "a", false},
		{"no notes, no salt", []string{""}, false, "", true},
		{"nothing before", nil, true, "a", true},
	} {
		dir := t.TempDir()
		args := []string{"llama-server", "--cache-ram", "9", "--slot-save-path", dir + "/"}
		f, url := newFace(t, plain(2))
		first, _ := probed(t, f, url, args...)
		for i, salt := range c.salts {
			listen(t, first, turn.Job{Prompt: said(i, 50), MaxTokens: 2, Salt: salt})
		}
		if !c.kept {
			os.Remove(filepath.Join(dir, "salts.json"))
		} else if b, err := os.ReadFile(filepath.Join(dir, "salts.json")); err == nil && strings.Contains(string(b), `"a"`) {
			t.Errorf("%s: a salt was written down: %s", c.name, b)
		}
		f.serves(true) // the first probe at least
		second, _ := probed(t, f, url, args...)
		listen(t, second, turn.Job{Prompt: said(9, 50), MaxTokens: 2, Salt: c.next})
		if got := f.sent("cache_prompt")[0]; got != c.reuse {
			t.Errorf("%s: cache_prompt is %v", c.name, got)
		}
	}
}

// Of a server with several salts that outlives its daemon, a conversation finds
// its slot again; one of another salt does not.
func TestAdoptedSlots(t *testing.T) {
	for salt, reuse := range map[string]bool{"b": true, "": false} {
		args := []string{"llama-server", "--cache-ram", "9", "--slot-save-path", t.TempDir() + "/"}
		f, url := newFace(t, plain(2))
		first, _ := probed(t, f, url, args...)
		for i, salt := range []string{"a", "b"} {
			listen(t, first, turn.Job{Prompt: said(i, 50), MaxTokens: 2, Salt: salt})
		}
		f.serves(true)
		second, _ := probed(t, f, url, args...)
		next := said(1, 50).Append([]uint32{500, 501, 7, 8})
		listen(t, second, turn.Job{Prompt: next, MaxTokens: 2, Salt: salt})
		if got := f.sent("cache_prompt")[0]; got != reuse {
			t.Errorf("salt %q: cache_prompt is %v", salt, got)
		}
	}
}
