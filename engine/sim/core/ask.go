package core

import (
	"errors"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/kv"
)

// Errors of Ask and Next.
var (
	ErrBusy     = errors.New("too many requests")  // over MaxOpen
	ErrDraining = errors.New("engine is draining") // takes no new asks
	ErrDead     = errors.New("engine is dead")
	ErrCut      = errors.New("cut by a scripted fault")
)

// Ask is one prompt and what may come of it. The engine owns it from Submit
// on.
type Ask struct {
	Prompt []uint32     // at least one id, at most the context minus one
	Chain  []kv.Hash    // hashes of the prompt's whole blocks, see kv.Chain
	Script brain.Answer // what is said

	MaxTokens int // at least 1; prompt and answer must fit the context
	MinTokens int
	IgnoreEnd bool     // the end token does not end the answer
	StopIDs   []uint32 // further ids that do
	Stop      []string
	KeepStop  bool // the stop string or stop id is part of the text
	Special   bool // special tokens are part of the text

	Salt     string
	Priority int  // lower is more important
	Report   bool // tell hit blocks again
}

// Reason says why an answer ended, in vLLM's words.
type Reason string

// The reasons.
const (
	Stopped Reason = "stop"
	Length  Reason = "length"
	Aborted Reason = "abort"
)

// End is the end of an answer.
type End struct {
	Reason   Reason
	StopText string // the stop string that was met
	StopID   int    // the id of StopIDs that was met, else -1
}

// Piece is what came since the last piece. Text and ids are not aligned.
type Piece struct {
	Text   []byte
	IDs    []uint32
	End    *End // the last piece has one
	Cached int  // prompt tokens found in the cache; set once ids came
}
