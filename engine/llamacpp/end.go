package llamacpp

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// finish makes the last delta of an answer that the server ended.
func (s *stream) finish(e event) (turn.Delta, error) {
	s.whole.Store(true)
	s.ended = io.EOF
	f := e.final
	s.settle(f)
	if f.predicted == 0 && s.made.count == 0 {
		s.ended = fmt.Errorf("read answer: an answer without a token: %w", turn.ErrLost)
		return turn.Delta{}, s.ended
	}
	d := s.ending()
	d.Text += e.text
	d.End = &turn.End{Usage: turn.Usage{Prompt: f.prompt, Output: f.predicted, Cached: s.progress.cached}}
	if f.cached >= 0 {
		s.told = true
		d.End.Usage.Cached = f.cached
	}
	d.End.Usage.Cached = min(d.End.Usage.Cached, f.prompt)
	switch {
	case f.reason == "word":
		d.End.Reason, d.End.StopText = turn.Stopped, f.word
	case !s.met && (f.reason == "limit" || f.truncated):
		d.End.Reason = turn.Cut
	default:
		d.End.Reason, d.End.StopID = turn.Ended, len(d.IDs) > 0
		d = s.unspoken(d)
	}
	return s.shown(d), nil
}

// stopped makes the last delta of an answer that met a stop id of the job's,
// whatever the server would go on with.
func (s *stream) stopped() (turn.Delta, error) {
	s.ended = io.EOF
	d := s.ending()
	d.End = &turn.End{Reason: turn.Ended, StopID: len(d.IDs) > 0, Usage: turn.Usage{
		Prompt: s.job.Prompt.Len(), Cached: s.progress.cached, Output: s.made.count,
	}}
	d = s.unspoken(d)
	_ = s.Close()
	return s.shown(d), nil
}

// ending is what was not told yet when the answer ended.
func (s *stream) ending() turn.Delta {
	if s.last.Text != "" {
		return s.last
	}
	return s.lag.rest("")
}

// unspoken takes the text of a stop id of ours out of the last delta. The
// server shows none for a special token; any other is text like all before it.
func (s *stream) unspoken(d turn.Delta) turn.Delta {
	if !s.met || d.Text == "" || len(d.IDs) == 0 {
		return d
	}
	if text, err := s.client.detokenize(s.ctx, d.IDs[len(d.IDs)-1:]); err == nil {
		d.Text = strings.TrimSuffix(d.Text, text)
	}
	return d
}

// settle tells the mirror how the request ended, once; f is nil where the
// server did not tell.
func (s *stream) settle(f *final) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claim == nil {
		return
	}
	s.client.end(s.claim, s.outcome(f))
	s.claim = nil
}

// outcome is what the slot holds now: the prompt as far as it was computed, and
// the answer but for its last token. mu must be held.
func (s *stream) outcome(f *final) outcome {
	o := outcome{slot: -1, cached: -1, ids: s.job.Prompt, size: s.job.Prompt.Len()}
	if s.progress.set {
		o.cached = s.progress.cached
	}
	switch {
	case s.made.count > 0:
		o.ids = o.ids.Append(s.made.ids)
		o.size += s.made.count - 1
	case f == nil:
		o.size = min(s.progress.processed, o.size)
	}
	if f != nil {
		o.slot, o.cached, o.size = f.slot, f.cached, f.holds
	}
	o.ids = o.ids.Cut(min(o.ids.Len(), o.size))
	return o
}
