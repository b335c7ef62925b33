package dialect

import (
	"math"
	"strconv"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// Bounds of what a request may ask for; the APIs themselves allow less.
const (
	alternativesMost = 20
	stopsMost        = 256
	stopIDsMost      = 1024
	biasMost         = 4096
)

// sampling reads the fields that the dialects share, OpenAI's and those that
// are usual with open models.
func (r *reader) sampling(s *turn.Sampling, root tape.Value) {
	s.Temperature = r.number(root, "temperature", 0, 2)
	s.TopP = r.number(root, "top_p", 0, 1)
	s.MinP = r.number(root, "min_p", 0, 1)
	s.Seed = r.whole(root, "seed", math.MinInt64, math.MaxInt64)
	s.Presence = r.number(root, "presence_penalty", -2, 2)
	s.Frequency = r.number(root, "frequency_penalty", -2, 2)
	s.Repetition = r.number(root, "repetition_penalty", 0.01, 100)
	s.IgnoreEnd = r.flag(root, "ignore_eos")
	s.KeepStop = r.flag(root, "include_stop_str_in_output")
	s.StopIDs = r.ids(root, "stop_token_ids")
	s.Bias = r.bias(root)
	if k := r.whole(root, "top_k", -1, math.MaxInt32); k != nil {
		n := int(*k)
		s.TopK = &n
	}
	if n := r.whole(root, "min_tokens", 0, maxTokens); n != nil {
		s.MinTokens = int(*n)
	}
}

// ids returns a list of token ids.
func (r *reader) ids(root tape.Value, key string) []uint32 {
	var ids []uint32
	for _, v := range r.field(root, key, tape.Array).Elements() {
		n, ok := v.Int()
		if !ok || n < 0 || n > math.MaxUint32 {
			r.fail(v, "must be a token id, not %s", cut(string(v.Raw())))
			return nil
		}
		if ids = append(ids, uint32(n)); len(ids) > stopIDsMost {
			r.fail(root.Key(key), "must hold at most %d ids", stopIDsMost)
			return nil
		}
	}
	return ids
}

// bias returns logit_bias, checked: token ids with numbers from -100 to 100.
func (r *reader) bias(root tape.Value) []byte {
	v := r.field(root, "logit_bias", tape.Object)
	if v.Empty() {
		return nil
	}
	n := 0
	for k, b := range v.Fields() {
		if _, err := strconv.ParseUint(k.Text(), 10, 32); err != nil {
			r.fail(v, "must have token ids for keys, not '%s'", cut(k.Text()))
		}
		if f, ok := b.Float(); !ok || f < -100 || f > 100 {
			r.fail(b, "must be a number between -100 and 100, not %s", cut(string(b.Raw())))
		}
		if n++; n > biasMost {
			r.fail(v, "must hold at most %d tokens", biasMost)
		}
		if r.failed() {
			return nil
		}
	}
	return v.Bytes()
}

// alternatives returns top_logprobs.
func (r *reader) alternatives(root tape.Value) int {
	n := r.whole(root, "top_logprobs", 0, alternativesMost+1)
	if n == nil {
		return 0
	}
	if *n > alternativesMost {
		r.fail(root.Key("top_logprobs"), "must be at most %d", alternativesMost)
	}
	return int(*n)
}

// stops reads stop strings, a list or a single one; empty ones stop nothing
// and are left out.
func (r *reader) stops(root tape.Value, key string) []string {
	v := root.Key(key)
	if v.Kind() == tape.String {
		if s := v.Text(); s != "" {
			return []string{s}
		}
		return nil
	}
	var stops []string
	for _, e := range r.field(root, key, tape.Array).Elements() {
		if e.Kind() != tape.String {
			r.fail(e, "must be a string, not %s", kindName(e.Kind()))
			return nil
		}
		if s := e.Text(); s != "" {
			stops = append(stops, s)
		}
		if len(stops) > stopsMost {
			r.fail(v, "must hold at most %d texts", stopsMost)
			return nil
		}
	}
	return stops
}
