package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/tidwall/gjson"
)

// Limits of a body.
const (
	maxBody  = 32 << 20
	maxDepth = 512
)

// readBody reads a JSON object.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, invalid("Unsupported Media Type: Only 'application/json' is allowed", "")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, errTooLarge
	case err != nil:
		return nil, bad("There was an error parsing the body")
	case deep(body):
		return nil, invalid("JSON is nested too deep", "")
	case !gjson.ValidBytes(body):
		return nil, notJSON(body)
	case !gjson.ParseBytes(body).IsObject():
		var f fields
		f.complain("model_attributes_type", "body",
			"Input should be a valid dictionary or object to extract fields from", shown(gjson.ParseBytes(body)), "")
		return nil, f.problem()
	}
	return body, nil
}

// invalid is the answer to a body that is refused as a whole.
func invalid(message, param string) *problem {
	return &problem{400, "1 validation error:\n  " + message, "Bad Request", param}
}

// notJSON says where the body stops being JSON.
func notJSON(body []byte) *problem {
	at := len(body)
	var wrong *json.SyntaxError
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &wrong) {
		at = int(wrong.Offset)
		if at < len(body) {
			at--
		}
	}
	var f fields
	f.complain("json_invalid", fmt.Sprintf("body.%d", at), "JSON decode error", "<dict of 0 items>",
		"{'error': 'Expecting value'}")
	return f.problem()
}

// deep reports whether a body nests deeper than maxDepth, before anything
// that recurses sees it.
func deep(body []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
