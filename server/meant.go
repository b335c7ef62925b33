package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/server/dialect"
)

// meant are members of a request's body that tell an engine how to go about its
// work: whom to serve first, whose cache to use, where else to send it. They
// are not a client's to say; a turn has hints for what of it may be asked.
var meant = []string{
	"priority", "request_id", "session_id", "rid", "session_params", "extra_key", "routing_key",
	"vllm_xargs", "extra_args", "kv_transfer_params", "ec_transfer_params", "disaggregated_params", "logits_processors",
	"data_parallel_rank", "routed_dp_rank", "bootstrap_host", "bootstrap_port", "bootstrap_room", "lora_path", "id_slot",
}

// fence takes those members out of a body that is handed on, and tells the
// client. The rest of it stays as it came. What is to be JSON and cannot be
// read is refused, since an engine may read it.
func (c *call) fence(body []byte) ([]byte, error) {
	text := bytes.TrimLeft(body, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && !strings.Contains(c.header("Content-Type"), "json") {
		return body, nil
	}
	kept, out, err := members(text)
	if err != nil {
		return nil, &dialect.Problem{Kind: dialect.Invalid, Message: "the body is no JSON object: " + err.Error()}
	}
	if len(out) == 0 {
		return body, nil
	}
	c.warn(fmt.Sprintf("%s was ignored: it is not for clients to say", strings.Join(out, ", ")))
	return slices.Concat([]byte("{"), bytes.Join(kept, []byte(",")), []byte("}")), nil
}

// members splits an object into its members as they came, but for those that
// are meant for an engine, of which it returns the names.
func members(object []byte) (kept [][]byte, out []string, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	first, err := d.Token()
	if err != nil {
		return nil, nil, err
	}
	if first != json.Delim('{') {
		return nil, nil, fmt.Errorf("it begins with %v", first)
	}
	for d.More() {
		from := d.InputOffset()
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		if key, _ := name.(string); slices.Contains(meant, key) {
			out = append(out, key)
			continue
		}
		kept = append(kept, bytes.TrimLeft(object[from:d.InputOffset()], ", \t\r\n"))
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	if rest := bytes.TrimSpace(object[d.InputOffset():]); len(rest) > 0 {
		return nil, nil, fmt.Errorf("there is more behind it")
	}
	return kept, out, nil
}
