package llamacpp

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/turn"
)

// The tests of this file are named by the numbers of public bug reports in the
// reference's list of what a router must cope with.

// answer is an answer of llama-server's with these events.
func answer(events ...string) []byte {
	return []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: ping\n\ndata: " +
		strings.Join(events, "\n\ndata: ") + "\n\n")
}

const (
	stepA  = `{"content":"a","tokens":[10],"stop":false,"id_slot":-1,"tokens_predicted":1}`
	stepB  = `{"content":"b","tokens":[11],"stop":false,"id_slot":-1,"tokens_predicted":2}`
	ending = `{"stop":true,"stop_type":"limit","id_slot":0,"tokens_predicted":2,"tokens_evaluated":3,"tokens_cached":4,"timings":{"cache_n":2}}`
)

func hear(t *testing.T, response []byte, j turn.Job) heard {
	t.Helper()
	if j.Prompt.Len() == 0 {
		j.Prompt = turn.IDsOf(1, 2, 3)
	}
	return listen(t, knowing(t, fake.Replay(t, 9, fake.Same(response))), j)
}

// 22: what stands behind the end is not waited for, and none of it is lost.
func TestBug22(t *testing.T) {
	h := hear(t, answer(stepA, stepB, ending, "[DONE]"), turn.Job{})
	if h.err != nil || h.text != "ab" || h.end.Usage != (turn.Usage{Prompt: 3, Cached: 2, Output: 2}) {
		t.Errorf("heard %q, %+v, %v", h.text, h.end, h.err)
	}
}

// 23: an answer that stops without an end is a lost worker, whatever came.
func TestBug23(t *testing.T) {
	for _, response := range [][]byte{answer(stepA), answer(stepA, `{"content":`), answer(stepA, "[DONE]"), answer(`{}`)} {
		if h := hear(t, response, turn.Job{}); !errors.Is(h.err, turn.ErrLost) || h.end != nil {
			t.Errorf("%s: %+v, %v", response, h.end, h.err)
		}
	}
}

// 26: more cached tokens than the prompt has are no more than it has.
func TestBug26(t *testing.T) {
	h := hear(t, answer(stepA, strings.ReplaceAll(ending, `"cache_n":2`, `"cache_n":9000`)), turn.Job{})
	if h.err != nil || h.end.Usage.Cached != 3 {
		t.Errorf("%+v, %v", h.end, h.err)
	}
}

// Tokens whose text never comes are not kept without end.
func TestMute(t *testing.T) {
	url := fake.Replay(t, 64<<10, func(*http.Request, []byte) []byte {
		many := `{"content":"","tokens":[7],"stop":false,"tokens_predicted":1,"more":"` + strings.Repeat("x", 2<<20) + `"}`
		return answer(slices.Repeat([]string{many}, 12)...)
	})
	h := listen(t, knowing(t, url), turn.Job{Prompt: turn.IDsOf(1, 2, 3), MaxTokens: 4})
	if !errors.Is(h.err, turn.ErrLost) || !strings.Contains(h.err.Error(), "say nothing") {
		t.Errorf("%d ids, %v", len(h.ids), h.err)
	}
}

// 28: the server hangs up an idle connection after five seconds and after 100
// requests; the next request goes over a new one.
func TestBug28(t *testing.T) {
	n := 0
	c := knowing(t, fake.Replay(t, 1<<10, func(*http.Request, []byte) []byte {
		n++
		return answer(stepA, stepB, ending) // and hangs up
	}))
	for range 5 {
		if h := listen(t, c, turn.Job{Prompt: turn.IDsOf(1, 2, 3)}); h.err != nil {
			t.Fatal(h.err)
		}
	}
	if n != 5 {
		t.Errorf("%d requests", n)
	}
}

