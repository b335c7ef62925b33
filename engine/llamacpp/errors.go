package llamacpp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// judge says what an answer means that is not a 200; nil leaves it to
// remote.Fault.
func judge(status int, body []byte) error {
	v := gjson.GetBytes(body, "error")
	if !v.IsObject() {
		return nil
	}
	return meaning(status, v)
}

// meaning says what an error of the server means. A status of 500 does not
// tell whose fault it is: the server says so of JSON that it cannot use, too.
func meaning(status int, v gjson.Result) error {
	message := v.Get("message").String()
	switch kind := v.Get("type").Str; {
	case status == http.StatusServiceUnavailable && strings.HasPrefix(message, "Loading"):
		return fmt.Errorf("engine is not ready: %s: %w: %w", message, turn.ErrUnsent, turn.ErrLost)
	case kind == "exceed_context_size_error":
		return tooLong(v, message)
	case status == http.StatusNotImplemented:
		return fmt.Errorf("%s: %w", message, errors.ErrUnsupported)
	case status == http.StatusInternalServerError && strings.Contains(message, "[json.exception."):
		return &turn.Refused{Status: http.StatusBadRequest, Message: message}
	}
	return remote.Fault(status, message)
}

// tooLong is a prompt beyond the context of a slot, which takes one token of
// an answer at least.
func tooLong(v gjson.Result, message string) error {
	r := &turn.Refused{Status: http.StatusBadRequest, Message: message}
	if prompt, context := int(v.Get("n_prompt_tokens").Int()), int(v.Get("n_ctx").Int()); prompt > 0 && context > 0 {
		r.Prompt, r.Limit = prompt, context-1
		r.Message = fmt.Sprintf("the prompt has %d tokens, and this engine's context is %d for prompt and answer: "+
			"shorten it, or give each slot more context", prompt, context)
	}
	return r
}
