package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// ears is an engine on loopback that remembers what it was asked.
type ears struct {
	*httptest.Server
	mu   sync.Mutex
	asks []heard
}

type heard struct {
	method, path, body string
	header             http.Header
}

// listen puts ears in front of an engine; "" answers everything itself.
func listen(t *testing.T, engine string) *ears {
	t.Helper()
	e := &ears{}
	next := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"id":"any"}]}`)
	}))
	if engine != "" {
		to, err := url.Parse(engine)
		if err != nil {
			t.Fatal(err)
		}
		pass := httputil.NewSingleHostReverseProxy(to)
		pass.FlushInterval = -1
		next = pass
	}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		e.mu.Lock()
		e.asks = append(e.asks, heard{r.Method, r.URL.Path, string(body), r.Header.Clone()})
		e.mu.Unlock()
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// since takes what was heard so far.
func (e *ears) since() []heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	asks := e.asks
	e.asks = nil
	return asks
}

// meantHeaders and meantMembers are headers and members of a body that mean something to an engine,
// and are not a client's to say. A cache_salt is: it keeps caches apart.
var (
	meantHeaders = []string{
		"X-Vllm-Priority", "X-Data-Parallel-Rank", "X-Session-ID", "X-Request-Id", "X-Conversation-Id", "X-Override-Model",
		"X-Override-Routing", "X-Kv-Transfer-Params", "Cookie", "X-Forwarded-For", "X-Api-Key", "Traceparent",
	}
	meantMembers = []string{
		"kv_transfer_params", "ec_transfer_params", "vllm_xargs", "bootstrap_host", "bootstrap_room", "routed_dp_rank",
		"data_parallel_rank", "rid", "session_params", "extra_key", "id_slot", "disaggregated_params", "lora_path",
	}
)

// TestEnginesHearNoClientsHeaders: what a client says to an engine itself does
// not get there, with a turn or with what is handed on.
func TestEnginesHearNoClientsHeaders(t *testing.T) {
	r := newRig(t, 1, "--vision")
	e := listen(t, r.sims[0])
	if _, err := r.fleet.Attach(t.Context(), turn.Attach{URL: e.URL}); err != nil {
		t.Fatal(err)
	}
	if err := r.fleet.Drain(t.Context(), "a0"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.s.AttachKind(t.Context(), turn.Attach{URL: e.URL, Kind: "embeddings", Key: "the engine's"}); err != nil {
		t.Fatal(err)
	}
	e.since()
	var pairs []string
	for _, name := range meantHeaders {
		pairs = append(pairs, name, "a client's word")
	}
	members := `,"priority":-1000`
	for _, name := range meantMembers {
		members += fmt.Sprintf(`,%q:"a client's word"`, name)
	}
	send := func(path, body string) {
		body = strings.TrimSuffix(body, "}") + members + "}"
		a := ask(t, "POST", r.url+path, body, append(pairs, "Content-Type", "application/json")...)
		if path != "/v1/embeddings" && a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
	}
	for _, d := range []turn.Dialect{turn.Chat, turn.Messages, turn.Responses} {
		send(asks(d, `"hi"`))
		send(asks(d, picture(d, "cat"))) // by the engine's own chat API
	}
	send("/v1/completions", `{"model":"sim","prompt":"hi","max_tokens":3}`)
	send("/v1/embeddings", `{"model":"sim","input":"hi"}`)
	asked := map[string]int{}
	for _, h := range e.since() {
		if h.method != "POST" {
			continue
		}
		asked[h.path]++
		for name, values := range h.header {
			if strings.Contains(strings.Join(values, " "), "client's word") {
				t.Errorf("%s: the engine heard %s", h.path, name)
			}
		}
		if strings.Contains(h.body, "client's word") || strings.Contains(h.body, "-1000") {
			t.Errorf("%s: the engine got %s", h.path, h.body)
		}
	}
	if want := map[string]int{"/v1/completions": 4, chatPath: 3, "/v1/embeddings": 1}; !maps.Equal(asked, want) {
		t.Errorf("the engine was asked %v, want %v", asked, want)
	}
}

// TestNoWayToDevEndpoints: nothing that a client asks for gets to a part of an
// engine that is not for clients, however it is spelled.
func TestNoWayToDevEndpoints(t *testing.T) {
	st := newStage(t)
	e := listen(t, "")
	for _, kind := range kinds {
		if _, err := st.s.AttachKind(t.Context(), turn.Attach{URL: e.URL, Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	e.since()
	for _, path := range []string{
		"/collective_rpc", "/reset_prefix_cache", "/sleep", "/wake_up", "/server_info", "/pause", "/resume", "/update_weights",
		"/v1/load_lora_adapter", "/flush_cache", "/abort_request", "/open_session", "/slots", "/slots/0?action=save", "/props",
		"/lora-adapters", "/kv_event_sources", "/inference/v1/generate", "/start_profile",
		"//sleep", "/v1/videos/../../sleep", "/v1/videos/%2e%2e/%2e%2e/sleep", "/v1/videos/..%2f..%2fsleep",
		"/v1/videos/a/..%2F..%2f..%2fsleep", "/v1/videos/.%2e/.%2e/sleep", "/v1/videos/a/../../../sleep?b", "/v1/embeddings/../../sleep",
		"/v1/images/generations/../../../sleep", "/v1/videos/%252e%252e/%252e%252e/sleep", `/v1/videos/..\..\sleep`, "/v1/videos/..;/..;/sleep",
		"http://" + strings.TrimPrefix(e.URL, "http://") + "/sleep",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			status := plainly(t, st.url, method, path)
			for _, h := range e.since() {
				if !strings.HasPrefix(h.path, "/v1/videos/") || strings.Contains(h.path, "/../") || strings.HasSuffix(h.path, "/..") {
					t.Errorf("%s %s: %d, and the engine was asked for %s %s", method, path, status, h.method, h.path)
				}
			}
		}
	}
}

// plainly sends a request whose path is spelled just so, and returns the
// status.
func plainly(t *testing.T, base, method, path string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", method, path)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
