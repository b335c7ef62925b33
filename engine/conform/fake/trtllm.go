package fake

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/engine/sim/kv"
)

// TRTLLM runs the face of a TensorRT-LLM server.
func TRTLLM(t testing.TB, o Options) *Engine {
	t.Helper()
	s := &trtllm{ring: []any{}}
	tell := s.tell
	if o.Buffer == 0 {
		tell = nil
	}
	return start(t, o, tell, func(e *Engine) {
		s.Engine = e
		if o.Buffer > 0 {
			s.put(map[string]any{"type": "created", "num_blocks_per_cache_level": []int{64, 0}})
		}
		for route, h := range map[string]http.HandlerFunc{
			"GET /health":             func(http.ResponseWriter, *http.Request) {},
			"GET /version":            s.version,
			"GET /v1/models":          s.models,
			"GET /prometheus/metrics": s.metrics,
			"POST /kv_cache_events":   s.events,
			"POST /v1/completions":    s.completions,

			"POST /v1/chat/completions": s.chat,
		} {
			e.mux.HandleFunc(route, h)
		}
	})
}

type trtllm struct {
	*Engine
	mu   sync.Mutex
	ring []any // KV events; guarded by mu
	id   int   // of the next one; guarded by mu
}

func (s *trtllm) version(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"version": "1.4.0rc4"})
}

func (s *trtllm) models(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"data": []any{map[string]any{"id": "tiny"}}})
}

// tell puts the engine's events into the ring, in the server's words.
func (s *trtllm) tell(events []kv.Event) {
	for _, e := range events {
		hashes := make([]uint64, len(e.Hashes))
		for i, h := range e.Hashes {
			hashes[i] = h.Short()
		}
		switch e.Kind {
		case kv.Stored:
			var parent any
			if e.HasParent {
				parent = e.Parent.Short()
			}
			var blocks []any
			for tokens := range slices.Chunk(e.Tokens, len(e.Tokens)/len(hashes)) {
				var list []any
				for _, id := range tokens {
					list = append(list, map[string]any{"type": "unique_token", "token_id": id, "token_extra_id": 0})
				}
				blocks = append(blocks, map[string]any{
					"type": "stored_block", "block_hash": hashes[len(blocks)], "tokens": list, "cache_level": 0, "priority": 35,
				})
			}
			s.put(map[string]any{"type": "stored", "parent_hash": parent, "blocks": blocks})
		case kv.Removed:
			s.put(map[string]any{"type": "removed", "block_hashes": hashes})
		}
	}
}

func (s *trtllm) put(data map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring = append(s.ring, map[string]any{"event_id": s.id, "window_size": 4096, "data": data})
	s.id++
	if len(s.ring) > s.o.Buffer {
		s.ring = s.ring[1:]
	}
}

// events empties the ring.
func (s *trtllm) events(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	all := s.ring
	s.ring = []any{}
	s.mu.Unlock()
	reply(w, 200, all)
}

func (s *trtllm) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.core.Stats()
	blocks := 64 * s.o.Context / s.o.BlockSize
	for name, v := range map[string]float64{
		"num_requests_running": float64(st.Running), "num_requests_waiting": float64(st.Waiting),
		"kv_cache_utilization": st.Usage, "kv_cache_max_blocks": float64(blocks), "kv_cache_used_blocks": st.Usage * float64(blocks),
		"kv_cache_tokens_per_block": float64(s.o.BlockSize), "max_num_active_requests": float64(s.o.Slots),
		"prompt_tokens_total": float64(st.Queries), "prompt_cached_tokens_total": float64(st.Hits), "generation_tokens_total": float64(st.Output),
	} {
		fmt.Fprintf(w, "trtllm_%s{model_name=\"tiny\"} %g\n", name, v)
	}
}

// trtFields are those that the server knows; one more is an error.
var trtFields = []string{
	"model", "prompt", "max_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty",
	"repetition_penalty", "logit_bias", "stop", "stop_token_ids", "include_stop_str_in_output", "ignore_eos", "min_tokens",
	"skip_special_tokens", "spaces_between_special_tokens", "detokenize", "response_format", "priority", "conversation_params",
	"stream", "stream_options", "logprobs",
}

// trtChatFields are those of its chat API that the other one lacks.
var trtChatFields = []string{"messages", "tools", "tool_choice", "chat_template_kwargs", "cache_salt", "top_logprobs"}

