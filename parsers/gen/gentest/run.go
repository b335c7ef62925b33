package gentest

import (
	"os"
	"testing"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/parsers/gen"
)

// Run reads every probe with the spec of a file, in all splits of its text.
func Run(t *testing.T, file string, probes []gen.Probe) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := parsers.ReadSpec(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range probes {
		t.Run(p.Name, func(t *testing.T) {
			if err := gen.Verify(spec, p); err != nil {
				t.Errorf("%v\nprinted: %q", err, p.Text)
			}
		})
	}
}
