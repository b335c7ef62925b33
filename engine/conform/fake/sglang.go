package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/engine/sim/kv"
)

// SGLang runs the face of an SGLang server. tell gets the engine's KV events;
// nil is nobody.
func SGLang(t testing.TB, o Options, tell func([]kv.Event)) *Engine {
	t.Helper()
	return start(t, o, tell, func(e *Engine) {
		s := &sglang{Engine: e, open: map[string]*core.Answer{}}
		for route, h := range map[string]http.HandlerFunc{
			"GET /health":               s.health,
			"GET /model_info":           s.model,
			"GET /v1/models":            s.models,
			"GET /server_info":          s.info,
			"GET /v1/loads":             s.loads,
			"GET /metrics":              s.metrics,
			"POST /tokenize":            s.tokenize,
			"POST /generate":            s.generate,
			"POST /v1/chat/completions": s.chat,
			"POST /abort_request":       s.abort,
		} {
			e.mux.HandleFunc(route, h)
		}
	})
}

type sglang struct {
	*Engine
	mu   sync.Mutex
	open map[string]*core.Answer // by rid; guarded by mu
}

func (s *sglang) health(w http.ResponseWriter, _ *http.Request) {
	if s.core.Dead() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (s *sglang) model(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"model_path": "/models/tiny", "is_generation": true})
}

func (s *sglang) models(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"data": []any{map[string]any{"id": "tiny", "max_model_len": s.o.Context}}})
}

func (s *sglang) info(w http.ResponseWriter, _ *http.Request) {
	info := map[string]any{
		"version": "0.5.20", "page_size": s.o.BlockSize, "max_total_num_tokens": 64 * s.o.Context,
		"max_running_requests": s.o.Slots, "enable_priority_scheduling": !s.o.NoPriority,
		"incremental_streaming_output": !s.o.Cumulative, "reasoning_parser": nil, "kv_events": s.o.Events,
	}
	if s.o.Reasons {
		info["reasoning_parser"] = "qwen3"
	}
	reply(w, 200, info)
}

func (s *sglang) loads(w http.ResponseWriter, _ *http.Request) {
	st := s.core.Stats()
	total := 64 * s.o.Context
	reply(w, 200, map[string]any{"loads": []any{map[string]any{
		"dp_rank": 0, "num_running_reqs": st.Running, "num_waiting_reqs": st.Waiting,
		"num_used_tokens": int(st.Usage * float64(total)), "max_total_num_tokens": total, "token_usage": st.Usage,
	}}})
}

func (s *sglang) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.core.Stats()
	fmt.Fprintf(w, "# TYPE sglang:cached_tokens_total counter\nsglang:cached_tokens_total{model_name=\"tiny\"} %d\n", st.Hits)
	fmt.Fprintf(w, "sglang:prompt_tokens_total{model_name=\"tiny\"} %d\n", st.Queries)
}

func (s *sglang) tokenize(w http.ResponseWriter, r *http.Request) {
	var q struct{ Prompt string }
	if s.body(w, r, &q) {
		ids := s.tok.Encode(nil, q.Prompt)
		reply(w, 200, map[string]any{"tokens": ids, "count": len(ids)})
	}
}

// abort ends all answers whose id begins so; one whose client is gone is not
// found any more.
func (s *sglang) abort(w http.ResponseWriter, r *http.Request) {
	var q struct{ Rid string }
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for rid, a := range s.open {
		if strings.HasPrefix(rid, q.Rid) {
			a.Drop()
		}
	}
}

type sglangAsk struct {
	Rid      string   `json:"rid"`
	IDs      []uint32 `json:"input_ids"`
	Text     string   `json:"text"`
	Salt     string   `json:"cache_salt"`
	Priority int      `json:"priority"`
	Logprobs bool     `json:"return_logprob"`
	Top      int      `json:"top_logprobs_num"`
	Sampling struct {
		Most    *int     `json:"max_new_tokens"`
		Least   int      `json:"min_new_tokens"`
		StopIDs []uint32 `json:"stop_token_ids"`
		Ignore  bool     `json:"ignore_eos"`
		Schema  string   `json:"json_schema"`
	} `json:"sampling_params"`
}

