package core

import "slices"

// judge adds an id to the text of an answer and says whether it ends there.
// The order of the tests is vLLM's: too few tokens, the end token, stop ids,
// the token limit; a stop string that the text meets outranks the limit.
func (e *Engine) judge(a *Answer, id uint32) *End {
	end := e.ends(a, id)
	silent := end != nil && end.Reason == Stopped && !a.ask.KeepStop
	if silent || !a.ask.Special && e.cfg.Tokenizer.Special(id) {
		return end
	}
	fresh := a.text.push(e.cfg.Tokenizer.Token(id))
	if len(a.text.stop) == 0 || a.made <= a.ask.MinTokens {
		return end
	}
	if s := a.text.met(fresh); s != "" {
		return &End{Reason: Stopped, StopText: s, StopID: -1}
	}
	return end
}

// ends tests an id and the number of ids alone.
func (e *Engine) ends(a *Answer, id uint32) *End {
	switch {
	case a.made < a.ask.MinTokens:
		return nil
	case id == e.cfg.End && !a.ask.IgnoreEnd:
		return &End{Reason: Stopped, StopID: -1}
	case slices.Contains(a.ask.StopIDs, id):
		return &End{Reason: Stopped, StopID: int(id)}
	case a.made >= a.ask.MaxTokens:
		return &End{Reason: Length, StopID: -1}
	}
	return nil
}
