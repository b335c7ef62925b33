package vllm

import (
	"encoding/json"

	"github.com/agentinfer/dyn/turn"
)

// spelling is how a server takes the form that an answer shall have. Which
// one works is probed; a server ignores the fields that it does not know.
type spelling uint32

// The spellings, in the order in which they are tried.
const (
	unheld         spelling = iota // it does not hold answers to a form
	structured                     // structured_outputs: vLLM 0.12 and later
	guided                         // guided_json: removed in 0.12, see docs.vllm.ai, "Structured Outputs"
	responseFormat                 // response_format, as OpenAI's chat API has it
)

// anyObject is the schema of JSONObject.
var anyObject = json.RawMessage(`{"type":"object"}`)

// append writes the fields that ask for a form.
func (s spelling) append(b []byte, f turn.Format) []byte {
	schema := f.Schema
	switch f.Kind {
	case turn.FreeText:
		return b
	case turn.JSONObject:
		schema = anyObject
	}
	switch s {
	case structured:
		return append(append(append(b, `,"structured_outputs":{"json":`...), schema...), '}')
	case guided:
		return append(append(b, `,"guided_json":`...), schema...)
	case responseFormat:
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":`...)
		return append(append(b, schema...), `}}`...)
	}
	return b
}
