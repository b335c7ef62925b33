package trtllm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// A server may tell any size of its blocks; a prompt of two of them is not made
// of one that cannot be.
func TestProbeOfImpossibleBlocks(t *testing.T) {
	for _, block := range []string{"1e15", "1e300", "-64", "+Inf", "NaN"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/v1/models":
				io.WriteString(w, `{"data":[{"id":"tiny"}]}`)
			case "/prometheus/metrics":
				fmt.Fprintf(w, "trtllm_kv_cache_tokens_per_block %s\ntrtllm_kv_cache_max_blocks 1e300\n", block)
			case "/v1/completions":
				io.WriteString(w, `data: {"choices":[{"text":"a","token_ids":[5],"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
			default:
				io.WriteString(w, "[]")
			}
		}))
		c := newClient(engine.Endpoint{URL: s.URL})
		if seen, err := c.Probe(t.Context()); err != nil || seen.Caps.BlockSize != 0 || seen.Caps.KVTokens != 0 {
			t.Errorf("%s: %+v, %v", block, seen.Caps, err)
		}
		c.Close()
		s.Close()
	}
}

// Ids that cannot be any make no answer, and counts stay numbers.
func TestImpossibleNumbers(t *testing.T) {
	for _, id := range []string{"-1", "4294967296", `"7"`, "null"} {
		c, _ := serve(t, manner{}, `{"choices":[{"text":"a","token_ids":[`+id+`]}]}`)
		if a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4})); !errors.Is(a.err, turn.ErrLost) || len(a.ids) > 0 {
			t.Errorf("%s: %v, %v", id, a.ids, a.err)
		}
	}
	c, _ := serve(t, manner{}, `{"choices":[{"text":"a","token_ids":[5],"finish_reason":"length"}],"usage":{"prompt_tokens":1e300,`+
		`"completion_tokens":-1,"prompt_tokens_details":{"cached_tokens":9223372036854775807}}}`, "[DONE]")
	a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4}))
	if u := a.end.Usage; a.err != nil || u.Prompt != 1<<40 || u.Cached != 1<<40 || u.Output != 0 {
		t.Errorf("%+v, %v", a.end, a.err)
	}
}
