package dialect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Kind is what kind of problem a request met. It decides the HTTP status and
// the error type of each dialect.
type Kind int

// The kinds of problems.
const (
	Invalid      Kind = iota // the request is wrong; Param says where
	Unauthorized             // no key, or a wrong one
	Forbidden                // the key may not do this
	NotFound                 // no such model (Param "model") or route
	Method                   // the route knows other methods
	TooLarge                 // the body is over the limit
	TooLong                  // the prompt is over the context; Prompt and Limit are set
	Limited                  // a limit of the client's key is met
	Busy                     // every worker is full and so is the queue
	Unavailable              // no worker can take the turn, or one was lost
	TimedOut                 // the answer took too long
	Left                     // the client hung up before its answer; few are there to read this
	Internal                 // a fault of ours
)

// Problem is an error that a client is told. The zero value is an invalid
// request without words.
type Problem struct {
	Kind       Kind
	Message    string        // not used with TooLong, which has each dialect's own wording
	Code       string        // OpenAI's code; with one, Message stands alone. "" goes by Kind
	Param      string        // the field at fault, in the dialect's spelling; "" when none is
	Prompt     int           // TooLong: tokens of the prompt
	Limit      int           // TooLong: tokens that the model takes
	RetryAfter time.Duration // when to come back; 0 is no advice
}

// Error returns the text, with the field when there is one.
func (p *Problem) Error() string {
	switch {
	case p.Kind == TooLong:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", p.Prompt, p.Limit)
	case p.Param == "" || p.Code != "" || strings.HasPrefix(p.Message, p.Param):
		return p.Message
	}
	return p.Param + ": " + p.Message
}

// StatusFor returns the HTTP status in a dialect. Anthropic's API has one of
// its own for a server that is full.
func (p *Problem) StatusFor(d turn.Dialect) int {
	switch p.Kind {
	case Unauthorized:
		return 401
	case Forbidden:
		return 403
	case NotFound:
		return 404
	case Method:
		return 405
	case TooLarge:
		return 413
	case Limited:
		return 429
	case Busy:
		if d == turn.Messages {
			return 529
		}
		return 503
	case Unavailable:
		return 503
	case TimedOut:
		return 504
	case Left:
		return 499
	case Internal:
		return 500
	}
	return 400
}

// Explain turns any error into what a client may be told: a *Problem in the
// chain as it is, an engine's refusal as an invalid request, a lost or busy
// worker as such. All else is internal and keeps its words to itself.
func Explain(err error) *Problem {
	var p *Problem
	var refused *turn.Refused
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refused) && refused.Limit > 0:
		return &Problem{Kind: TooLong, Prompt: refused.Prompt, Limit: refused.Limit}
	case errors.As(err, &refused):
		return &Problem{Kind: Invalid, Message: refused.Message}
	case errors.Is(err, turn.ErrBusy):
		return &Problem{Kind: Busy, Message: "all workers are busy, try again", RetryAfter: time.Second}
	case errors.Is(err, turn.ErrLost):
		return &Problem{Kind: Unavailable, Message: "the worker was lost and no other could go on", RetryAfter: time.Second}
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{Kind: TimedOut, Message: "the answer took too long", RetryAfter: time.Second}
	}
	return &Problem{Kind: Internal, Message: "internal error"}
}
