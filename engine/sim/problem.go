package sim

import (
	"fmt"
	"net/http"
	"strconv"
)

// problem is an error as the copied server words it.
type problem struct {
	status  int
	message string
	kind    string // "BadRequestError"
	param   string // "" is null
}

// body is the error document.
func (p *problem) body() string {
	param := "null"
	if p.param != "" {
		param = quote(p.param)
	}
	return `{"error":{"message":` + quote(p.message) + `,"type":` + quote(p.kind) +
		`,"param":` + param + `,"code":` + strconv.Itoa(p.status) + `}}`
}

func (p *problem) write(w http.ResponseWriter) { writeJSON(w, p.status, p.body()) }

// bad is a request that asks for what cannot be.
func bad(format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, fmt.Sprintf(format, args...), "BadRequestError", ""}
}

// badValue names the parameter and its value behind the message, as the
// copied server does.
func badValue(param, value, format string, args ...any) *problem {
	p := bad(format, args...)
	p.param = param
	p.message += " (parameter=" + param
	if value != "" {
		p.message += ", value=" + value
	}
	p.message += ")"
	return p
}

// unsupported refuses what the simulated engine does not do.
func unsupported(param string) *problem {
	p := bad("%s is not supported by the simulated engine", param)
	p.param = param
	return p
}

var (
	errDead = &problem{
		http.StatusInternalServerError,
		"EngineCore encountered an issue. See stack trace (above) for the root cause.",
		"InternalServerError", "",
	}
	errBusy = &problem{
		http.StatusServiceUnavailable,
		"The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.",
		"Service Unavailable", "",
	}
	errTooLarge = &problem{
		http.StatusRequestEntityTooLarge,
		"Request body is too large.",
		"Request Entity Too Large", "",
	}
)

// deadChunk is the event in which a stream learns that the engine died.
const deadChunk = `data: {"error": {"message": "EngineCore encountered an issue. See stack trace (above) for the root cause.", "type": "InternalServerError", "param": null, "code": 500}}` + "\n\n"
