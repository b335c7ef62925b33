package llamacpp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/engine"
)

// face is the HTTP side of llama-server over a pretended one. Answers are the
// ids 500, 501 … with a letter each, and then the end token 2.
type face struct {
	mu     sync.Mutex // guards what follows
	server *pretend
	asked  map[string]int   // requests by path
	heads  []http.Header    // of completions
	bodies []map[string]any // of completions
	used   bool             // its slots have had turns
	step   chan struct{}    // where it is set, each token but the first waits for it
	status int              // where it is not 0, completions are answered with it
	text   string           // and with this
}

func newFace(t testing.TB, p *pretend) (*face, string) {
	t.Helper()
	f := &face{server: p, asked: map[string]int{}}
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return f, s.URL
}

func (f *face) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	f.mu.Lock()
	f.asked[q.URL.Path]++
	f.mu.Unlock()
	switch path := q.URL.Path; {
	case path == "/health":
		io.WriteString(w, `{"status":"ok"}`)
	case path == "/props":
		fmt.Fprintf(w, `{"default_generation_settings":{"n_ctx":2048},"total_slots":%d,"model_alias":"face","build_info":"b1"}`, len(f.server.slots))
	case path == "/slots":
		f.mu.Lock()
		used := f.used
		f.mu.Unlock()
		if used {
			io.WriteString(w, `[{"id":0,"is_processing":false},{"id":1,"is_processing":false,"id_task":0}]`)
		} else {
			io.WriteString(w, `[{"id":0,"is_processing":false}]`)
		}
	case path == "/metrics":
		io.WriteString(w, "llamacpp:n_decode_total 7\nllamacpp:requests_processing 1\n")
	case path == "/detokenize":
		io.WriteString(w, `{"content":"c"}`)
	case strings.HasPrefix(path, "/slots/"):
		io.WriteString(w, `{"n_saved":10,"n_written":1000}`)
	case path == "/completion":
		f.complete(w, q, body)
	default:
		http.NotFound(w, q)
	}
}

func (f *face) complete(w http.ResponseWriter, q *http.Request, body []byte) {
	var ask struct {
		Prompt  []uint32
		Slot    int             `json:"id_slot"`
		Reuse   bool            `json:"cache_prompt"`
		Predict int             `json:"n_predict"`
		Schema  json.RawMessage `json:"json_schema"`
		Probs   int             `json:"n_probs"`
	}
	var all map[string]any
	if json.Unmarshal(body, &ask) != nil || json.Unmarshal(body, &all) != nil {
		http.Error(w, `{"error":{"code":500,"message":"[json.exception.parse_error.101]","type":"server_error"}}`, 500)
		return
	}
	f.mu.Lock()
	f.heads, f.bodies = append(f.heads, q.Header.Clone()), append(f.bodies, all)
	status, text, step := f.status, f.text, f.step
	f.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		io.WriteString(w, text)
		return
	}
	t := &task{prompt: ask.Prompt, pin: ask.Slot, reuse: ask.Reuse}
	f.mu.Lock()
	f.server.start(t)
	cached := t.cached
	f.mu.Unlock()
	out := http.NewResponseController(w)
	tell := func(format string, args ...any) {
		fmt.Fprintf(w, "data: "+format+"\n\n", args...)
		_ = out.Flush()
	}
	n := len(ask.Prompt)
	io.WriteString(w, ": ping\n\n")
	tell(`{"index":0,"content":"","tokens":[0],"stop":false,"id_slot":-1,"tokens_predicted":0,"prompt_progress":{"total":%d,"cache":%d,"processed":%d}}`, n, cached, n)
	var made []uint32
	reason := "limit"
	for i := range ask.Predict {
		if i > 0 && step != nil {
			select {
			case <-step:
			case <-q.Context().Done():
				f.end(t, made)
				return
			}
		}
		id, text := uint32(500+i), string(rune('a'+i%26))
		if ask.Schema != nil {
			text = `"dyn form"`[i : i+1]
		}
		if i == 30 {
			id, text, reason = 2, "", "eos"
		}
		made = append(made, id)
		probs := ""
		if ask.Probs > 0 {
			probs = fmt.Sprintf(`,"completion_probabilities":[{"id":%d,"token":%q,"logprob":-0.5,"top_logprobs":[{"token":"x","logprob":-1}]}]`, id, text)
		}
		tell(`{"index":0,"content":%q,"tokens":[%d],"stop":false,"id_slot":-1,"tokens_predicted":%d%s}`, text, id, i+1, probs)
		if reason == "eos" {
			break
		}
	}
	f.end(t, made)
	tell(`{"stop":true,"stop_type":%q,"stopping_word":"","truncated":false,"id_slot":%d,"tokens_predicted":%d,"tokens_evaluated":%d,"tokens_cached":%d,"timings":{"cache_n":%d}}`,
		reason, t.slot, len(made), n, n+len(made)-1, cached)
}

// stalls makes each answer wait after its first token.
func (f *face) stalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step = make(chan struct{})
}

// serves says whether the slots have had turns, as they tell.
func (f *face) serves(used bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used = used
}

// refuses makes completions fail.
func (f *face) refuses(status int, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.text = status, text
}

// count is how often a path was asked for.
func (f *face) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[path]
}

// sent is a field of each completion asked for.
func (f *face) sent(field string) (all []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.bodies {
		all = append(all, b[field])
	}
	return all
}

func (f *face) end(t *task, made []uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.server.finish(t, len(t.prompt), made[:max(len(made)-1, 0)])
}

// probed is a client of a face that has been probed.
func probed(t testing.TB, f *face, url string, args ...string) (*client, engine.Seen) {
	t.Helper()
	c := newClient(engine.Endpoint{URL: url, Key: "k", Args: args})
	t.Cleanup(c.Close)
	seen, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.heads, f.bodies = nil, nil
	f.mu.Unlock()
	return c, seen
}

// plain is a server with slots whose rules are those of a usual launch.
func plain(slots int) *pretend {
	return &pretend{similarity: 0.9, ram: true, slots: make([]place, slots)}
}

var plainArgs = []string{"llama-server", "--slot-prompt-similarity", "0.9", "--cache-ram", "512", "--slot-save-path", "x/"}
