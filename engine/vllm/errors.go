package vllm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 64 << 10

// err maps what the server said to what it means for the turn.
func (f *fault) err() error {
	switch {
	case f.status == http.StatusServiceUnavailable, f.status == http.StatusTooManyRequests:
		return fmt.Errorf("engine refused for load: %s: %w: %w", f.message, turn.ErrBusy, turn.ErrLost)
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		return fmt.Errorf("engine does not take our key: %s: %w", f.message, turn.ErrLost)
	case f.status >= 400 && f.status < 500:
		return &turn.Refused{Status: f.status, Message: f.message}
	}
	return fmt.Errorf("engine failed with status %d: %s: %w", f.status, f.message, turn.ErrLost)
}

// refusal reads a response that is no answer. reason is its status in words.
func refusal(status int, reason string, r io.Reader) error {
	body, _ := io.ReadAll(io.LimitReader(r, maxErrorBody)) // what came is what we can tell
	f := fault{status: status}
	for _, path := range []string{"error.message", "error", "message", "detail"} {
		if v := gjson.GetBytes(body, path); v.Type == gjson.String {
			f.message = v.Str
			break
		}
	}
	if f.message == "" {
		f.message = reason
	}
	return f.err()
}

// unreachable says what a failed request means: our own cancel, or a server
// that cannot be reached.
func unreachable(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
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
