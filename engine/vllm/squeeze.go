package vllm

import (
	"bytes"
	"io"

	"github.com/agentinfer/dyn/engine/remote"
)

// newEvents reads an answer's events without the prompt's echo. Servers that
// only speak like vLLM may answer with a document.
func newEvents(r io.Reader) *remote.Events {
	e := remote.NewEvents(r)
	e.Squeeze, e.Documents = squeeze, true
	return e
}

var echo = []byte(`"prompt_token_ids":[`)

// squeeze drops the numbers of an unfinished echo of the prompt, which nobody
// reads and which is most of a first chunk, and returns what length is left.
// Inside a JSON string its mark would be written with backslashes.
func squeeze(b []byte) int {
	at := bytes.LastIndex(b, echo)
	if at < 0 || bytes.IndexByte(b[at:], ']') >= 0 {
		return len(b)
	}
	return at + len(echo)
}
