package trtllm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		log, try string
		without  []string
	}{
		{"Error: No such option: --served_model_name Did you mean --model?", "--served_model_name:", []string{"served_model_name"}},
		{"Error: No such option '--max_sec_len'.", "--max_sec_len:", nil},
		{
			"1 validation error for TorchLlmArgs\nscheduler_config.waiting_queue_policy\n  Extra inputs are not permitted [type=extra_forbidden, input_value='priority']",
			"--config.scheduler_config.waiting_queue_policy",
			[]string{"config.scheduler_config.waiting_queue_policy"},
		},
		{"torch.OutOfMemoryError: CUDA out of memory. Tried", "free the GPU", nil},
		{"all is well", "", nil},
	} {
		a := Adapter{}.Advise(strings.Split(c.log, "\n"))
		if !strings.Contains(a.Try, c.try) || (c.try == "") != (a.Try == "") || !slices.Equal(a.Without, c.without) {
			t.Errorf("%s: %+v", c.log, a)
		}
	}
}

// Code of the model's folder runs only if the recipe says so.
func TestRemoteCode(t *testing.T) {
	for trust, want := range map[bool]bool{true: true, false: false} {
		r := &recipes.Recipe{Model: "m", Command: []string{"x"}, TrustRemoteCode: trust, Flags: map[string]string{"trust_remote_code": "true"}}
		l, err := Adapter{}.Launch(engine.Spec{Recipe: r}, engine.Place{})
		if err != nil || slices.Contains(l.Args, "--trust_remote_code") != want || slices.Contains(l.Args, "--trust-remote-code") {
			t.Errorf("trust %v: %q, %v", trust, l.Args, err)
		}
	}
}

// The server's words tell what it takes.
func TestTooLong(t *testing.T) {
	for words, want := range map[string]int{
		"`default_max_tokens` (-4) must be greater than 0, `default_max_tokens` (-4) = max_seq_len (4096) - `splited_prompt_len` (4100)": 4095,
		"The sum of prompt length (4100), query length (0) should not exceed max_num_tokens (2048)":                                      2047,
		"`prompt_token_ids` length (4100) is greater than `max_seq_len` (4096)":                                                          4095,
		"Token ids must be below 10 (9)": 0,
	} {
		var r *turn.Refused
		err := tooLong(fmt.Errorf("/v1/completions: %w", &turn.Refused{Status: 400, Message: words}), 4100)
		if !errors.As(err, &r) || r.Limit != want || (r.Prompt == 4100) != (want > 0) {
			t.Errorf("%s: %+v", words, r)
		}
		err = tooLong(&turn.Refused{Status: 400, Message: words}, 0) // of a chat
		if !errors.As(err, &r) || r.Limit != want || (r.Prompt == 4100) != (want > 0) {
			t.Errorf("of a chat, %s: %+v", words, r)
		}
	}
}
