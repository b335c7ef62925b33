package sim

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/sim/pace"
	"github.com/agentinfer/dyn/engine/sim/voice"
	"github.com/agentinfer/dyn/engine/sim/wire"
	"github.com/agentinfer/dyn/parsers"
)

// version is the vLLM release whose behaviour is copied.
const version = "0.32.0"

// thinker decides what to answer to a prompt.
type thinker interface {
	Answer(prompt []uint32) brain.Answer
}

// server is the HTTP side of one engine.
type server struct {
	o          options
	folder     *folder
	templates  templates
	engine     *core.Engine
	events     *wire.Publisher // nil without events
	thinker    thinker
	context    int
	cut        int // tokens by which the KV cache cuts the context asked for
	print      string
	began      time.Time
	chatFormat *parsers.Format // that chats are read with
	chatMarks  bool            // whose markers are special tokens
	dev        bool            // routes of vLLM's developer mode
	crash      func()          // ends the process without a word
	reading    time.Duration   // that a request may take to arrive
}

// newServer makes a server that does not listen yet.
func newServer(o options) (*server, error) {
	f, err := open(o.modelDir)
	if err != nil {
		return nil, err
	}
	return assemble(o, f)
}

func assemble(o options, f *folder) (*server, error) {
	profile, err := pace.Find(o.profile)
	if err != nil {
		return nil, err
	}
	s := &server{
		o: o, folder: f, templates: templates{fsys: f.fsys}, began: time.Now(),
		dev:   os.Getenv("VLLM_SERVER_DEV_MODE") == "1",
		crash: crash, reading: readTime,
	}
	if err := s.findFormat(); err != nil {
		return nil, err
	}
	if o.brain != "" {
		s.thinker, err = brain.Open(o.brain, f.tok, s.voice)
	} else {
		s.thinker, err = brain.New(nil, f.tok, s.voice)
	}
	if err != nil {
		return nil, err
	}
	if o.events.Enable {
		form := wire.Short
		if os.Getenv("VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES") == "0" {
			form = wire.Bytes
		}
		if s.events, err = wire.Open(o.events, o.blockSize, form); err != nil {
			return nil, err
		}
	}
	s.fit()
	s.engine = core.New(s.config(profile))
	return s, nil
}

// findFormat finds what chats are read with.
func (s *server) findFormat() (err error) {
	s.chatFormat, err = parsers.Builtin().Format(s.o.toolParser, s.o.reasonParser)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for name, kind := range map[string]parsers.Kind{s.o.toolParser: parsers.Tools, s.o.reasonParser: parsers.Thinking} {
		if spec, err := parsers.Lookup(name, kind); err == nil {
			s.chatMarks = s.chatMarks || spec.Tokens.NeedSpecial
		}
	}
	return nil
}

// voice writes answers as the folder's model does.
func (s *server) voice() (brain.Speaker, error) {
	return voice.Open(s.folder.fsys, s.folder.tok, s.o.toolParser, s.o.reasonParser)
}

// fit sets the context: what was asked for or the model has, at most what the
// KV cache holds.
func (s *server) fit() {
	want := s.o.context
	if want == 0 {
		want = maxContext
		if c := s.folder.context; c > 0 {
			want = min(want, c)
		}
	}
	s.context = min(want, (s.o.blocks-1)*s.o.blockSize)
	s.cut = want - s.context
	sum := sha256.Sum256(fmt.Append(nil, s.folder.root, s.context, s.o.blockSize))
	s.print = "vllm-" + version + "-" + hex.EncodeToString(sum[:4])
}

func (s *server) config(p pace.Profile) core.Config {
	c := core.Config{
		Blocks: s.o.blocks, BlockSize: s.o.blockSize,
		Budget: s.o.budget, Slots: s.o.slots, MaxOpen: s.o.maxOpen,
		Priority: s.o.policy == "priority",
		Profile:  p, Speed: s.o.speed,
		Tokenizer: s.folder.tok, End: s.folder.end,
		Filler: s.folder.tok.Encode(nil, brain.Sentence)[0],
		Crash:  func() { s.crash() },
	}
	if s.events != nil {
		c.Publish = func(ev []kv.Event) { _ = s.events.Publish(ev) } // what is not sent is in the replay buffer
	}
	return c
}

// close frees what newServer opened.
func (s *server) close() {
	if s.events != nil {
		_ = s.events.Close()
	}
}

// routes are all that this server answers.
func (s *server) routes() http.Handler {
	m := http.NewServeMux()
	for route, h := range map[string]http.HandlerFunc{
		"GET /health":           s.health,
		"GET /ping":             s.health,
		"POST /ping":            s.health,
		"GET /version":          s.version,
		"GET /load":             s.load,
		"GET /metrics":          s.metrics,
		"GET /kv_event_sources": s.sources,
		"GET /v1/models":        s.models,
		"POST /v1/completions":  s.completions,
		"POST /tokenize":        s.tokenize,
		"POST /detokenize":      s.detokenize,

		"POST /v1/chat/completions": s.chats,
	} {
		m.HandleFunc(route, h)
	}
	if s.dev {
		m.HandleFunc("POST /reset_prefix_cache", s.reset)
	}
	return s.front(m)
}

// front asks for the key, names the request and gives unknown routes the
// words of the copied server.
func (s *server) front(m *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.o.echoIDs {
			id := r.Header.Get("X-Request-Id")
			if id == "" {
				id = randomID(16)
			}
			w.Header().Set("X-Request-Id", id)
		}
		if !s.allowed(r) {
			writeJSON(w, http.StatusUnauthorized, `{"error":"Unauthorized"}`)
			return
		}
		if _, route := m.Handler(r); route != "" {
			m.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, route := m.Handler(other); route != "" {
				writeJSON(w, http.StatusMethodNotAllowed, `{"detail":"Method Not Allowed"}`)
				return
			}
		}
		writeJSON(w, http.StatusNotFound, `{"detail":"Not Found"}`)
	})
}

// allowed checks the key on the routes that ask for one.
func (s *server) allowed(r *http.Request) bool {
	if s.o.apiKey == "" || !strings.HasPrefix(r.URL.Path, "/v1") {
		return true
	}
	return r.Header.Get("Authorization") == "Bearer "+s.o.apiKey
}

// randomID returns n random bytes in hex.
func randomID(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // a client that is gone reads nothing
}