// 31: a marker comes as the server cut it; no text is lost or doubled, nor are
// its ids, which come with their text where it was held back.
func TestBug31(t *testing.T) {
	h := hear(t, answer(
		`{"content":"","tokens":[20],"tokens_predicted":1}`, `{"content":"","tokens":[21],"tokens_predicted":2}`,
		`{"content":"<tool_call>{","tokens":[22],"tokens_predicted":3}`, `{"content":"}","tokens":[23],"tokens_predicted":4}`,
		`{"stop":true,"stop_type":"eos","tokens_predicted":4,"tokens_evaluated":3,"tokens_cached":6}`,
	), turn.Job{})
	if h.text != "<tool_call>{}" || !slices.Equal(h.ids, []uint32{20, 21, 22, 23}) || h.err != nil {
		t.Errorf("heard %q %v, %v", h.text, h.ids, h.err)
	}
}

// 35: special tokens are text where the request names them.
func TestBug35(t *testing.T) {
	b := body(t, turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1}, -1, true)
	for _, mark := range []string{"<tool_call>", "</tool_call>", "<think>", "</think>"} {
		if !slices.ContainsFunc(b.Get("preserved_tokens").Array(), func(v gjson.Result) bool { return v.Str == mark }) {
			t.Errorf("%s is not named", mark)
		}
	}
}

// 36: a grammar that the server cannot go on with ends the answer with an
// error, once.
func TestBug36(t *testing.T) {
	h := hear(t, answer(stepA, `{"error":{"code":500,"message":"Unexpected empty grammar stack","type":"server_error"}}`), turn.Job{})
	if h.text != "a" || !errors.Is(h.err, turn.ErrLost) || !strings.Contains(h.err.Error(), "grammar stack") {
		t.Errorf("heard %q, %v", h.text, h.err)
	}
	var refused *turn.Refused
	h = hear(t, answer(`{"error":{"code":400,"message":"bad schema","type":"invalid_request_error"}}`), turn.Job{})
	if !errors.As(h.err, &refused) {
		t.Errorf("error is %v", h.err)
	}
}

// 44, 45: a client that goes away is a connection that is closed, at once; and
// the slots are never asked for, which would keep the server from seeing it.
func TestBug44And45(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url, plainArgs...)
	f.stalls()
	slots := f.count("/slots")
	s, err := c.Generate(t.Context(), turn.Job{Prompt: said(0, 64), MaxTokens: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for free := false; !free; { // the server's side ends because the connection has
		f.mu.Lock()
		free = f.server.slots[0].task == nil
		f.mu.Unlock()
	}
	if f.count("/slots") != slots {
		t.Error("the slots were asked for")
	}
	if f.sent("stream")[0] != true || f.sent("return_progress")[0] != true {
		t.Error("a close in the prompt would not be seen")
	}
}

// 46: no header but ours goes out, X-Conversation-Id least of all.
func TestBug46(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url)
	listen(t, c, turn.Job{ID: "t7", Prompt: said(0, 9), MaxTokens: 2})
	f.mu.Lock()
	names := slices.Sorted(maps.Keys(f.heads[0]))
	f.mu.Unlock()
	if want := []string{"Accept", "Authorization", "Content-Length", "Content-Type", "X-Request-Id"}; !slices.Equal(names, want) {
		t.Errorf("headers are %q, want %q", names, want)
	}
}

// 47, 54: a model whose states cannot be gone back in, or are lost when they
// are saved, is found out by what it finds, and no more is expected of it.
func TestBug47And54(t *testing.T) {
	ask := func(m *mirror, c *claim, cached, slot int) {
		m.begin(c)
		m.end(c, outcome{slot: slot, cached: cached, ids: c.prompt, size: c.prompt.Len()})
	}
	m := newMirror(1, rules{similarity: 0.1, perToken: 1})
	ask(m, &claim{prompt: said(0, 200), pin: -1}, 0, 0)
	for agent := 1; agent <= enough; agent++ {
		c := &claim{prompt: said(agent, 200), pin: -1}
		if ask(m, c, 0, 0); c.reuse != shared {
			t.Fatalf("turn %d: %d expected", agent, c.reuse)
		}
	}
	c := &claim{prompt: said(7, 200), pin: -1}
	if ask(m, c, 0, -1); c.reuse != 0 {
		t.Errorf("%d tokens are still expected", c.reuse)
	}
	if n := len(m.holds()); n > 0 {
		t.Errorf("%d states are held after an answer that was cut", n)
	}
	m = newMirror(1, rules{similarity: 0.9, saving: true, perToken: 1})
	for turn := range 2*enough + 2 {
		ask(m, &claim{prompt: said(turn%2, 200+turn), pin: -1}, 0, 0)
	}
	if len(m.saved) > 0 || !m.doubts.useless() {
		t.Errorf("%d saved states are held, doubts %+v", len(m.saved), m.doubts)
	}
}

