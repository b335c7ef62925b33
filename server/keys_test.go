package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

func key(name, secret string, change ...func(*turn.Key)) turn.Key {
	k := turn.Key{Name: name, Hash: sha256.Sum256([]byte(secret)), Salt: "salt of " + name}
	for _, c := range change {
		c(&k)
	}
	return k
}

// answer is an answer as a client sees it.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with any method.
func ask(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// TestForeignPages: without keys a web page cannot use the browser's place on
// this machine; with a key it may come from anywhere.
func TestForeignPages(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	body := `{"model":"sim","messages":[{"role":"user","content":"hi"}]}`
	post := func(headers ...string) int {
		return ask(t, "POST", st.url+"/v1/chat/completions", body, append(headers, "Content-Type", "text/plain")...).status
	}
	for origin, want := range map[string]int{
		"http://evil.example": 403, "https://evil.example:8080": 403, "null": 403, "http://localhost.evil.example": 403,
		"http://127.0.0.1.evil.example": 403, "http://%zz": 403, "http://10.1.2.3": 403,
		"http://localhost:3000": 200, "http://127.0.0.1:5173": 200, "http://[::1]": 200, "http://app.localhost": 200,
		"vscode-webview://abc": 200, "tauri://localhost": 200,
	} {
		if got := post("Origin", origin); got != want {
			t.Errorf("origin %s: %d, want %d", origin, got, want)
		}
	}
	st.s.SetKeys([]turn.Key{key("alice", "open sesame")})
	if got := post("Origin", "http://evil.example", "x-api-key", "open sesame"); got != 200 {
		t.Errorf("with a key: %d", got)
	}
}

// TestKeys asks every endpoint without a key, with a wrong one and with a
// good one in each of the places.
func TestKeys(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	st.s.SetKeys([]turn.Key{key("alice", "open sesame")})
	for _, e := range table() {
		path := strings.ReplaceAll(e.path, "{id}", "some-id")
		for _, c := range []struct {
			name    string
			headers []string
			in      bool
		}{
			{"none", nil, false},
			{"wrong", []string{"x-api-key", "sesame"}, false},
			{"wrong scheme", []string{"Authorization", "Basic open sesame"}, false},
			{"x-api-key", []string{"x-api-key", "open sesame"}, true},
			{"bearer", []string{"Authorization", "Bearer open sesame"}, true},
			{"bearer in small letters", []string{"Authorization", "bearer open sesame"}, true},
		} {
			a := ask(t, e.method, st.url+path, "{}", c.headers...)
			if in := a.status != 401; in != (c.in || e.open) {
				t.Errorf("%s %s with key %s: %d %s", e.method, path, c.name, a.status, a.body)
			}
			if a.status != 401 {
				continue
			}
			want := `"code":"invalid_api_key"`
			if strings.HasPrefix(path, "/v1/messages") {
				want = `"type":"authentication_error"`
			}
			if !strings.Contains(a.body, want) {
				t.Errorf("%s: %s, want %s", path, a.body, want)
			}
		}
	}
	if a := ask(t, "GET", st.url+"/no/such", ""); a.status != 401 {
		t.Errorf("a route that is not there tells itself without a key: %d", a.status)
	}
}

const hi = `{"model":"sim","max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`

func TestLimitsOfKeys(t *testing.T) {
	gate := make(chan struct{})
	st := newStage(t, slow("w0", gate))
	st.s.SetKeys([]turn.Key{
		key("one", "1", func(k *turn.Key) { k.Concurrent = 1 }),
		key("few", "2", func(k *turn.Key) { k.Requests = 1 }),
		key("small", "3", func(k *turn.Key) { k.Tokens = 5 }),
	})
	first := make(chan int, 1)
	go func() {
		status, _ := st.post(t.Context(), "/v1/chat/completions", hi, "x-api-key", "1")
		first <- status
	}()
	st.until("the first turn runs", func() bool { return running(st.s, "one") == 1 })
	refused := func(secret, path, says string) {
		t.Helper()
		a := ask(t, "POST", st.url+path, hi, "x-api-key", secret)
		if a.status != 429 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, says) || !strings.Contains(a.body, `rate_limit`) {
			t.Errorf("key %s: %d %s %q", secret, a.status, a.body, a.header.Get("Retry-After"))
		}
	}
	refused("1", "/v1/messages", "1 turns at once")
	close(gate)
	if status := <-first; status != 200 {
		t.Errorf("the first turn %d", status)
	}
	for _, secret := range []string{"1", "2", "3"} { // the place is free again; the others' first
		if a := ask(t, "POST", st.url+"/v1/chat/completions", hi, "x-api-key", secret); a.status != 200 {
			t.Errorf("key %s: %d %s", secret, a.status, a.body)
		}
	}
	refused("2", "/v1/chat/completions", "1 requests a minute")
	refused("3", "/v1/chat/completions", "5 tokens a minute")
	for i := range 3 { // what is refused for itself gives its place back
		if a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","n":99,"messages":[{"role":"user","content":"hi"}]}`, "x-api-key", "1"); a.status != 400 {
			t.Errorf("bad turn %d: %d %s", i, a.status, a.body)
		}
	}
}

