package server

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// hold has the arguments of the one tool that must be called held to its
// schema, where some worker can: the call begins in the prompt, so all that is
// left for the model to say are the arguments, and a grammar ends the answer
// behind them. A schema that an engine cannot hold answers to is then left a
// wish, see unhold.
func (f *flight) hold() {
	choice := f.t.ToolChoice
	if f.opening == "" || choice.Mode != "named" || f.demand.format.Kind != turn.FreeText {
		return
	}
	i := slices.IndexFunc(f.t.Tools, func(t turn.Tool) bool { return t.Name == choice.Name })
	if i < 0 || f.t.Tools[i].Custom || len(f.t.Tools[i].Schema) == 0 {
		return
	}
	closing := f.m.Parser.Closing()
	if closing == "" {
		return // a format whose arguments are no JSON
	}
	d := f.demand
	d.format = turn.Format{Kind: turn.JSONSchema, Name: "arguments", Schema: f.t.Tools[i].Schema}
	if !f.m.able(d) {
		return
	}
	f.demand, f.job.Format = d, d.format
	f.closing = closing
}

// unhold lets an answer go on that is not held any more: an engine refused the
// schema, or what one worker began another is to end. It is false where that is
// not why err came.
func (f *flight) unhold(err error) bool {
	var refused *turn.Refused
	if f.closing == "" || f.job.Format.Kind == turn.FreeText || !errors.As(err, &refused) || refused.Limit > 0 {
		return false
	}
	f.free()
	return true
}

// free lets go of the form of the arguments.
func (f *flight) free() {
	if f.closing != "" {
		f.demand.format, f.job.Format = turn.Format{}, turn.Format{}
	}
}

// closed completes the call when its arguments are whole. text is what the
// model said with the delta.
func (f *flight) closed(d *turn.Delta, text string) {
	if f.closing == "" {
		return
	}
	f.args = append(f.args, text...)
	if d.End != nil && d.End.Reason == turn.Ended && json.Valid(f.args) {
		d.Text += f.closing
		f.said = f.m.Prompt.Tokenizer().Encode(f.said, f.closing)
	}
}