// 50: /health alone says nothing of the engine's own loop; what moves there is
// told with the load, and a probe takes a real token.
func TestBug50(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url)
	if l, err := c.Load(t.Context()); err != nil || l.Work == 0 {
		t.Errorf("load is %+v, %v", l, err)
	}
	f.refuses(500, `{"error":{"code":500,"message":"Compute error.","type":"server_error"}}`)
	if _, err := c.Probe(t.Context()); !errors.Is(err, turn.ErrLost) {
		t.Errorf("probe: %v", err)
	}
}

// 51: a document has a deadline, an answer ends with its context.
func TestBug51(t *testing.T) {
	f, url := newFace(t, plain(1))
	c, _ := probed(t, f, url)
	f.stalls()
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	s, err := c.Generate(ctx, turn.Job{Prompt: said(0, 9), MaxTokens: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	cancel(mine)
	if _, err := s.Next(); !errors.Is(err, mine) || errors.Is(err, turn.ErrLost) {
		t.Errorf("error is %v", err)
	}
}

// 52: a slot is asked for only where the mirror knows better.
func TestBug52(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	listen(t, c, turn.Job{Prompt: said(0, 100), MaxTokens: 2})
	listen(t, c, turn.Job{Prompt: said(0, 140), MaxTokens: 2})
	listen(t, c, turn.Job{Prompt: turn.IDsOf(7, 7, 7), MaxTokens: 2})
	if got := f.sent("id_slot"); !slices.Equal(got, []any{-1.0, 0.0, -1.0}) { // the probe was in slot 1
		t.Errorf("asked for slots %v", got)
	}
}

// 53: where a saved state may be another tenant's, nothing is reused but what
// no saved state can be better than.
func TestBug53(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	for i, ask := range []struct {
		salt   string
		prompt turn.IDs
		reuse  bool
	}{
		{"a", said(0, 100), true},
		{"a", said(0, 120), true},
		{"b", said(0, 100), false}, // the second salt
		{"a", said(0, 120), true},
		{"b", turn.IDsOf(append(said(0, 100).Flat(), 500, 9, 9)...), true},
		{"a", turn.IDsOf(append(said(0, 120).Flat(), 9)...), false}, // and the slot too has more
	} {
		h := listen(t, c, turn.Job{Prompt: ask.prompt, MaxTokens: 2, Salt: ask.salt})
		if got := f.sent("cache_prompt")[i]; h.err != nil || got != ask.reuse || !ask.reuse && h.end.Usage.Cached > 0 {
			t.Errorf("turn %d: cache_prompt is %v, %+v, %v", i, got, h.end, h.err)
		}
	}
}

// 55: slots are never erased: that frees nothing.
func TestBug55(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url, plainArgs...)
	listen(t, c, turn.Job{Prompt: said(0, 100), MaxTokens: 2})
	c.Close()
	if n := f.count("/slots/0") + f.count("/slots/1"); n != 1 { // it saves, in the probe
		t.Errorf("%d requests to slots", n)
	}
}

// A server that is deaf to SIGTERM while a client holds a request has two
// seconds.
func TestDeafToTerm(t *testing.T) {
	l, err := Adapter{}.Launch(engine.Spec{Recipe: recipe(), ModelDir: folder(t, "m.gguf")}, engine.Place{})
	if err != nil || l.TermWait != 2*time.Second {
		t.Errorf("%v, %v", l.TermWait, err)
	}
	if h := hear(t, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), turn.Job{}); !errors.Is(h.err, turn.ErrLost) || errors.Is(h.err, io.EOF) {
		t.Errorf("an empty answer is %v", h.err)
	}
}
