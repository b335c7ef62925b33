package turn

import "time"

// RawTurn is an answer as the model gave it, kept so that the next prompt can
// repeat it token by token. It is content: it is kept privately and expires.
type RawTurn struct {
	Model   string // whose ids these are
	Key     uint64 // rolling hash of the history that ends with the answer
	Session string // whose answer it was, so that it can be forgotten; "" is unknown

	Opening  []uint32 // what the prompt held after the last message
	IDs      []uint32 // what the model said, without a stop id
	Thinking string   // the part of it that is reasoning, as clients get it
	At       time.Time
}
