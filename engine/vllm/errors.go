package vllm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 64 << 10

// asked is what was asked of the server; the zero value is no turn.
type asked struct {
	prompt  int // tokens
	context int // of the server; 0 is not known
}

// err maps what the server said to what it means for the turn.
func (f *fault) err(of asked) error {
	switch {
	case f.status == http.StatusServiceUnavailable, f.status == http.StatusTooManyRequests:
		return fmt.Errorf("engine refused for load: %s: %w: %w", f.message, turn.ErrBusy, turn.ErrLost)
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		return fmt.Errorf("engine does not take our key: %s: %w", f.message, turn.ErrLost)
	case f.status == http.StatusNotFound, f.status == http.StatusMethodNotAllowed: // route and model are not the turn's
		return fmt.Errorf("engine does not serve this model any more: %s: %w", f.message, turn.ErrLost)
	case f.status >= 400 && f.status < 500:
		r := &turn.Refused{Status: f.status, Message: plain(f.message)}
		if most := f.tooLong(of); most > 0 {
			r.Prompt, r.Limit = of.prompt, most-1 // the answer wants one
		}
		return r
	}
	return fmt.Errorf("engine failed with status %d: %s: %w", f.status, f.message, turn.ErrLost)
}

// The ways to say that a prompt does not fit, with the context.
var contextWords = []string{"maximum context length is ", "maximum model length of "}

// tooLong returns the server's context when the prompt was over it; 0 when it
// was something else. A prompt that fills the context to the last token is told
// as an answer without room.
func (f *fault) tooLong(of asked) int {
	for _, words := range contextWords {
		if _, rest, ok := strings.Cut(f.message, words); ok {
			digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
			if n, _ := strconv.Atoi(digits); of.prompt >= n {
				return n
			}
			return 0 // prompt and answer together are
		}
	}
	if f.param == "max_tokens" && strings.Contains(f.message, "got 0") && of.prompt > 0 {
		return cmp.Or(of.context, of.prompt)
	}
	return 0
}

// maxMessage is how much of a message is told.
const maxMessage = 1 << 10

// plain makes one line of a message. Of the validator's lists, which are
// Python's, it is the first entry: where, and what is wrong there.
func plain(message string) string {
	first, rest, _ := strings.Cut(message, "\n")
	if strings.HasSuffix(first, " validation error:") || strings.HasSuffix(first, " validation errors:") {
		if what := quoted(rest, "'msg': "); what != "" {
			if where := strings.TrimPrefix(quoted(rest, "'loc': "), "body."); where != "" {
				what = where + ": " + what
			}
			return what
		}
	}
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return message
}

// quoted is the Python string behind a word; "" when there is none.
func quoted(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	if rest == "" {
		return ""
	}
	what, _, ok := strings.Cut(rest[1:], rest[:1])
	if !ok || strings.Contains(what, "\n") {
		return ""
	}
	return what
}

// refusal reads a response that is no answer. reason is its status in words.
func refusal(status int, reason string, r io.Reader, of asked) error {
	body, _ := io.ReadAll(io.LimitReader(r, maxErrorBody)) // what came is what we can tell
	f := fault{status: status, param: gjson.GetBytes(body, "error.param").Str}
	for _, path := range []string{"error.message", "error", "message", "detail"} {
		if v := gjson.GetBytes(body, path); v.Type == gjson.String {
			f.message = v.Str
			break
		}
	}
	if f.message == "" {
		f.message = reason
	}
	return f.err(of)
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
