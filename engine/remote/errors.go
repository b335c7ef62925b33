package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// maxError is how much of an error's body is read.
const maxError = 64 << 10

// Fault maps what a server said to what it means for the turn: 503 and 429 are
// turn.ErrBusy, a key that it does not take is the worker's fault, other 4xx
// are a *turn.Refused, and all else is a lost worker.
func Fault(status int, message string) error {
	message = plain(message)
	switch {
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return fmt.Errorf("engine refused for load: %s: %w: %w", message, turn.ErrBusy, turn.ErrLost)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("engine does not take our key: %s: %w", message, turn.ErrLost)
	case status >= 400 && status < 500:
		return &turn.Refused{Status: status, Message: message}
	}
	return fmt.Errorf("engine failed with status %d: %s: %w", status, message, turn.ErrLost)
}

// maxMessage is how much of what a server says of an error is told, in bytes.
const maxMessage = 4 << 10

// plain is a server's message as it can be shown: not without end, and without
// what a terminal would obey.
func plain(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// TooLong adds to a refusal that the prompt did not fit a context of so many
// tokens, where that is so and the context is known; the answer wants one of
// them. Other errors stay as they are.
func TooLong(err error, prompt, context int) error {
	var r *turn.Refused
	if context > 0 && prompt >= context && errors.As(err, &r) {
		r.Prompt, r.Limit = prompt, context-1
	}
	return err
}

// Message is what a body of one of the usual forms says went wrong; "" when it
// says nothing.
func Message(body []byte) string {
	for _, path := range []string{"error.message", "error", "message", "detail"} {
		if v := gjson.GetBytes(body, path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// Unreachable says what a failed exchange means: our own cancel, or a server
// that cannot be reached. One that nobody listened to never had the request:
// turn.ErrUnsent.
func Unreachable(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil && overdue(ctx, err):
		return fmt.Errorf("%w: %w: %w", turn.ErrLost, context.DeadlineExceeded, err)
	case cause == nil:
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", turn.ErrLost, cause) // says more than what the transport makes of it
	default:
		return cause
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %w: %w", turn.ErrUnsent, turn.ErrLost, err)
	}
	return fmt.Errorf("%w: %w", turn.ErrLost, err)
}

// overdue reports whether an error is that of a socket that has the deadline of
// ctx too, and told first that it is over.
func overdue(ctx context.Context, err error) bool {
	end, ok := ctx.Deadline()
	return ok && !time.Now().Before(end) && errors.Is(err, os.ErrDeadlineExceeded)
}

// Broken says why reading an answer failed: our own cancel, or a connection
// that ended before its time.
func Broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read answer: %w: %w", turn.ErrLost, err)
}
