package server

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// annotate appends the annotations that a turn asked for, as Dynamo's frontend
// writes them: an event with a name and, in a comment, a value in JSON. Who
// reads events by the book sees nothing of one that has no data.
func (f *flight) annotate(dst []byte) []byte {
	if f.m.Stands != "" {
		return dst // nobody but the engine knows
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(f.t.Hints.Annotate))) {
		var value any
		if name == dialect.FormattedPrompt {
			value = f.promptText()
		} else {
			value = f.prompt.Flat()
		}
		b, _ := json.Marshal(value) // texts and numbers can always be written
		dst = append(append(append(dst, "event: "...), name...), "\n: "...)
		dst = append(append(dst, b...), "\n\n"...)
	}
	return dst
}

// promptText is the prompt as the worker gets it; of several the first.
func (f *flight) promptText() string {
	return string(f.m.Prompt.Tokenizer().Decode(nil, f.prompt.Flat()))
}

// promptProbs stands for the prompt's own tokens among log probabilities:
// engines tell none of them.
func (f *flight) promptProbs() []turn.Logprob {
	all := make([]turn.Logprob, f.prompt.Len())
	for i := range all {
		all[i] = turn.Logprob{Token: f.m.Prompt.Tokenizer().Token(f.prompt.At(i)), Value: math.NaN()}
	}
	return all
}

// annotations adds to an answer's nvext what a stream would have brought as
// events.
func (x *nvext) annotations(f *flight) {
	if f.m.Stands != "" {
		return
	}
	for _, name := range f.t.Hints.Annotate {
		switch name {
		case dialect.FormattedPrompt:
			x.Prompt = f.promptText()
		case dialect.TokenIDs:
			x.PromptIDs = f.prompt.Flat()
		}
	}
}

// where answers a turn that only asks which worker it would run at: with the
// worker, its hit and the prompt's ids, and without a word of the model.
func (f *flight) where(c *call) error {
	f.prompt = f.job.Prompt.Cut(f.asked)
	d, _, err := f.ask(nil)
	if err != nil {
		return err
	}
	x := nvext{Worker: &workerExtra{Prefill: d.Worker, Decode: d.Worker}, Hit: &hitExtra{f.asked, d.Overlap, -1}}
	if f.m.Stands == "" {
		x.PromptIDs = f.prompt.Flat()
	}
	x.annotations(f)
	extra, err := json.Marshal(x)
	if err != nil {
		return errors.Join(errPanic, err)
	}
	used := turn.Usage{Prompt: f.asked}
	end := turn.Event{Kind: turn.Finish, Reason: turn.Ended, Usage: used, Extra: extra}
	if f.t.Stream {
		enc := c.codec.Stream(f.t)
		b := enc.Open(f.annotate(nil), used)
		for end.Choice = range f.t.Answers() {
			b = enc.Event(b, end)
		}
		c.SetContentType(eventStream)
		c.SetBody(b)
		return nil
	}
	doc := c.codec.Document(f.t)
	for end.Choice = range f.t.Answers() {
		doc.Add(end)
	}
	status, b := doc.JSON()
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.SetBody(b)
	return nil
}
