package sim

import (
	"net/http"
	"strconv"

	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/engine/sim/kv"
)

// ask checks a completion against the model and the context, in the order in
// which the copied server does, and makes the engine's ask of it.
func (s *server) ask(c *completion, h http.Header) (*core.Ask, *problem) {
	if c.model != "" && c.model != s.o.name {
		p := bad("The model `%s` does not exist. Valid aliases: %s.", c.model, s.o.name)
		p.status, p.kind, p.param = http.StatusNotFound, "NotFoundError", "model"
		return nil, p
	}
	if rank, err := strconv.Atoi(h.Get("X-Data-Parallel-Rank")); err == nil && rank != 0 {
		return nil, bad("data_parallel_rank %d is out of range [0, 1).", rank)
	}
	if c.refused != "" {
		return nil, unsupported(c.refused)
	}
	if c.problem != nil {
		return nil, c.problem
	}
	ids := c.ids
	if ids == nil {
		ids = s.folder.tok.Encode(nil, c.text)
	}
	if p := s.lengths(c, len(ids)); p != nil {
		return nil, p
	}
	if p := c.ranges(); p != nil {
		return nil, p
	}
	for _, id := range ids {
		if int(id) >= s.folder.vocab {
			return nil, bad("Token id %d is out of vocabulary", id)
		}
	}
	a := &core.Ask{
		Prompt: ids, MaxTokens: c.maxTokens, MinTokens: c.minTokens, IgnoreEnd: c.ignoreEnd,
		StopIDs: c.stopIDs, Stop: c.stop, KeepStop: c.keepStop, Special: !c.skip,
		Priority: c.priority, Report: c.report,
	}
	if !c.ignoreEnd {
		a.StopIDs = append(a.StopIDs, s.folder.stops...)
	}
	if c.salt != nil {
		a.Salt = *c.salt
	}
	if n, err := strconv.Atoi(h.Get("X-Vllm-Priority")); err == nil {
		a.Priority = n
	}
	a.Chain = kv.Chain(nil, ids, s.o.blockSize, a.Salt)
	a.Script = s.thinker.Answer(ids)
	return a, nil
}

// lengths checks the context and cuts max_tokens to what is left of it.
func (s *server) lengths(c *completion, prompt int) *problem {
	n := strconv.Itoa
	if c.maxTokens > s.context {
		return badValue("max_tokens", n(c.maxTokens),
			"max_tokens=%d cannot be greater than max_model_len=%d. Please request fewer output tokens.", c.maxTokens, s.context)
	}
	if prompt > s.context {
		return badValue("input_tokens", n(prompt),
			"This model's maximum context length is %d tokens. However, your prompt contains at least %d input tokens, "+
				"which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.",
			s.context, prompt)
	}
	if left := s.context - prompt; c.maxTokens == allThatFits || c.maxTokens > left {
		c.maxTokens = left
	}
	return nil
}

// ranges checks the sampling parameters; the engine has no use for most.
func (c *completion) ranges() *problem {
	n := strconv.Itoa
	switch {
	case c.maxTokens < 1:
		return badValue("max_tokens", n(c.maxTokens), "max_tokens must be at least 1, got %d.", c.maxTokens)
	case c.minTokens < 0:
		return badValue("min_tokens", n(c.minTokens), "min_tokens must be greater than or equal to 0, got %d.", c.minTokens)
	case c.minTokens > c.maxTokens:
		return badValue("min_tokens", n(c.minTokens),
			"min_tokens must be less than or equal to max_tokens=%d, got %d.", c.maxTokens, c.minTokens)
	case c.temperature < 0:
		return c.outside("temperature", c.temperature, "must be non-negative")
	case c.topP <= 0 || c.topP > 1:
		return c.outside("top_p", c.topP, "must be in (0, 1]")
	case c.topK < -1:
		return badValue("top_k", n(c.topK), "top_k must be 0 (disable), or at least 1, got %d.", c.topK)
	case c.minP < 0 || c.minP > 1:
		return c.outside("min_p", c.minP, "must be in [0, 1]")
	case c.presence < -2 || c.presence > 2:
		return c.outside("presence_penalty", c.presence, "must be in [-2, 2]")
	case c.frequency < -2 || c.frequency > 2:
		return c.outside("frequency_penalty", c.frequency, "must be in [-2, 2]")
	}
	for _, s := range c.stop {
		if s == "" {
			return badValue("stop", "", "stop cannot contain an empty string.")
		}
	}
	return nil
}

func (c *completion) outside(param string, v float64, rule string) *problem {
	return badValue(param, float(v), "%s %s, got %s.", param, rule, float(v))
}
