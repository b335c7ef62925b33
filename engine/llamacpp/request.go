package llamacpp

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// parcel is a request's body, in memory that later requests use again.
type parcel struct {
	b      []byte   // what was written for this request
	pieces [][]byte // the body: parts of b, and what lies elsewhere
}

// maxParcel is how much memory is kept for a later request.
const maxParcel = 4 << 20

var parcels = sync.Pool{New: func() any { return new(parcel) }}

func newParcel() *parcel { return parcels.Get().(*parcel) }

// release gives the memory back.
func (p *parcel) release() {
	if cap(p.b) <= maxParcel {
		clear(p.pieces)
		parcels.Put(p)
	}
}

// fields are what an end tells: without them it repeats the whole prompt as
// text, and all settings.
const fields = `["stop","stop_type","stopping_word","truncated","id_slot",` +
	`"tokens_predicted","tokens_evaluated","tokens_cached","timings"]`

// anyObject is the schema of JSONObject.
var anyObject = json.RawMessage(`{"type":"object"}`)

// write makes the body for a job that asks for a slot, -1 for any, and may use
// what is found there or not.
func (p *parcel) write(j turn.Job, slot int, reuse bool) {
	b := append(p.b[:0], `{"prompt":[`...)
	head := len(b)
	pieces, held := j.Prompt.Texts(append(p.pieces[:0], nil))
	b = slices.Grow(b, 7*(j.Prompt.Len()-held)+len(j.Format.Schema)+len(j.Sampling.Bias)+1536)
	b = j.Prompt.AppendText(b, held)
	b = append(bytes.TrimSuffix(b, []byte(",")), ']')
	b = appendInt(b, "n_predict", int64(max(j.MaxTokens, 1)))
	b = appendInt(b, "id_slot", int64(slot))
	b = append(append(b, `,"cache_prompt":`...), strconv.FormatBool(reuse)...)
	b = appendSampling(b, j.Sampling)
	b = appendList(b, "stop", j.Stop)
	b = appendList(b, "preserved_tokens", marks(j))
	switch j.Format.Kind {
	case turn.JSONObject:
		b = append(append(b, `,"json_schema":`...), anyObject...)
	case turn.JSONSchema:
		b = append(append(b, `,"json_schema":`...), j.Format.Schema...)
	}
	p.b = append(b, `,"return_tokens":true,"return_progress":true,"stream":true,"response_fields":`+fields+`}`...)
	pieces[0] = p.b[:head]
	p.pieces = append(pieces, p.b[head:])
}

// known are the special tokens that dyn's parsers look for. The server leaves
// those out that no model of its has.
var known = []string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"}

// marks are the special tokens that a job's answer must show as text.
func marks(j turn.Job) []string {
	all := slices.Clip(known)
	for _, m := range j.Marks {
		if !slices.Contains(known, m) {
			all = append(all, m)
		}
	}
	return all
}

// appendSampling writes what the client said. The rest is for the server's
// command line, see usual.
func appendSampling(b []byte, s turn.Sampling) []byte {
	b = appendFloat(b, "temperature", s.Temperature)
	b = appendFloat(b, "top_p", s.TopP)
	b = appendFloat(b, "min_p", s.MinP)
	b = appendFloat(b, "presence_penalty", s.Presence)
	b = appendFloat(b, "frequency_penalty", s.Frequency)
	b = appendFloat(b, "repeat_penalty", s.Repetition)
	if s.Repetition != nil {
		b = appendInt(b, "repeat_last_n", -1) // it is of the whole text elsewhere
	}
	if s.TopK != nil {
		b = appendInt(b, "top_k", int64(max(*s.TopK, 0))) // 0 is all
	}
	seed := int64(-1) // by chance
	if s.Seed != nil {
		seed = min(*s.Seed&math.MaxUint32, math.MaxUint32-1) // the largest one means -1
	}
	b = appendInt(b, "seed", seed)
	b = append(append(b, `,"ignore_eos":`...), strconv.FormatBool(s.IgnoreEnd)...)
	n := 0
	if s.Logprobs {
		n = max(s.TopLogprobs, 1)
	}
	b = appendInt(b, "n_probs", int64(n))
	return appendBias(b, s.Bias)
}

// appendBias writes the client's object of ids and numbers as a list of pairs.
func appendBias(b []byte, object json.RawMessage) []byte {
	b = append(b, `,"logit_bias":[`...)
	first := true
	gjson.ParseBytes(object).ForEach(func(id, bias gjson.Result) bool {
		n, err := strconv.ParseUint(id.Str, 10, 32)
		if err != nil || bias.Type != gjson.Number {
			return true
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = strconv.AppendUint(append(b, '['), n, 10)
		b = append(append(append(b, ','), bias.Raw...), ']')
		return true
	})
	return append(b, ']')
}

func appendFloat(b []byte, name string, value *float64) []byte {
	if value == nil || math.IsNaN(*value) || math.IsInf(*value, 0) {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendFloat(b, *value, 'g', -1, 64)
}

func appendInt(b []byte, name string, n int64) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, n, 10)
}

func appendList(b []byte, name string, list []string) []byte {
	q, _ := json.Marshal(slices.Clip(append([]string{}, list...))) // strings can always be written
	return append(append(append(append(b, `,"`...), name...), `":`...), q...)
}
