package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/engine/sim/pace"
	"github.com/agentinfer/dyn/prompt/bpe"
)

// Options say what a face is. The zero value of a field is the default.
type Options struct {
	Port      int     // on loopback; 0 is any
	Key       string  // that it asks for; "" is none
	Say       string  // what it answers to every prompt; the default is some lines with all kinds of characters
	Context   int     // tokens; 4096
	BlockSize int     // tokens; 16
	Slots     int     // answers that run at once; 16
	Speed     float64 // times that of an 8B model on an H100; 0 takes no time

	Cumulative bool // SGLang: streams tell all from the start each time
	Zombie     bool // SGLang: an answer whose client is gone goes on, and cannot be aborted any more
	Reasons    bool // SGLang: started with a reasoning parser
	NoPriority bool // SGLang: started without priority scheduling; TRTLLM: a build that does not know the field
	Events     any  // SGLang: what /server_info tells of KV events
	Held       bool // it holds answers to a form: it says the only text that the form allows
	Alone      bool // TRTLLM: started without reuse of prefixes
	Buffer     int  // TRTLLM: KV events that it keeps; 0 is without events
}

const (
	vocab    = 8000 // of the model that faces play
	defaults = "Lines: größer, 日本語, 🏔.\n\n<tool_call>\n{\"name\": \"Bash\"}\n</tool_call>\nThe end of it is near."
)

// Engine is the face of an engine that runs.
type Engine struct {
	URL   string
	o     Options
	tok   *bpe.Tokenizer
	core  *core.Engine
	end   uint32
	mux   *http.ServeMux
	paths map[string]int // requests by path, guarded by seen
	seen  chan struct{}  // a lock that lets in one
	last  map[string]json.RawMessage
}

// Running is how many answers the engine computes or will.
func (e *Engine) Running() int {
	s := e.core.Stats()
	return s.Running + s.Waiting
}

// Asked is how many requests came for a path.
func (e *Engine) Asked(path string) int {
	<-e.seen
	defer func() { e.seen <- struct{}{} }()
	return e.paths[path]
}

// Last is the body of the last request for an answer, field by field.
func (e *Engine) Last() map[string]json.RawMessage {
	<-e.seen
	defer func() { e.seen <- struct{}{} }()
	return e.last
}

// Die ends the engine: its answers fail, and its HTTP side says so.
func (e *Engine) Die() { e.core.Die() }

// ModelDir is a folder with the tokenizer of the model that faces play.
func ModelDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := model.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start runs an engine until the test ends; tell gets its KV events, nil is
// nobody. routes enters what it answers to.
func start(t testing.TB, o Options, tell func([]kv.Event), routes func(*Engine)) *Engine {
	t.Helper()
	fill := func(to *int, n int) {
		if *to == 0 {
			*to = n
		}
	}
	fill(&o.Context, 4096)
	fill(&o.BlockSize, 16)
	fill(&o.Slots, 16)
	if o.Say == "" {
		o.Say = defaults
	}
	tok, err := bpe.Open(model.FS())
	if err != nil {
		t.Fatal(err)
	}
	end, _ := tok.ID("<|im_end|>")
	profile, err := pace.Find(pace.Default)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{
		o: o, tok: tok, end: end, mux: http.NewServeMux(), paths: map[string]int{}, seen: make(chan struct{}, 1),
		core: core.New(core.Config{
			Blocks: 64 * o.Context / o.BlockSize, BlockSize: o.BlockSize, Budget: 2048, Slots: o.Slots, Priority: true,
			Profile: profile, Speed: o.Speed, Tokenizer: tok, End: end, Filler: end - 1, Publish: tell,
		}),
	}
	e.seen <- struct{}{}
	routes(e)
	ran := make(chan struct{})
	go func() { defer close(ran); e.core.Run() }()
	s := httptest.NewUnstartedServer(http.HandlerFunc(e.serve))
	if o.Port != 0 {
		s.Listener.Close()
		if s.Listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))); err != nil {
			t.Fatal(err)
		}
	}
	s.Start()
	e.URL = s.URL
	t.Cleanup(func() {
		s.CloseClientConnections()
		e.core.Die()
		s.Close()
		<-ran
	})
	return e
}

func (e *Engine) serve(w http.ResponseWriter, r *http.Request) {
	<-e.seen
	e.paths[r.URL.Path]++
	e.seen <- struct{}{}
	open := strings.HasPrefix(r.URL.Path, "/health") || strings.HasPrefix(r.URL.Path, "/metrics")
	if e.o.Key != "" && !open && r.Header.Get("Authorization") != "Bearer "+e.o.Key {
		reply(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
		return
	}
	e.mux.ServeHTTP(w, r)
}

// body reads a request for an answer.
func (e *Engine) body(w http.ResponseWriter, r *http.Request, into any) bool {
	data, err := io.ReadAll(r.Body)
	fields := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return false
	}
	<-e.seen
	e.last = fields
	e.seen <- struct{}{}
	return true
}

// fits says what is wrong with a prompt; "" is nothing.
func (e *Engine) fits(ids []uint32) string {
	switch {
	case len(ids) == 0:
		return "the prompt is empty"
	case len(ids) >= e.o.Context:
		return fmt.Sprintf("The input (%d tokens) is longer than the model's context length (%d tokens).", len(ids), e.o.Context)
	case slices.ContainsFunc(ids, func(id uint32) bool { return id >= vocab }):
		return fmt.Sprintf("token ids must be below the vocabulary's size, %d", vocab)
	}
	return ""
}

// submit hands an ask to the engine, with what it says.
func (e *Engine) submit(a *core.Ask, form string) (*core.Answer, error) {
	a.MaxTokens = max(1, min(a.MaxTokens, e.o.Context-len(a.Prompt)))
	a.Special = true
	a.Chain = kv.Chain(nil, a.Prompt, e.o.BlockSize, a.Salt)
	say := e.o.Say
	if e.o.Held && form != "" {
		say = form
	}
	a.Script = brain.Answer{IDs: e.tok.Encode(nil, say)}
	return e.core.Submit(a)
}

// each reads an answer until it ends, the client is gone or the engine dies.
func each(ctx context.Context, a *core.Answer, do func(*core.Piece) bool) error {
	var p core.Piece
	for {
		if err := a.Next(ctx, &p); err != nil {
			return err
		}
		if !do(&p) {
			return errors.New("the client is gone")
		}
		if p.End != nil {
			return nil
		}
	}
}

// only is the one text that a schema of the form {"enum":[text]} allows, as
// JSON.
func only(schema json.RawMessage) string {
	var s struct{ Enum []json.RawMessage }
	if json.Unmarshal(schema, &s) != nil || len(s.Enum) == 0 {
		return ""
	}
	return string(s.Enum[0])
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone reads nothing
}

func problem(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"object": "error", "message": message, "type": "BadRequestError", "code": status})
}

// event writes one server-sent event and reports whether somebody reads.
func event(w http.ResponseWriter, v any) bool {
	data, _ := json.Marshal(v)
	if s, ok := v.(string); ok {
		data = []byte(s)
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}
