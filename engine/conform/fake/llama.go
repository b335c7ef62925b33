package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/core"
)

// LlamaServer runs the face of a llama-server, with one token an event. What it
// caches are the simulated engine's blocks, where the real one has slots; the
// recordings and the llamacpp package's own tests are for that.
func LlamaServer(t testing.TB, o Options) *Engine {
	t.Helper()
	if o.Slots == 0 {
		o.Slots = 4
	}
	return start(t, o, nil, func(e *Engine) {
		s := &llama{Engine: e}
		for route, h := range map[string]http.HandlerFunc{
			"GET /health":               s.health,
			"GET /props":                s.props,
			"GET /slots":                s.slots,
			"GET /metrics":              s.metrics,
			"POST /completion":          s.completion,
			"POST /v1/chat/completions": s.chat,
		} {
			e.mux.HandleFunc(route, h)
		}
	})
}

type llama struct {
	*Engine
	alone atomic.Int64 // requests that may use nothing of the cache
}

func (s *llama) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"status": "ok"})
}

func (s *llama) props(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{
		"total_slots": s.o.Slots, "model_alias": "tiny", "build_info": "b10434-face",
		"default_generation_settings": map[string]any{"n_ctx": s.o.Context},
	})
}

func (s *llama) slots(w http.ResponseWriter, _ *http.Request) {
	var all []any
	for i := range s.o.Slots {
		all = append(all, map[string]any{"id": i, "id_task": -1, "is_processing": i < s.core.Stats().Running})
	}
	reply(w, 200, all)
}

func (s *llama) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.core.Stats()
	fmt.Fprintf(w, "llamacpp:requests_processing %d\nllamacpp:requests_deferred %d\nllamacpp:prompt_tokens_cached_total %d\n",
		st.Running, st.Waiting, st.Hits)
	fmt.Fprintf(w, "llamacpp:prompt_tokens_total %d\nllamacpp:n_decode_total %d\n", st.Queries-st.Hits, st.Output)
}

type llamaAsk struct {
	Prompt  []uint32
	Most    int `json:"n_predict"`
	Stop    []string
	Ignore  bool            `json:"ignore_eos"`
	Cache   bool            `json:"cache_prompt"`
	JSON    json.RawMessage `json:"json_schema"`
	Likely  int             `json:"n_probs"`
	Reports bool            `json:"return_progress"`
}

func (s *llama) completion(w http.ResponseWriter, r *http.Request) {
	q := llamaAsk{Most: -1, Cache: true}
	if !s.body(w, r, &q) {
		return
	}
	if why := s.fits(q.Prompt); why != "" {
		s.refuse(w, why, len(q.Prompt))
		return
	}
	ask := &core.Ask{Prompt: q.Prompt, MaxTokens: q.Most, IgnoreEnd: q.Ignore, Stop: q.Stop}
	if !q.Cache {
		ask.Salt = "alone " + strconv.FormatInt(s.alone.Add(1), 10)
	}
	a, err := s.submit(ask, only(q.JSON))
	if err != nil {
		reply(w, http.StatusServiceUnavailable, map[string]any{"error": map[string]any{"code": 503, "message": "Loading model"}})
		return
	}
	defer a.Drop()
	s.stream(r, w, a, q)
}

// refuse says why a prompt of so many tokens is not taken.
func (s *llama) refuse(w http.ResponseWriter, why string, n int) {
	e := map[string]any{"code": 400, "message": why, "type": "invalid_request_error"}
	if n >= s.o.Context {
		e["message"], e["type"] = "the request exceeds the available context size, try increasing it", "exceed_context_size_error"
		e["n_prompt_tokens"], e["n_ctx"] = n, s.o.Context
	}
	reply(w, http.StatusBadRequest, map[string]any{"error": e})
}

func (s *llama) chat(w http.ResponseWriter, r *http.Request) {
	s.talk(w, r, s.refuse, func(_ string, a *core.Answer, write func()) {
		defer a.Drop()
		write()
	})
}

func (s *llama) stream(r *http.Request, w http.ResponseWriter, a *core.Answer, q llamaAsk) {
	w.Header().Set("Content-Type", "text/event-stream")
	n := len(q.Prompt)
	if q.Reports && !event(w, map[string]any{
		"index": 0, "content": "", "tokens": []int{0}, "stop": false, "id_slot": -1, "tokens_predicted": 0, "tokens_evaluated": n,
		"prompt_progress": map[string]any{"total": n, "cache": 0, "processed": n, "time_ms": 1},
	}) {
		return
	}
	made := 0
	_ = each(r.Context(), a, func(p *core.Piece) bool {
		ids := p.IDs
		texts := len(ids) - 1 // the event that has the text: the last one, but for the end token's
		if texts > 0 && ids[texts] == s.end {
			texts--
		}
		for i, id := range ids {
			made++
			e := map[string]any{
				"index": 0, "content": "", "tokens": []uint32{id}, "stop": false, "id_slot": -1,
				"tokens_predicted": made, "tokens_evaluated": n,
			}
			if i == texts {
				e["content"] = string(p.Text)
			}
			if q.Likely > 0 {
				e["completion_probabilities"] = probabilities(id, q.Likely)
			}
			if !event(w, e) {
				return false
			}
		}
		if p.End == nil {
			return true
		}
		kind := "eos"
		switch {
		case p.End.Reason == core.Length:
			kind = "limit"
		case p.End.StopText != "":
			kind = "word"
		}
		return event(w, map[string]any{
			"stop": true, "stop_type": kind, "stopping_word": p.End.StopText, "truncated": false, "id_slot": 0,
			"tokens_predicted": made, "tokens_evaluated": n, "tokens_cached": n + made - 1,
			"timings": map[string]any{"cache_n": p.Cached, "prompt_n": n - p.Cached, "predicted_n": made},
		})
	})
}

// probabilities makes some up for a token.
func probabilities(id uint32, top int) []any {
	var list []any
	for i := range top {
		list = append(list, map[string]any{"id": id + uint32(i), "token": "x", "logprob": -0.5 - float64(i)})
	}
	return []any{map[string]any{"id": id, "token": "x", "logprob": -0.5, "top_logprobs": list}}
}
