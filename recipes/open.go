package recipes

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// everywhere is an address at which a server is reached from other machines, a
// word of its own, behind a =, in quotes or as one of ZeroMQ's.
var everywhere = regexp.MustCompile(`(?:^|[=\s"'])((?:0\.0\.0\.0|\[?::\]?)(?::\d+)?)(?:$|[\s"'])|(tcp://(?:\*|0\.0\.0\.0|\[::\]|::)(?::\d+)?)`)

// freePort is such an address that vLLM binds to VLLM_HOST_IP, which is
// loopback.
var freePort = regexp.MustCompile(`tcp://\*:0\b`)

// checkOpen refuses what would open an engine to other machines. Its HTTP side
// has an address and a key of each life's own; what else listens has no key,
// and KV events tell the tokens of prompts.
func (r *Recipe) checkOpen() error {
	check := func(what, value string) error {
		if r.Engine == "vllm" {
			value = freePort.ReplaceAllString(value, "")
		}
		found := everywhere.FindStringSubmatch(value)
		if found == nil {
			return nil
		}
		return fmt.Errorf("%s: %s is open to everybody who reaches this machine; say 127.0.0.1, or take it away: dyn sets what it needs", what, found[1]+found[2])
	}
	for _, word := range r.Command {
		if err := check("command", word); err != nil {
			return err
		}
	}
	for _, from := range []struct {
		what   string
		values map[string]string
	}{{"flag ", r.Flags}, {"env ", r.Env}} {
		for _, name := range slices.Sorted(maps.Keys(from.values)) {
			if err := check(from.what+name, from.values[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
