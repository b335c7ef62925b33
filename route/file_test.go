package route_test

import (
	"testing"
	"time"

	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/route/script"
)

// A file's rule keeps what every rule keeps, whether it answers costs, names or
// nonsense.
func TestFilesConform(t *testing.T) {
	limits := script.Default
	limits.Time = time.Hour
	for name, src := range map[string]string{
		"costs":    "def pick(need, workers): return {w.name: (w.pending + w.new) * (w.in_flight + 1) for w in workers}",
		"a name":   "def pick(need, workers): return max(workers, key=lambda w: (w.overlap, w.lot))",
		"any":      "def pick(need, workers): return {w: w.wanted * need.output - w.typical / (1 + w.active * w.active) for w in workers}",
		"nobody":   "def pick(need, workers): return None",
		"nonsense": "def pick(need, workers): return workers[need.prompt]",
	} {
		t.Run(name, func(t *testing.T) {
			route.Conform(t, func() (route.Strategy, error) {
				fallback, err := route.New("")
				if err != nil {
					return nil, err
				}
				return script.Load("my.star", []byte(src), limits, fallback)
			})
		})
	}
}
