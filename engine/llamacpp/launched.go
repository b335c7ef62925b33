package llamacpp

import (
	"strconv"
	"strings"
)

// A server that was launched by others has its own defaults.
const (
	usualSimilarity = 0.1
	usualRAM        = 8192 // MiB
)

// usualPerToken is what a saved token is taken to cost where it was not
// measured: that of a model with 32 layers and 8 KV heads of 128 in f16.
const usualPerToken = 128 << 10

// readRules reads from a command line what the server does not tell; nil is of
// a server that others launched.
func readRules(args []string) rules {
	r := rules{told: args != nil, similarity: usualSimilarity, perToken: usualPerToken}
	ram := usualRAM
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "-sps", "--slot-prompt-similarity":
			if x, err := strconv.ParseFloat(value, 64); err == nil {
				r.similarity = x
			}
		case "-cram", "--cache-ram":
			if n, err := strconv.Atoi(value); err == nil {
				ram = n
			}
		case "-kvu", "--kv-unified":
			r.sweeping = true
		case "-no-kvu", "--no-kv-unified", "--no-cache-idle-slots":
			r.sweeping = false
		}
	}
	r.saving = ram != 0
	r.room = max(int64(ram), 0) << 20
	return r
}
