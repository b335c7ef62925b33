package vllm

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// body writes the request for a job. Prompts are long, so their ids are
// written digit by digit into memory that was reserved once.
func body(model string, j turn.Job) []byte {
	b := make([]byte, 0, 8*len(j.Prompt)+512)
	b = append(b, `{"model":`...)
	b = appendString(b, model)
	b = append(b, `,"prompt":`...)
	b = appendIDs(b, j.Prompt)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(max(j.MaxTokens, 1)), 10)
	b = appendSampling(b, j.Sampling)
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
	if len(j.StopIDs) > 0 {
		b = append(b, `,"stop_token_ids":`...)
		b = appendIDs(b, j.StopIDs)
	}
	if j.Salt != "" {
		b = append(b, `,"cache_salt":`...)
		b = appendString(b, j.Salt)
	}
	if j.Priority != 0 {
		b = append(b, `,"priority":`...)
		b = strconv.AppendInt(b, -int64(j.Priority), 10) // lower goes first in vLLM
	}
	return append(b, `,"skip_special_tokens":false,"spaces_between_special_tokens":false,`+
		`"return_token_ids":true,"stream":true,"stream_options":{"include_usage":true}}`...)
}

func appendSampling(b []byte, s turn.Sampling) []byte {
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"temperature", s.Temperature},
		{"top_p", s.TopP},
		{"presence_penalty", s.Presence},
		{"frequency_penalty", s.Frequency},
	} {
		if f.value == nil || math.IsNaN(*f.value) || math.IsInf(*f.value, 0) {
			continue
		}
		b = append(append(append(b, `,"`...), f.name...), `":`...)
		b = strconv.AppendFloat(b, *f.value, 'g', -1, 64)
	}
	if s.TopK != nil {
		b = append(b, `,"top_k":`...)
		b = strconv.AppendInt(b, int64(*s.TopK), 10)
	}
	if s.Seed != nil {
		b = append(b, `,"seed":`...)
		b = strconv.AppendInt(b, *s.Seed, 10)
	}
	return b
}

func appendIDs(b []byte, ids []uint32) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(id), 10)
	}
	return append(b, ']')
}

func appendString(b []byte, s string) []byte {
	q, _ := json.Marshal(s) // a string can always be written
	return append(b, q...)
}