func (s *sglang) generate(w http.ResponseWriter, r *http.Request) {
	var q sglangAsk
	if !s.body(w, r, &q) {
		return
	}
	if q.Text != "" {
		q.IDs = s.tok.Encode(nil, q.Text)
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if why := s.fits(q.IDs); why != "" { // a stream has begun before the prompt is looked at
		event(w, map[string]any{"error": map[string]any{"message": why, "type": "BadRequestError", "code": 400, "retryable": false}})
		event(w, "[DONE]")
		return
	}
	most := 128
	if q.Sampling.Most != nil {
		most = *q.Sampling.Most
	}
	a, err := s.submit(&core.Ask{
		Prompt: q.IDs, MaxTokens: most, MinTokens: q.Sampling.Least, IgnoreEnd: q.Sampling.Ignore,
		StopIDs: q.Sampling.StopIDs, Salt: q.Salt, Priority: -q.Priority,
	}, only(json.RawMessage(q.Sampling.Schema)))
	if err != nil {
		problem(w, http.StatusServiceUnavailable, "The request queue is full.")
		return
	}
	s.during(q.Rid, a, func() { s.stream(r.Context(), w, a, q) })
}

func (s *sglang) chat(w http.ResponseWriter, r *http.Request) {
	refuse := func(w http.ResponseWriter, why string, _ int) { problem(w, http.StatusBadRequest, why) }
	s.talk(w, r, refuse, s.during)
}

// during lets an answer be aborted by its name while it is written.
func (s *sglang) during(rid string, a *core.Answer, write func()) {
	s.mu.Lock()
	s.open[rid] = a
	s.mu.Unlock()
	write()
	s.mu.Lock()
	delete(s.open, rid)
	s.mu.Unlock()
	if !s.o.Zombie {
		a.Drop()
	}
}

func (s *sglang) stream(ctx context.Context, w http.ResponseWriter, a *core.Answer, q sglangAsk) {
	var ids []uint32
	var text string
	err := each(ctx, a, func(p *core.Piece) bool {
		ids, text = append(ids, p.IDs...), text+string(p.Text)
		meta := map[string]any{
			"id": q.Rid, "finish_reason": nil, "prompt_tokens": len(q.IDs),
			"completion_tokens": len(ids), "cached_tokens": p.Cached,
		}
		if p.End != nil {
			meta["finish_reason"] = finish(p.End, s.end, len(ids))
		}
		showText, showIDs := string(p.Text), p.IDs
		if s.o.Cumulative {
			showText, showIDs = text, ids
		}
		if q.Logprobs {
			meta["output_token_logprobs"], meta["output_top_logprobs"] = logprobs(showIDs, q.Top)
		}
		return event(w, map[string]any{"text": showText, "output_ids": nonNil(showIDs), "meta_info": meta})
	})
	if err != nil && s.core.Dead() {
		event(w, map[string]any{"error": map[string]any{"message": "scheduler died", "code": 500}})
	}
	if ctx.Err() == nil {
		event(w, "[DONE]")
	}
}

func finish(end *core.End, eos uint32, n int) any {
	switch {
	case end.Reason == core.Length:
		return map[string]any{"type": "length", "length": n}
	case end.Reason == core.Aborted:
		return map[string]any{"type": "abort", "message": "Abort before prefill", "status_code": nil}
	case end.StopID >= 0:
		return map[string]any{"type": "stop", "matched": end.StopID}
	}
	return map[string]any{"type": "stop", "matched": eos}
}

// logprobs makes some up, one for each id and as many alternatives as asked.
func logprobs(ids []uint32, top int) (chosen, best [][]any) {
	for _, id := range ids {
		chosen = append(chosen, []any{-0.5, id, nil})
		var list []any
		for i := range top {
			list = append(list, []any{-0.5 - float64(i), id + uint32(i), nil})
		}
		best = append(best, list)
	}
	return chosen, best
}

func nonNil(ids []uint32) []uint32 {
	if ids == nil {
		return []uint32{}
	}
	return ids
}
