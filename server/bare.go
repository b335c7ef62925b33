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

// bare makes the jobs of a plain completion: of texts or ids that no template
// touches. The first prompt is the flight's own, the others wait for twins.
func (f *flight) bare() error {
	for i := range f.t.Prompts {
		j, err := f.plainJob(i)
		if err != nil {
			return err
		}
		f.bares = append(f.bares, j)
	}
	f.takes(0)
	return nil
}

// plainJob is what is to be made of one prompt.
type plainJob struct {
	job     turn.Job
	chains  map[int][]uint64
	opening string // that the answer begins with
}

// takes makes a prompt the flight's.
func (f *flight) takes(prompt int) {
	p := f.bares[prompt]
	f.job, f.chains, f.opening = p.job, p.chains, p.opening
	f.asked, f.limit = p.job.Prompt.Len(), p.job.MaxTokens
}

// plainJob makes the job of a prompt.
func (f *flight) plainJob(i int) (plainJob, error) {
	t, tok := f.t, f.m.Prompt.Tokenizer()
	ids, text := t.Prompts[i].IDs, t.Prompts[i].Text
	switch {
	case ids != nil:
	case t.Prompts[i].Bare:
		ids = tok.Encode(nil, text)
	default:
		ids = tok.EncodePrompt(nil, text)
	}
	at := func(rest string) string {
		if len(t.Prompts) > 1 {
			return fmt.Sprintf("prompt[%d]", i) + rest
		}
		return "prompt" + rest
	}
	vocab := f.m.Prompt.Vocab()
	for k, id := range ids {
		if int(id) >= vocab {
			return plainJob{}, &dialect.Problem{Param: at(fmt.Sprintf("[%d]", k)), Message: fmt.Sprintf("is no token of this model: ids go up to %d", vocab-1)}
		}
	}
	limit := f.m.context()
	switch {
	case limit == 0:
		return plainJob{}, f.m.unavailable()
	case len(ids) >= limit:
		return plainJob{}, &dialect.Problem{Kind: dialect.TooLong, Prompt: len(ids), Limit: limit}
	}
	p := plainJob{job: turn.Job{
		ID: t.ID, Prompt: turn.IDsOf(ids...), MaxTokens: min(limit-len(ids), t.MaxTokens), Stop: t.Stop, StopIDs: f.m.Prompt.StopIDs(),
		Sampling: t.Sampling, Salt: t.Salt, Priority: t.Hints.Priority,
	}}
	p.job.Sampling.Logprobs = t.Sampling.Logprobs || t.Best > 0
	p.chains = make(map[int][]uint64, 1)
	for _, block := range f.m.blocks() {
		p.chains[block] = cache.Extend(nil, cache.SaltSeed("", t.Salt), ids, block)
	}
	switch {
	case !t.Repeat:
	case t.Prompts[i].IDs == nil:
		p.opening = text
	default:
		p.opening = string(tok.Decode(nil, ids))
	}
	return p, nil
}
