package trtllm

import (
	"slices"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// spelling is how a server takes the form that an answer shall have. Which one
// works is probed.
type spelling uint8

// The spellings, in the order in which they are tried.
const (
	unheld spelling = iota // it does not hold answers to a form
	named                  // {"type":"json_schema","json_schema":{"name":…,"schema":…}}
	inLine                 // {"type":"json","schema":…}
)

// body writes the request for a job: of all fields only those that every
// server knows or that the probe has tried, since one more is a 400. prompt
// writes what stands in place of the job's ids; nil is those.
func body(m manner, j turn.Job, prompt func(*remote.Body)) [][]byte {
	var b remote.Body
	b.Text("model", m.model)
	if prompt == nil {
		b.Prompt("prompt", j.Prompt)
	} else {
		prompt(&b)
	}
	b.Int("max_tokens", int64(max(j.MaxTokens, 1)))
	sampling(&b, j.Sampling)
	stopIDs(&b, stopSet(j))
	if n := j.Sampling.MinTokens; n > 0 {
		b.Int("min_tokens", int64(n))
	}
	if j.Sampling.IgnoreEnd {
		b.Bool("ignore_eos", true)
	}
	m.form.write(&b, j.Format)
	if m.priority && j.Priority != 0 {
		p := share(j.Priority)
		b.Float("priority", &p)
	}
	ids := m.tok != nil
	b.Bool("detokenize", !ids)
	b.Bool("skip_special_tokens", !ids)
	b.Bool("spaces_between_special_tokens", false)
	b.Bool("include_stop_str_in_output", ids) // else a stop id is not among the ids
	b.Bool("stream", true)
	b.Open("stream_options")
	b.Bool("include_usage", true)
	b.Close()
	return b.Pieces()
}

func sampling(b *remote.Body, s turn.Sampling) {
	b.Float("temperature", s.Temperature)
	b.Float("top_p", s.TopP)
	b.Float("min_p", s.MinP)
	b.Float("presence_penalty", s.Presence)
	b.Float("frequency_penalty", s.Frequency)
	b.Float("repetition_penalty", s.Repetition)
	if s.TopK != nil {
		b.Int("top_k", int64(max(*s.TopK, 0)))
	}
	if s.Seed != nil {
		b.Int("seed", *s.Seed)
	}
	if len(s.Bias) > 0 {
		b.Raw("logit_bias", s.Bias)
	}
}

// stopSet is what ends the answer: the job's own ids and the client's.
func stopSet(j turn.Job) []uint32 {
	ids := j.StopIDs
	for _, id := range j.Sampling.StopIDs {
		if !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	return ids
}

func stopIDs(b *remote.Body, ids []uint32) {
	if len(ids) > 0 {
		b.IDs("stop_token_ids", ids)
	}
}

// share turns a priority, of which 0 is the usual one, into the server's
// number between 0 and 1, of which one half is.
func share(priority int) float64 {
	return min(max(0.5+float64(priority)/200, 0), 1)
}

// write writes the form that an answer shall have.
func (s spelling) write(b *remote.Body, f turn.Format) {
	schema := f.Schema
	switch f.Kind {
	case turn.FreeText:
		return
	case turn.JSONObject:
		schema = []byte(`{"type":"object"}`)
	}
	b.Open("response_format")
	if s == inLine {
		b.Text("type", "json")
	} else {
		b.Text("type", "json_schema")
		b.Open("json_schema")
		b.Text("name", "answer")
	}
	b.Raw("schema", schema)
	if s != inLine {
		b.Close()
	}
	b.Close()
}
