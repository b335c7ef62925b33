package sglang

import (
	"slices"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// body writes the request for a job. prompt writes what stands in place of the
// job's ids; nil is those.
func body(rid string, j turn.Job, m manner, prompt func(*remote.Body)) [][]byte {
	var b remote.Body
	b.Text("rid", rid)
	if prompt == nil {
		b.Prompt("input_ids", j.Prompt)
	} else {
		prompt(&b)
	}
	b.Open("sampling_params")
	b.Int("max_new_tokens", int64(max(j.MaxTokens, 1)))
	sampling(&b, j.Sampling)
	stopIDs(&b, j)
	form(&b, j.Format)
	b.Bool("skip_special_tokens", false)
	b.Bool("spaces_between_special_tokens", false)
	b.Close()
	if j.Format.Kind != turn.FreeText && m.thinks(j.Prompt) {
		b.Bool("require_reasoning", true)
	}
	if j.Sampling.Logprobs {
		b.Bool("return_logprob", true)
		b.Int("top_logprobs_num", int64(max(j.Sampling.TopLogprobs, 0)))
		b.Bool("return_text_in_logprobs", true)
	}
	apart(&b, j, m)
	b.Bool("stream", true)
	return b.Pieces()
}

// apart writes what sets a job apart from others: its salt and its priority.
func apart(b *remote.Body, j turn.Job, m manner) {
	if j.Salt != "" {
		b.Text("cache_salt", j.Salt)
		b.Text("extra_key", j.Salt)
	}
	if p := m.priority * int64(j.Priority); p != 0 {
		b.Int("priority", p)
	}
}

func sampling(b *remote.Body, s turn.Sampling) {
	common(b, s)
	if s.Seed != nil {
		b.Int("sampling_seed", *s.Seed)
	}
}

// common is what has the same name in both APIs.
func common(b *remote.Body, s turn.Sampling) {
	b.Float("temperature", s.Temperature)
	b.Float("top_p", s.TopP)
	b.Float("min_p", s.MinP)
	b.Float("presence_penalty", s.Presence)
	b.Float("frequency_penalty", s.Frequency)
	b.Float("repetition_penalty", s.Repetition)
	if k := s.TopK; k != nil {
		n := int64(*k)
		if n == 0 {
			n = -1 // off
		}
		b.Int("top_k", n)
	}
	if len(s.Bias) > 0 {
		b.Raw("logit_bias", s.Bias)
	}
}

// stopIDs writes what ends the answer: the job's own ids and the client's.
func stopIDs(b *remote.Body, j turn.Job) {
	ids := j.StopIDs
	for _, id := range j.Sampling.StopIDs {
		if !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	if len(ids) > 0 {
		b.IDs("stop_token_ids", ids)
	}
	if n := j.Sampling.MinTokens; n > 0 {
		b.Int("min_new_tokens", int64(n))
	}
	if j.Sampling.IgnoreEnd {
		b.Bool("ignore_eos", true)
	}
}

// form writes the form that an answer shall have, a schema in a string.
func form(b *remote.Body, f turn.Format) {
	switch f.Kind {
	case turn.JSONObject:
		b.Text("json_schema", `{"type":"object"}`)
	case turn.JSONSchema:
		b.Text("json_schema", string(f.Schema))
	}
}

// nearEnd is how close to a prompt's end a thought must have ended for the
// answer to begin without one: behind it a template sets white space only.
const nearEnd = 3

// thinks reports whether an answer to that prompt begins with a thought, on a
// server that knows where thoughts end.
func (m manner) thinks(prompt turn.IDs) bool {
	if m.thought < 0 {
		return false
	}
	n := prompt.Len()
	tail := prompt.AppendTo(nil, max(0, n-nearEnd), n)
	return !slices.Contains(tail, uint32(m.thought))
}