// chat is the chat API; what it does not know is an error too.
func (s *trtllm) chat(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &fields) != nil {
		problem(w, http.StatusBadRequest, "no JSON")
		return
	}
	for name := range fields {
		if !slices.Contains(trtFields, name) && !slices.Contains(trtChatFields, name) {
			problem(w, http.StatusBadRequest, "Extra inputs are not permitted: "+name)
			return
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	refuse := func(w http.ResponseWriter, why string, _ int) { problem(w, http.StatusBadRequest, why) }
	s.talk(w, r, refuse, func(_ string, a *core.Answer, write func()) {
		defer a.Drop()
		write()
	})
}

type trtAsk struct {
	Prompt     json.RawMessage
	Most       int      `json:"max_tokens"`
	Least      int      `json:"min_tokens"`
	StopIDs    []uint32 `json:"stop_token_ids"`
	KeepStop   bool     `json:"include_stop_str_in_output"`
	Ignore     bool     `json:"ignore_eos"`
	Detokenize *bool
	Priority   *float64
	Format     struct {
		Type   string
		Schema json.RawMessage
		JSON   struct{ Schema json.RawMessage } `json:"json_schema"`
	} `json:"response_format"`
	Options *struct{} `json:"stream_options"`
}

func (s *trtllm) completions(w http.ResponseWriter, r *http.Request) {
	var q trtAsk
	if !s.body(w, r, &q) {
		return
	}
	for name := range s.Last() {
		if !slices.Contains(trtFields, name) || name == "priority" && s.o.NoPriority {
			problem(w, http.StatusBadRequest, "Extra inputs are not permitted: "+name)
			return
		}
	}
	var ids []uint32
	var text string
	if json.Unmarshal(q.Prompt, &text) == nil {
		ids = s.tok.Encode(nil, text)
	} else if err := json.Unmarshal(q.Prompt, &ids); err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	if why := s.fits(ids); why != "" {
		problem(w, http.StatusBadRequest, why)
		return
	}
	schema := q.Format.JSON.Schema
	if q.Format.Type == "json" {
		schema = q.Format.Schema
	}
	ask := &core.Ask{Prompt: ids, MaxTokens: q.Most, MinTokens: q.Least, IgnoreEnd: q.Ignore, StopIDs: q.StopIDs}
	if s.o.Alone {
		ask.Salt = rand.Text()
	}
	a, err := s.submit(ask, only(schema))
	if err != nil {
		problem(w, http.StatusServiceUnavailable, "no room")
		return
	}
	s.stream(r.Context(), w, a, q, len(ids))
}

// gone is how often the server looks whether its client is there.
const gone = time.Second / 10

func (s *trtllm) stream(ctx context.Context, w http.ResponseWriter, a *core.Answer, q trtAsk, prompt int) {
	w.Header().Set("Content-Type", "text/event-stream")
	made, cached := 0, 0
	told := q.Detokenize == nil || *q.Detokenize
	err := each(ctx, a, func(p *core.Piece) bool {
		made, cached = made+len(p.IDs), p.Cached
		choice := map[string]any{
			"index": 0, "text": string(p.Text), "token_ids": nil, "logprobs": nil, "finish_reason": nil, "stop_reason": nil,
		}
		ids := p.IDs
		if p.End != nil {
			choice["finish_reason"] = string(p.End.Reason)
			if p.End.Reason == core.Aborted {
				choice["finish_reason"] = "cancelled"
			}
			if id := p.End.StopID; id >= 0 && uint32(id) != s.end { // the end token's own reason goes first, and keeps it
				choice["stop_reason"] = id
				if !q.KeepStop {
					ids = ids[:len(ids)-1]
				}
			}
		}
		if !told {
			choice["text"], choice["token_ids"] = "", nonNil(ids)
		}
		return event(w, map[string]any{"id": "cmpl-1", "object": "text_completion", "model": "tiny", "choices": []any{choice}, "usage": nil})
	})
	if err != nil {
		<-time.After(gone)
		a.Drop()
		return
	}
	if q.Options != nil {
		event(w, map[string]any{"choices": []any{}, "usage": map[string]any{
			"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made,
			"prompt_tokens_details": map[string]any{"cached_tokens": cached},
		}})
	}
	event(w, "[DONE]")
}
