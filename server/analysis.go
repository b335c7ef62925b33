package server

import (
	"slices"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// analysis reads an answer: its events, and what it amounts to. It belongs to
// the consuming goroutine.
type analysis struct {
	f      *flight
	parser *parsers.Stream
	buf    []turn.Event

	over   bool
	err    error // why it ended early
	end    turn.End
	usage  turn.Usage
	ids    int // of the answer, read so far
	reason turn.Reason
	after  uint64         // rolling hash after an answer that ended
	answer dialect.Answer // as the client will send it back
	probs  []turn.Logprob // that no event has taken yet

	flawed    int    // calls that were mended, no tool's, or dropped as unwanted
	called    string // the tool of the last call
	given     int    // calls that the engine has read out of its answer itself
	open      bool   // the last of them has not ended
	unthought bool   // the engine reads the reasoning
}

// events parses an item. The last event of an answer is Finish or Fail. The
// slice is good until the next call.
func (an *analysis) events(it item) []turn.Event {
	if an.over {
		return nil
	}
	if it.err != nil {
		it.err = an.f.cause(it.err)
		an.parser.Cut()
		an.buf = an.parser.Close(an.buf[:0])
		an.unwanted(0)
		an.shut()
		an.onlyOne(0)
		an.note(0)
		an.over, an.err = true, it.err
		an.buf = append(an.buf, turn.Event{Kind: turn.Fail, Err: an.f.problem(it.err)})
		return an.buf
	}
	an.buf = an.buf[:0]
	for _, d := range it.deltas {
		an.take(d)
	}
	return an.buf
}

// take parses one delta.
func (an *analysis) take(d turn.Delta) {
	from := len(an.buf)
	an.ids += len(d.IDs)
	an.read(d.Events)
	at := len(an.buf)
	an.buf = an.parser.Push(an.buf, d.Text)
	if d.End != nil && an.f.t.Sampling.KeepStop {
		an.buf = an.parser.Push(an.buf, an.f.stopText(d))
	}
	if end := d.End; end != nil {
		if end.Reason == turn.Cut {
			an.parser.Cut() // nobody is to run half a call
		}
		an.buf = an.parser.Close(an.buf)
	}
	an.unwanted(at)
	an.behind(at)
	if d.End != nil {
		an.shut()
	}
	an.onlyOne(from)
	an.note(from)
	if d.End != nil {
		an.buf = append(an.buf, an.finish(*d.End))
	}
	an.likely(from, d.Logprobs)
}

// unwanted drops the calls of the parser's events, from one on, where the
// client wants none.
func (an *analysis) unwanted(from int) {
	if !an.f.uncalled() {
		return
	}
	an.buf = append(an.buf[:from], slices.DeleteFunc(an.buf[from:], an.drops)...)
}

// drops reports whether an event is of a call that the client wants none of,
// and counts it.
func (an *analysis) drops(e turn.Event) bool {
	if !an.f.uncalled() || e.Kind < turn.CallStart || e.Kind > turn.CallEnd {
		return false
	}
	if e.Kind == turn.CallStart {
		an.f.s.count.unwanted.Add(1)
		an.flawed++
	}
	return true
}

// likely hands log probabilities on with the first event that comes of their
// tokens, or with the next one where none does.
func (an *analysis) likely(from int, ps []turn.Logprob) {
	if an.probs = append(an.probs, ps...); len(an.probs) > 0 && len(an.buf) > from {
		an.buf[from].Logprobs, an.probs = an.probs, nil
	}
}

// finish makes the last event of an answer that ended.
func (an *analysis) finish(end turn.End) turn.Event {
	an.over, an.end = true, end
	calls := an.parser.Calls()
	if an.f.uncalled() {
		calls = 0
	}
	an.reason = an.f.reason(end, calls+an.given)
	if an.reason != turn.Stopped {
		end.StopText = ""
	}
	an.usage = an.f.usage(end.Usage)
	if an.usage.Thinking == 0 {
		an.usage.Thinking = an.thoughts()
	}
	an.usage.Thinking = min(an.usage.Thinking, an.usage.Output)
	an.f.found(end.Usage)
	return turn.Event{Kind: turn.Finish, Reason: an.reason, StopText: end.StopText, Usage: an.usage, Extra: an.extra()}
}

// thoughts counts the tokens of the reasoning; engines do not count it apart.
func (an *analysis) thoughts() (n int) {
	for text := range an.answer.Thoughts {
		n += len(an.f.m.Prompt.Tokenizer().EncodeText(nil, text))
	}
	return n
}

// note collects the answer's events from the given one on.
func (an *analysis) note(from int) {
	for _, e := range an.buf[from:] {
		an.answer.Add(e)
		if e.Kind == turn.CallStart {
			an.called = e.Call.Name
		}
		if e.Kind == turn.CallEnd {
			an.f.s.count.flawed(e.Call.Flaws)
			if e.Call.Flaws != 0 {
				an.flawed++
			}
		}
	}
}
