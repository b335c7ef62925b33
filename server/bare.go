package server

import (
	"fmt"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// tokens makes the prompt's ids: of a conversation by the model's template,
// of a plain completion as they are.
func (f *flight) tokens() error {
	if f.t.Dialect == turn.Completions {
		return f.bare()
	}
	return f.render()
}

// bare makes a job of a text or of ids that no template touches.
func (f *flight) bare() error {
	ids := f.t.Tokens
	if ids == nil {
		ids = f.m.Prompt.Tokenizer().Encode(nil, f.t.Text)
	}
	for i, id := range ids {
		if vocab := f.m.Prompt.Vocab(); int(id) >= vocab {
			return &dialect.Problem{Param: fmt.Sprintf("prompt[%d]", i), Message: fmt.Sprintf("is no token of this model: ids go up to %d", vocab-1)}
		}
	}
	limit := f.m.context()
	switch {
	case limit == 0:
		return unavailable(f.m.ID)
	case len(ids) >= limit:
		return &dialect.Problem{Kind: dialect.TooLong, Prompt: len(ids), Limit: limit}
	}
	f.asked, f.limit = len(ids), min(limit-len(ids), f.t.MaxTokens)
	f.job = turn.Job{
		ID: f.t.ID, Prompt: ids, MaxTokens: f.limit, Stop: f.t.Stop, StopIDs: f.m.Prompt.StopIDs(),
		Sampling: f.t.Sampling, Salt: f.t.Salt, Priority: f.t.Hints.Priority,
	}
	f.chains = make(map[int][]uint64, 1)
	for _, block := range f.m.blocks() {
		f.chains[block] = cache.Extend(nil, cache.SaltSeed("", f.t.Salt), ids, block)
	}
	return nil
}
