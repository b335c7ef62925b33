package dialect

import (
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// appendAnthropicError appends the error document of the messages API. Its
// wording of TooLong makes Claude Code compact.
func appendAnthropicError(dst []byte, p *Problem, requestID string) []byte {
	dst = append(dst, `{"type":"error","error":{"type":"`...)
	dst = append(dst, anthropicType(p.Kind)...)
	dst = appendString(append(dst, `","message":`...), p.Error())
	dst = append(dst, '}')
	if requestID != "" {
		dst = appendString(append(dst, `,"request_id":`...), requestID)
	}
	return append(dst, '}')
}

func anthropicType(k Kind) string {
	switch k {
	case Unauthorized:
		return "authentication_error"
	case Forbidden:
		return "permission_error"
	case NotFound:
		return "not_found_error"
	case TooLarge:
		return "request_too_large"
	case Limited:
		return "rate_limit_error"
	case Busy, Unavailable:
		return "overloaded_error"
	case TimedOut:
		return "timeout_error"
	case Internal:
		return "api_error"
	}
	return "invalid_request_error"
}

// appendOpenAIError appends the error document of the responses and chat
// APIs.
func appendOpenAIError(dst []byte, p *Problem, d turn.Dialect) []byte {
	typ, code := openAIType(p)
	if p.Code != "" {
		code = p.Code
	}
	dst = appendString(append(dst, `{"error":{"message":`...), openAIMessage(p, d))
	dst = appendString(append(dst, `,"type":`...), typ)
	dst = appendOrNull(append(dst, `,"param":`...), openAIParam(p, d))
	dst = appendOrNull(append(dst, `,"code":`...), code)
	return append(dst, "}}"...)
}

// openAIMessage words a problem. Clients look for "maximum context length".
func openAIMessage(p *Problem, d turn.Dialect) string {
	if p.Kind != TooLong {
		return p.Error()
	}
	what := openAIParam(p, d)
	return "This model's maximum context length is " + strconv.Itoa(p.Limit) +
		" tokens. However, your " + what + " resulted in " + strconv.Itoa(p.Prompt) +
		" tokens. Please reduce the length of the " + what + "."
}

func openAIParam(p *Problem, d turn.Dialect) string {
	switch {
	case p.Kind != TooLong:
		return p.Param
	case d == turn.Responses:
		return "input"
	}
	return "messages"
}

// openAIType returns the type and the code of a problem; a code of "" is
// null.
func openAIType(p *Problem) (typ, code string) {
	switch p.Kind {
	case Unauthorized:
		return "invalid_request_error", "invalid_api_key"
	case Forbidden:
		return "invalid_request_error", "permission_denied"
	case NotFound:
		if p.Param == "model" {
			return "invalid_request_error", "model_not_found"
		}
		return "invalid_request_error", "not_found"
	case Method:
		return "invalid_request_error", "method_not_allowed"
	case TooLarge:
		return "invalid_request_error", "request_too_large"
	case TooLong:
		return "invalid_request_error", "context_length_exceeded"
	case Limited:
		return "rate_limit_error", "rate_limit_exceeded"
	case Busy:
		return "server_error", "server_overloaded"
	case Unavailable:
		return "server_error", "service_unavailable"
	case TimedOut:
		return "server_error", "timeout"
	case Internal:
		return "server_error", "internal_error"
	}
	return "invalid_request_error", ""
}

func appendOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, s)
}
