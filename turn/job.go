package turn

import "encoding/json"

// Job is what goes to a worker: token ids in, text and ids out.
type Job struct {
	ID        string // X-Request-Id
	Prompt    IDs
	MaxTokens int // always set, at least 1
	Stop      []string
	StopIDs   []uint32 // ids that end the answer; the last id may be one of them
	Sampling  Sampling
	Format    Format // enforced by the engine; see Capabilities.Formats
	Salt      string
	Priority  int // higher is more important; the adapter knows the engine's sign

	// Marks are the texts of special tokens that an answer must show, since
	// parsers look for them. They belong to the model and are never written.
	Marks []string

	// Chat is the turn as it is for the engine's own chat API, after
	// prompt.Steady; the engine makes its prompt of it, and Prompt only stands
	// for that. nil is the usual way, by ids. A worker whose Capabilities have
	// no Chat does not take it. MaxTokens of 0 is then what the context leaves.
	Chat *Turn
	// Switches are the variables of the chat template, a JSON object or nil; with
	// Chat.
	Switches json.RawMessage
}

// Delta is one step of a worker's answer. Text and IDs are not aligned: an
// engine holds text back where a stop string or half a character may begin.
type Delta struct {
	Text string
	IDs  []uint32 // nil from engines that send none
	End  *End     // set on the last delta only

	// Events are reasoning and calls that the engine has read out of its answer
	// itself, and then no part of Text; they come before it. With Job.Chat only.
	Events []Event

	// Logprobs are those of IDs, one each, where the job asked for them.
	Logprobs []Logprob
}

// Logprob is how likely a token was, as the engine tells it.
type Logprob struct {
	Token string    // its text as the engine spells it
	Value float64   // NaN is unknown
	Top   []Logprob // the likeliest tokens at that place, best first; without Top
}

// End says how a worker's answer ended.
type End struct {
	Reason   Reason // Ended, Cut, Stopped or Aborted
	StopText string // the stop string met, with Stopped
	StopID   bool   // the last id is a stop id and no part of the answer
	Usage    Usage
}

// Stream is a worker's answer. Next blocks for the next delta and must not be
// called after a delta with End or an error. An error before End means that
// the worker was lost (see ErrLost) or that the request was at fault (see
// Refused). Close aborts what still runs and is safe to call twice; a stream
// must be closed. A stream belongs to one goroutine, Close to any.
type Stream interface {
	Next() (Delta, error)
	Close() error
}