// TestRefusedPromptsCostNothing: a prompt that no worker took counts for
// nothing, so that the client may come again as it is told to.
func TestRefusedPromptsCostNothing(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: func(context.Context, turn.Job) (turn.Stream, error) {
		return nil, fmt.Errorf("%w: %w", turn.ErrUnsent, turn.ErrLost)
	}})
	st.s.SetKeys([]turn.Key{key("small", "3", func(k *turn.Key) { k.Tokens = 5 })})
	for range 2 {
		if a := ask(t, "POST", st.url+"/v1/chat/completions", hi, "x-api-key", "3"); a.status != 503 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if used := st.s.ring.All()[0].Used(); used.Tokens != 0 || used.Running != 0 {
		t.Errorf("%+v", used)
	}
}

// running is how many turns a key has now.
func running(s *Server, name string) int {
	for _, k := range s.ring.All() {
		if k.Key().Name == name {
			return k.Used().Running
		}
	}
	return 0
}

// TestTenantsShareNothing: the same conversation under two keys finds nothing
// of the other's in the cache, and is another session; each row names its
// key.
func TestTenantsShareNothing(t *testing.T) {
	r := newRig(t, 1)
	r.s.SetKeys([]turn.Key{key("alice", "a"), key("bob", "b")})
	body := fmt.Sprintf(`{"model":"sim","max_tokens":4,"messages":[{"role":"user","content":%s}]}`, quote(words(200)))
	cached := func(secret string) float64 {
		status, text := r.post("/v1/chat/completions", body, "x-api-key", secret, "x-session-id", "same")
		if status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		return num(dig(doc(t, text), "usage", "prompt_tokens_details", "cached_tokens"))
	}
	cached("a")
	if n := cached("b"); n != 0 {
		t.Errorf("bob found %v tokens of alice's", n)
	}
	if n := cached("a"); n == 0 {
		t.Error("alice found nothing of her own")
	}
	rows := r.rows(3)
	if rows[0].Tenant != "alice" || rows[1].Tenant != "bob" || rows[0].Session == rows[1].Session {
		t.Errorf("rows of %s in %s and %s in %s", rows[0].Tenant, rows[0].Session, rows[1].Tenant, rows[1].Session)
	}
}

// TestTenantsShareNoSession: plain completions have no messages to tell
// sessions by, yet those of two keys are two.
func TestTenantsShareNoSession(t *testing.T) {
	r := newRig(t, 1)
	r.s.SetKeys([]turn.Key{key("alice", "a"), key("bob", "b")})
	for _, secret := range []string{"a", "b", "a"} {
		if status, text := r.post("/v1/completions", `{"model":"sim","prompt":"hi","max_tokens":2}`, "x-api-key", secret); status != 200 {
			t.Fatalf("%d %s", status, text)
		}
	}
	rows := r.rows(3)
	if rows[0].Session == rows[1].Session || rows[0].Session != rows[2].Session {
		t.Errorf("sessions %s of alice, %s of bob, %s of alice", rows[0].Session, rows[1].Session, rows[2].Session)
	}
}

func TestCeiling(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	st.s.SetKeys([]turn.Key{key("low", "1", func(k *turn.Key) { k.Capped, k.MaxPriority = true, 3 }), key("high", "2")})
	body := `{"model":"sim","max_tokens":4,"nvext":{"agent_hints":{"priority":9}},"messages":[{"role":"user","content":"hi"}]}`
	a := ask(t, "POST", st.url+"/v1/chat/completions", body, "x-api-key", "1")
	if a.status != 200 || !strings.Contains(a.header.Get(warnHeader), "ceiling, 3") {
		t.Errorf("%d %q", a.status, a.header.Get(warnHeader))
	}
	a = ask(t, "POST", st.url+"/v1/chat/completions", body, "x-api-key", "2")
	if a.status != 200 || a.header.Get(warnHeader) != "" {
		t.Errorf("without a ceiling: %d %q", a.status, a.header.Get(warnHeader))
	}
}

