package vllm

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// write makes the body of a request for a job. Texts that the prompt holds are
// pieces of it as they lie. What all requests have alike stands first. The prompt
// stands last, since it is long: who looks for a field from the front comes to
// all others first. again asks for cached blocks to be announced as if they were
// new.
func (p *parcel) write(model string, j turn.Job, as spelling, again bool) {
	b := appendString(append(p.b[:0], alike...), model)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(max(j.MaxTokens, 1)), 10)
	b = appendSampling(b, j.Sampling)
	b = appendStops(b, j)
	b = as.append(b, j.Format)
	if j.Salt != "" {
		b = append(b, `,"cache_salt":`...)
		b = appendString(b, j.Salt)
	}
	if j.Priority != 0 {
		b = appendInt(b, "priority", -int64(j.Priority)) // lower goes first in vLLM
	}
	if again {
		b = append(b, `,"vllm_xargs":{"kv_cache_report_mode":"full"}`...)
	}
	b = append(b, `,"prompt":[`...)
	head := len(b)
	pieces, held := j.Prompt.Texts(append(p.pieces[:0], nil))
	b = slices.Grow(b, 7*(j.Prompt.Len()-held)+len(end))
	b = j.Prompt.AppendText(b, held)
	p.b = append(bytes.TrimSuffix(b, comma), end...)
	pieces[0] = p.b[:head]
	p.pieces = append(pieces, p.b[head:])
}

var comma = []byte{','}

// What all requests begin and end with.
const (
	alike = `{"stream":true,"stream_options":{"include_usage":true},"return_token_ids":true,` +
		`"skip_special_tokens":false,"spaces_between_special_tokens":false,"model":`
	end = `]}`
)

// appendStops writes what ends the answer: the job's own ids and the client's.
func appendStops(b []byte, j turn.Job) []byte {
	if len(j.Stop) > 0 {
		b = append(b, `,"stop":[`...)
		for i, s := range j.Stop {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, s)
		}
		b = append(b, ']')
	}
	ids := j.StopIDs
	for _, id := range j.Sampling.StopIDs {
		if !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	if len(ids) > 0 {
		b = append(b, `,"stop_token_ids":[`...)
		for i, id := range ids {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, uint64(id), 10)
		}
		b = append(b, ']')
	}
	if n := j.Sampling.MinTokens; n > 0 {
		b = appendInt(b, "min_tokens", int64(n))
	}
	if j.Sampling.IgnoreEnd {
		b = append(b, `,"ignore_eos":true`...)
	}
	return b
}

func appendSampling(b []byte, s turn.Sampling) []byte {
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"temperature", s.Temperature},
		{"top_p", s.TopP},
		{"min_p", s.MinP},
		{"presence_penalty", s.Presence},
		{"frequency_penalty", s.Frequency},
		{"repetition_penalty", s.Repetition},
	} {
		if f.value == nil || math.IsNaN(*f.value) || math.IsInf(*f.value, 0) {
			continue
		}
		b = append(append(append(b, `,"`...), f.name...), `":`...)
		b = strconv.AppendFloat(b, *f.value, 'g', -1, 64)
	}
	if s.TopK != nil {
		b = appendInt(b, "top_k", int64(*s.TopK))
	}
	if s.Seed != nil {
		b = appendInt(b, "seed", *s.Seed)
	}
	if len(s.Bias) > 0 {
		b = append(b, `,"logit_bias":`...)
		b = append(b, s.Bias...)
	}
	if s.Logprobs { // 0 tells that of the chosen token alone
		b = appendInt(b, "logprobs", int64(max(s.TopLogprobs, 0)))
	}
	return b
}

func appendInt(b []byte, name string, n int64) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, n, 10)
}

func appendString(b []byte, s string) []byte {
	q, _ := json.Marshal(s) // a string can always be written
	return append(b, q...)
}
