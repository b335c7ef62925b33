package vllm

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/turn"
)

// pieceIDs is how many ids are encoded before they are sent: the engine reads
// them while the next ones are encoded. Most prompts are one piece.
const pieceIDs = 8 << 10

// bodyOf is the request for a job, in the parcel's memory.
func bodyOf(p *parcel, model string, j turn.Job, as spelling) exchange.Body {
	p.b = slices.Grow(p.b[:0], 7*min(len(j.Prompt), pieceIDs)+len(j.Format.Schema)+len(j.Sampling.Bias)+idRoom*512+1024)
	if len(j.Prompt) <= pieceIDs {
		p.b = appendClosing(appendIDs(appendOpening(p.b, model), j.Prompt), j, as)
		return exchange.Whole(p.b)
	}
	opening := len(appendOpening(p.b, model))
	closing := len(appendClosing(p.b, j, as))
	return exchange.Body{Len: opening + lenIDs(j.Prompt) + closing, Pieces: func(yield func([]byte) bool) {
		p.b = append(appendOpening(p.b[:0], model), '[')
		for ids := range slices.Chunk(j.Prompt, pieceIDs) {
			p.b = appendNumbers(p.b, ids)
			last := &ids[len(ids)-1] == &j.Prompt[len(j.Prompt)-1]
			if last {
				p.b[len(p.b)-1] = ']' // the last comma
				p.b = appendClosing(p.b, j, as)
			}
			if !yield(p.b) {
				return
			}
			p.b = p.b[:0]
		}
	}}
}

// appendOpening writes a request up to the prompt.
func appendOpening(b []byte, model string) []byte {
	return append(appendString(append(b, `{"model":`...), model), `,"prompt":`...)
}

// appendClosing writes what comes behind the prompt.
func appendClosing(b []byte, j turn.Job, as spelling) []byte {
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
	return append(b, `,"skip_special_tokens":false,"spaces_between_special_tokens":false,`+
		`"return_token_ids":true,"stream":true,"stream_options":{"include_usage":true}}`...)
}

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
		b = append(b, `,"stop_token_ids":`...)
		b = appendIDs(b, ids)
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
