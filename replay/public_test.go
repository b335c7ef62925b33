package replay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentinfer/dyn/replay/trace"
)

// public reads a trace that is not ours to ship.
func public(t testing.TB, name string) *trace.Trace {
	t.Helper()
	top := os.Getenv("DYN_TRACES")
	if top == "" {
		top = filepath.Join("..", "..", "shared", "traces")
	}
	path := filepath.Join(top, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no trace at %s; set DYN_TRACES to run this test", path)
	}
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

const (
	claudeCode   = "claude-code-weka/claude_code_710.compact.jsonl.gz"
	conversation = "mooncake-fast25/conversation_trace.jsonl"
)

// BenchmarkTurns tells how many turns are played in a minute on one core.
func BenchmarkTurns(b *testing.B) {
	for _, c := range []struct {
		name string
		conf Config
	}{
		{"step", Config{KV: 1_000_000, Sessions: 96}},
		{"step-round-robin", Config{KV: 1_000_000, Sessions: 96, Strategy: "round-robin"}},
		{"step-lmetric", Config{KV: 1_000_000, Sessions: 96, Strategy: "lmetric"}},
		{"blocks-lmetric", Config{KV: 1_000_000, Sessions: 96, Engine: Blocks, Strategy: "lmetric"}},
		{"blocks", Config{KV: 1_000_000, Sessions: 96, Engine: Blocks}},
	} {
		b.Run(c.name, func(b *testing.B) {
			t := public(b, claudeCode)
			b.ResetTimer()
			turns := 0
			var last *Result
			for range b.N {
				r, err := Run(b.Context(), t, c.conf)
				if err != nil {
					b.Fatal(err)
				}
				turns += r.All
				last = r
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Minutes(), "turns/min")
			b.ReportMetric(last.PerSecond, "req/s")
			b.ReportMetric(last.Hit, "hit")
			b.ReportMetric(last.TTFTMean, "ttft-ms")
		})
	}
}
