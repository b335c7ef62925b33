package dialect

import (
	"strconv"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// object is what a response object says besides its result.
type object struct {
	id      string
	created int64
	model   string
	echo    []byte // the settings, as fields of an object
	store   bool
	before  string // the response that it goes on from
	summary bool   // thinking goes into the summary, else into the content
}

func newObject(t *turn.Turn) object {
	o := object{id: answerID("resp_", t), created: created(t), model: t.Model, store: t.Store, before: t.Previous}
	o.echo = echoNothing[1 : len(echoNothing)-1]
	if doc, err := tape.ParseKnown(t.Echo, firstEchoed); err == nil {
		s := doc.Root().Key(echoed[0].key).Key("summary")
		o.summary = s.Kind() == tape.String && s.Text() != "none"
		o.echo = t.Echo[1 : len(t.Echo)-1]
		doc.Free()
	}
	return o
}

// firstEchoed skips all settings of an echo but the first, which may be long.
func firstEchoed(key, rest []byte) tape.Skip {
	if string(key) == echoed[0].key {
		return tape.Skip{}
	}
	return tape.Skip{Bytes: len(rest) - 1}
}

// result is how a response stands.
type result struct {
	status  string
	problem *Problem
	usage   *turn.Usage
	output  []byte // items, joined by commas
	extra   []byte // nvext
}

// appendShort appends the object of a sign of life: who it is, no settings.
func (o *object) appendShort(dst []byte) []byte {
	dst = appendString(append(dst, `{"id":`...), o.id)
	dst = appendInt(append(dst, `,"object":"response","created_at":`...), o.created)
	dst = appendString(append(dst, `,"status":"in_progress","model":`...), o.model)
	return append(dst, `,"output":[]}`...)
}

func (o *object) appendObject(dst []byte, r result) []byte {
	dst = appendString(append(dst, `{"id":`...), o.id)
	dst = appendInt(append(dst, `,"object":"response","created_at":`...), o.created)
	dst = append(append(append(dst, `,"status":"`...), r.status...), '"')
	dst = append(dst, `,"background":false,"error":`...)
	dst = appendFailure(dst, r.problem)
	dst = append(dst, `,"incomplete_details":`...)
	if r.status == "incomplete" {
		dst = append(dst, `{"reason":"max_output_tokens"}`...)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(append(dst, ','), o.echo...)
	dst = appendString(append(dst, `,"model":`...), o.model)
	dst = append(append(append(dst, `,"output":[`...), r.output...), ']')
	dst = appendOrNull(append(dst, `,"previous_response_id":`...), o.before)
	dst = strconv.AppendBool(append(dst, `,"store":`...), o.store)
	dst = appendResponsesUsage(append(dst, `,"usage":`...), r.usage)
	return append(appendExtra(dst, r.extra), '}')
}

// appendFailure appends the error of a failed response. Codex looks for the
// codes of a full context and of a server to try again.
func appendFailure(dst []byte, p *Problem) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	code := "server_error"
	switch p.Kind {
	case TooLong:
		code = "context_length_exceeded"
	case Limited:
		code = "rate_limit_exceeded"
	case Invalid, NotFound, Forbidden:
		code = "invalid_prompt"
	}
	dst = appendString(append(dst, `{"code":`...), code)
	dst = appendString(append(dst, `,"message":`...), openAIMessage(p, turn.Responses))
	return append(dst, '}')
}

func appendResponsesUsage(dst []byte, u *turn.Usage) []byte {
	if u == nil {
		return append(dst, "null"...)
	}
	dst = appendInt(append(dst, `{"input_tokens":`...), int64(u.Prompt))
	dst = appendInt(append(dst, `,"input_tokens_details":{"cached_tokens":`...), int64(u.Cached))
	dst = appendInt(append(dst, `},"output_tokens":`...), int64(u.Output))
	dst = appendInt(append(dst, `,"output_tokens_details":{"reasoning_tokens":`...), int64(u.Thinking))
	dst = appendInt(append(dst, `},"total_tokens":`...), int64(u.Prompt+u.Output))
	return append(dst, '}')
}
