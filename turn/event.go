package turn

import "encoding/json"

// EventKind tells what happened in an answer.
type EventKind uint8

// The kinds of events, in the order in which they may come: any mix of
// reasoning, text and whole calls (start, args…, end), then one Finish or one
// Fail, which is always last.
const (
	Reasoning EventKind = iota // Text is a piece of thinking
	Says                       // Text is a piece of the visible answer
	CallStart                  // Call has index, id and name
	CallArgs                   // Text is a piece of the arguments' JSON; Call.Index says whose
	CallEnd                    // the call is whole
	Finish                     // Reason, StopText and Usage are set
	Fail                       // Err is set; the stream is over
)

// Event is one step of an answer, free of its dialect.
type Event struct {
	Kind     EventKind
	Text     string
	Call     Call
	Reason   Reason
	StopText string // the stop string that was met, with Stopped
	Usage    Usage
	Err      error

	Choice   int             // which of Turn.N answers it is of, from 0; each has its own Finish
	Logprobs []Logprob       // of the tokens since the last event that had some, where the client asked for them
	Extra    json.RawMessage // with Finish: the nvext object of the answer, or nil
}

// Call names a tool call of an answer. Index counts from 0 within the answer.
type Call struct {
	Index int
	ID    string
	Name  string // flat form, see Tool.Name
	Flaws Flaw   // with CallEnd: what was wrong with it
}

// Flaw says what was wrong with a call as the model wrote it. Several may be
// set.
type Flaw uint8

// The flaws.
const (
	Repaired  Flaw = 1 << iota // arguments that were open are closed, or were made JSON
	Mistyped                   // a value is not of its schema's type and stays text
	Unknown                    // no tool on offer has the name
	Truncated                  // a token limit ended the answer inside the call; its arguments may break off
)

// Reason says why an answer ended.
type Reason string

// The reasons.
const (
	Ended   Reason = "end"    // the model was done
	Called  Reason = "calls"  // done, and it calls tools
	Cut     Reason = "length" // MaxTokens or the context was reached
	Stopped Reason = "stop"   // a stop string of the client was met
	Aborted Reason = "abort"  // somebody aborted it
	Failed  Reason = "fail"   // the engine was lost and no other could go on
)

// Usage counts tokens as the engine reported them. Cached is part of Prompt,
// Thinking part of Output.
type Usage struct {
	Prompt   int
	Cached   int
	Output   int
	Thinking int
}
