package openai

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// Append appends the members of a request that all servers take alike, without
// the comma before the first. parses says that the server reads calls out of
// its answers: one that does not takes no choice but none.
func Append(b []byte, j turn.Job, parses bool) []byte {
	t := j.Chat
	b = AppendMessages(append(b, `"messages":`...), t.Messages)
	if Shown(t.Tools) {
		b = AppendTools(append(b, `,"tools":`...), t.Tools)
		b = appendChoice(b, t, parses)
	}
	if len(j.Switches) > 0 {
		b = append(append(b, `,"chat_template_kwargs":`...), j.Switches...)
	}
	if len(t.Stop) > 0 {
		q, _ := json.Marshal(t.Stop)
		b = append(append(b, `,"stop":`...), q...)
	}
	if j.MaxTokens > 0 {
		b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(j.MaxTokens), 10)
	}
	if j.Sampling.Logprobs {
		b = append(b, `,"logprobs":true,"top_logprobs":`...)
		b = strconv.AppendInt(b, int64(max(j.Sampling.TopLogprobs, 0)), 10)
	}
	b = appendForm(b, j.Format)
	return append(b, `,"stream":true,"stream_options":{"include_usage":true}`...)
}

// Chooses reports whether the model of a turn may call tools.
func Chooses(t *turn.Turn) bool { return Shown(t.Tools) && t.ToolChoice.Mode != "none" }

// appendChoice writes which tools the model may or must call.
func appendChoice(b []byte, t *turn.Turn, parses bool) []byte {
	mode := cmp.Or(t.ToolChoice.Mode, "auto")
	if !parses {
		mode = "none"
	}
	if t.OneCall && mode != "none" {
		b = append(b, `,"parallel_tool_calls":false`...)
	}
	if mode == "named" {
		b = appendString(append(b, `,"tool_choice":{"type":"function","function":{"name":`...), t.ToolChoice.Name)
		return append(b, `}}`...)
	}
	return appendString(append(b, `,"tool_choice":`...), mode)
}

// appendForm asks for a form of the answer.
func appendForm(b []byte, f turn.Format) []byte {
	switch f.Kind {
	case turn.JSONObject:
		return append(b, `,"response_format":{"type":"json_object"}`...)
	case turn.JSONSchema:
		b = appendString(append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...), cmp.Or(f.Name, "answer"))
		b = strconv.AppendBool(append(b, `,"strict":`...), f.Strict)
		return append(append(append(b, `,"schema":`...), f.Schema...), `}}`...)
	}
	return b
}