// TestCeilingHoldsTheClass: what a class adds counts under the ceiling too,
// and a ceiling below 0 is told only to those who asked for more.
func TestCeilingHoldsTheClass(t *testing.T) {
	for _, c := range []struct {
		name             string
		ceiling          int
		hints            turn.Hints
		agent            string
		effective, level int // seconds earlier, and the priority that the engine gets
		band             int
		warns            bool
	}{
		{"a lead's default", 100, turn.Hints{}, "main", 10, 0, 0, false},
		{"the class is under it", 3, turn.Hints{}, "main", 3, 0, 0, false},
		{"both are", 3, turn.Hints{Priority: 9}, "main", 3, 3, 0, true},
		{"a subagent", 3, turn.Hints{Priority: 2}, "sub", 2, 2, 0, false},
		{"batch", 3, turn.Hints{Priority: 70, Batch: true}, "main", -57, 3, 0, true},
		{"below 0", -5, turn.Hints{}, "main", -5, -5, 0, false},
		{"below 0, asked for more", -5, turn.Hints{Priority: -2}, "main", -5, -5, 0, true},
		{"below 0, asked for less", -5, turn.Hints{Priority: -20}, "main", -10, -20, 0, false},
		{"below 0, a band", -5, turn.Hints{Strict: 2}, "main", -5, -5, 0, true},
		{"a band", 1, turn.Hints{Strict: 2}, "main", 1, 0, 1, true},
	} {
		st := newStage(t)
		st.s.SetKeys([]turn.Key{key("k", "1", func(k *turn.Key) { k.Capped, k.MaxPriority = true, c.ceiling })})
		q := &call{RequestCtx: &fasthttp.RequestCtx{}, who: st.s.ring.All()[0]}
		tn := &turn.Turn{Arrived: time.Now(), Hints: c.hints, Who: turn.Who{Agent: c.agent}}
		if err := st.s.admit(q, tn); err != nil {
			t.Fatal(err)
		}
		warned := len(q.Response.Header.Peek(warnHeader)) > 0
		if got := int(tn.Arrived.Sub(tn.Effective()).Seconds()); got != c.effective || tn.Hints.Priority != c.level || tn.Hints.Strict != c.band || warned != c.warns {
			t.Errorf("%s: %d s earlier, priority %d, band %d, warned %v", c.name, got, tn.Hints.Priority, tn.Hints.Strict, warned)
		}
	}
}

// TestCountsAreRequests: what only counts or tokenizes is one of the requests
// of its key, and no turn: a running one does not stand in its way.
func TestCountsAreRequests(t *testing.T) {
	gate := make(chan struct{})
	st := newStage(t, slow("w0", gate))
	defer close(gate)
	st.s.SetKeys([]turn.Key{key("one", "1", func(k *turn.Key) { k.Concurrent, k.Requests = 1, 5 })})
	go st.post(t.Context(), "/v1/chat/completions", hi, "x-api-key", "1")
	st.until("a turn runs", func() bool { return running(st.s, "one") == 1 })
	counts := []struct{ path, body string }{
		{"/v1/messages/count_tokens", hi},
		{"/v1/responses/input_tokens", `{"model":"sim","input":"hi"}`},
		{"/tokenize", `{"model":"sim","prompt":"hi"}`},
		{"/detokenize", `{"model":"sim","tokens":[300]}`},
	}
	for _, want := range []int{200, 429} {
		for _, c := range counts {
			a := ask(t, "POST", st.url+c.path, c.body, "x-api-key", "1")
			if a.status != want || want == 429 && (a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "5 requests a minute")) {
				t.Errorf("%s: %d %s, want %d", c.path, a.status, a.body, want)
			}
		}
	}
	if u := st.s.ring.All()[0].Used(); u.Turns != 1 || u.Refused != 4 || u.Running != 1 {
		t.Errorf("%+v", u)
	}
}

// TestKeysCannotBeRead: an unreadable list opens no door.
func TestKeysCannotBeRead(t *testing.T) {
	keys, fault := []turn.Key{key("a", "1")}, errors.New("no")
	s := New(Options{Ledger: newStage(t).l, Keys: func() ([]turn.Key, error) { return keys, fault }})
	get := func(secret string) int {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go s.http.Serve(ln)
		defer ln.Close()
		return ask(t, "GET", "http://"+ln.Addr().String()+"/v1/models", "", "x-api-key", secret).status
	}
	if get("") != 401 || get("1") != 401 {
		t.Error("keys were never read and a door is open")
	}
	fault = nil
	if err := s.reloadKeys(); err != nil || get("1") != 200 || get("") != 401 {
		t.Errorf("after they were read: %v", err)
	}
	fault = errors.New("no")
	if err := s.reloadKeys(); err == nil || get("1") != 200 || get("") != 401 {
		t.Errorf("those in force should stay: %v", err)
	}
}

func TestOnlyThisMachineWithoutKeys(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1": true, "::1": true, "127.9.9.9": true, "10.0.0.7": false, "192.168.1.2": false, "2001:db8::1": false} {
		if got := local(&net.TCPAddr{IP: net.ParseIP(addr)}); got != want {
			t.Errorf("%s counts as local: %v", addr, got)
		}
	}
}

// slow is a worker whose turns begin when the gate opens.
func slow(name string, gate <-chan struct{}) *puppet {
	return &puppet{name: name, caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		select {
		case <-gate:
			return aWord(ctx, j)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Minute):
			return nil, errors.New("the test forgot its gate")
		}
	}}
}
