package vllm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// judge tells what is not there from what was refused: routes and the model are
// not the turn's choice. Of routes that work only with a flag vLLM says that
// they are forbidden.
func judge(status int, body []byte) error {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
	case http.StatusForbidden:
		if !strings.Contains(remote.Message(body), "disabled") {
			return nil
		}
	default:
		return nil
	}
	return fmt.Errorf("the engine does not serve this: %s: %w: %w",
		cmp.Or(remote.Message(body), http.StatusText(status)), errors.ErrUnsupported, turn.ErrLost)
}

// asked is what was asked of the server.
type asked struct {
	prompt  int // tokens; 0 is not known
	context int // of the server; 0 is not known
}

// explain puts a refusal in words for people, and adds the numbers of a prompt
// that is too long. Other errors stay as they are.
func (a asked) explain(err error) error {
	var r *turn.Refused
	if !errors.As(err, &r) {
		return err
	}
	err = remote.TooLong(err, a.prompt, a.over(r.Message))
	r.Message = plain(r.Message)
	return err
}

// The ways to say that a prompt does not fit, with the context.
var contextWords = []string{"maximum context length is ", "maximum model length of "}

// full is how a prompt is refused that fills the context to the last token: as
// an answer without room.
const full = "max_tokens must be at least 1, got 0"

// over returns the server's context when a message is about that; 0 when it is
// about something else.
func (a asked) over(message string) int {
	for _, words := range contextWords {
		if n := numberAfter(message, words); n > 0 {
			return n
		}
	}
	if strings.HasPrefix(message, full) {
		return cmp.Or(a.context, a.prompt)
	}
	return 0
}

// numberAfter is the number behind words; 0 when there is none.
func numberAfter(text, words string) int {
	_, rest, _ := strings.Cut(text, words)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, _ := strconv.Atoi(digits)
	return n
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
