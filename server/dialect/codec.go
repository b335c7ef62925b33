package dialect

import "github.com/agentinfer/dyn/turn"

// Codec is one of the three APIs. It has no state and is safe for concurrent
// use.
type Codec interface {
	Dialect() turn.Dialect
	// Decode reads a request. It fills everything but ID and Arrived; Who is
	// filled as far as headers and body tell, with Session "" when they do
	// not. header returns a header's value by any spelling of its name, ""
	// when absent, and for OurHeaders the names of those; it may be nil. With a Recall, which may be nil, what it
	// remembers of former bodies is taken over. An error is always a *Problem.
	// Nothing of body is kept.
	Decode(body []byte, header func(name string) string, rc *Recall) (*turn.Turn, error)
	// Stream returns the encoder of one streamed answer.
	Stream(t *turn.Turn) Encoder
	// Document returns the collector of one answer in a single document.
	Document(t *turn.Turn) Document
	// Problem returns an error body.
	Problem(p *Problem, requestID string) []byte
}

// Encoder writes one answer as server-sent events. It belongs to one
// goroutine. All methods append to dst and return it.
type Encoder interface {
	// Mark tells, before Open, how many tokens of the prompt lie before the
	// last cache_control; only messages reports that. Without it the encoder
	// goes by where the ask stands.
	Mark(tokens int)
	// Open writes the first events. u.Prompt is exact, u.Cached may be a
	// prediction; Finish corrects it.
	Open(dst []byte, u turn.Usage) []byte
	// Event writes one event. Finish and Fail write the whole ending of the
	// stream, also when Open was never called; later events write nothing.
	Event(dst []byte, e turn.Event) []byte
	// Ping writes what this dialect's clients count as a sign of life. It
	// may come before Open.
	Ping(dst []byte) []byte
}

// Document collects one answer. It belongs to one goroutine.
type Document interface {
	// Mark is as in Encoder; it may come at any time before JSON.
	Mark(tokens int)
	// Add takes one event; those after Finish or Fail are ignored.
	Add(e turn.Event)
	// JSON returns the document and its HTTP status: 200, or the status of
	// the problem when the answer failed or never ended.
	JSON() (status int, body []byte)
}

// For returns the codec of a dialect, or nil for a name that is none.
func For(d turn.Dialect) Codec {
	switch d {
	case turn.Messages:
		return messages{}
	case turn.Responses:
		return responses{}
	case turn.Chat:
		return chat{}
	}
	return nil
}
