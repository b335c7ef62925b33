package server

import (
	"slices"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/turn"
)

// force makes the answer what the client's tool choice asks for. A call that
// is required begins in the prompt, so the model can only go on with it; it
// then does not think first. Where the prompt ends in open reasoning, and for
// a model whose calls have no fixed beginning, the choice stays a wish. At
// most one call is kept by a stop string. A name that the dialect let through
// is good here: of a tool that is deferred the client knows that it has it.
func (f *flight) force() {
	choice := f.t.ToolChoice
	if len(f.t.Tools) == 0 || choice.Mode == "none" {
		return
	}
	if end := f.m.Parser.CallEnd(); f.t.OneCall && end != "" {
		f.onlyOne = end
		f.job.Stop = append(slices.Clone(f.job.Stop), f.onlyOne)
	}
	if f.thinks || choice.Mode != "required" && choice.Mode != "named" {
		return
	}
	f.opening = f.m.Parser.Opening(choice.Name)
	f.said = f.m.Prompt.Tokenizer().Encode(nil, f.opening)
	f.opened = len(f.said)
	f.job.Prompt = f.job.Prompt.Cut(f.asked).Append(f.said)
	f.job.MaxTokens = max(f.job.MaxTokens-len(f.said), 1)
}

// format is what the answer is read with: calls are not when the client has no
// tools, so that what looks like one stays text, nor in JSON that it asked for
// with no calls.
func (f *flight) format() *parsers.Format {
	switch {
	case f.t.Dialect == turn.Completions:
		return nil
	case len(f.t.Tools) == 0 || f.textOnly || f.uncalled() && f.demand.format.Kind != turn.FreeText:
		return f.m.Parser.Mute()
	}
	return f.m.Parser
}

// uncalled reports that the client has tools and wants no call of them. What a
// model calls all the same is read, so that nobody sees its markup, counted and
// dropped.
func (f *flight) uncalled() bool { return f.t.ToolChoice.Mode == "none" }

// reason says why an answer ended, in the client's terms.
func (f *flight) reason(end turn.End, calls int) turn.Reason {
	ours := end.Reason == turn.Stopped && f.onlyOne != "" && end.StopText == f.onlyOne
	if calls > 0 && (ours || end.Reason == turn.Ended) {
		return turn.Called
	}
	if ours {
		return turn.Ended
	}
	return end.Reason
}

// stopText is what ended an answer, where that was a stop of the client's: the
// engine leaves it out of the text.
func (f *flight) stopText(d turn.Delta) string {
	switch n := len(d.IDs); {
	case d.End.StopText != "" && d.End.StopText != f.onlyOne:
		return d.End.StopText
	case d.End.StopID && n > 0 && slices.Contains(f.t.Sampling.StopIDs, d.IDs[n-1]):
		return f.m.Prompt.Tokenizer().Token(d.IDs[n-1])
	}
	return ""
}
