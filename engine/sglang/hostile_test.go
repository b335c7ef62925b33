package sglang

import (
	"errors"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// Ids that cannot be any make no answer, and counts stay numbers.
func TestImpossibleNumbers(t *testing.T) {
	for _, id := range []string{"-1", "4294967296", `"7"`, "null"} {
		c, _ := serve(t, manner{thought: -1}, `{"text":"a","output_ids":[`+id+`],"meta_info":{}}`)
		if a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4})); !errors.Is(a.err, turn.ErrLost) || len(a.ids) > 0 {
			t.Errorf("%s: %v, %v", id, a.ids, a.err)
		}
	}
	c, _ := serve(t, manner{thought: -1}, `{"text":"a","output_ids":[5],"meta_info":{"prompt_tokens":1e300,"completion_tokens":-1,`+
		`"cached_tokens":9223372036854775807,"finish_reason":{"type":"length"}}}`)
	a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4}))
	if a.err != nil || a.end.Usage != (turn.Usage{Prompt: 1 << 40, Cached: 1 << 40, Output: 1}) {
		t.Errorf("%+v, %v", a.end, a.err)
	}
}
