package curve

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cache/pause"
	"github.com/agentinfer/dyn/cache/policy"
	"github.com/agentinfer/dyn/replay/trace"
)

// sessions are the Claude Code sessions, which are not ours to ship.
func sessions(t testing.TB) *Plan {
	t.Helper()
	top := os.Getenv("DYN_TRACES")
	if top == "" {
		top = filepath.Join("..", "..", "..", "shared", "traces")
	}
	path := filepath.Join(top, "claude-code-weka", "claude_code_710.compact.jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no trace at %s; set DYN_TRACES to run this test", path)
	}
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hit(t testing.TB, p *Plan, r policy.Rule, share float64) float64 {
	t.Helper()
	point, err := Play(t.Context(), p, r, int(share*float64(p.Working)))
	if err != nil {
		t.Fatal(err)
	}
	return point.Hit
}

// On recorded sessions the value of runs beats LRU where caches are small; in
// between it loses some tokens, since it goes by what they cost to compute. With
// chances that are wrong it is LRU.
func TestValue(t *testing.T) {
	p := sessions(t)
	wrong := map[string]policy.Chance{
		"turned round": func(k pause.Key, away, within time.Duration) float64 { return min(away.Seconds()/3600, 1) },
		"always":       func(pause.Key, time.Duration, time.Duration) float64 { return 1 },
		"tools for men": func(k pause.Key, _, _ time.Duration) float64 {
			return map[pause.Class]float64{pause.Human: 0.9}[k.Class]
		},
	}
	value, err := policy.Find("value")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := policy.Find(policy.LRU)
	if err != nil {
		t.Fatal(err)
	}
	for share, gain := range map[float64]float64{0.1: 0.02, 0.4: -0.012} {
		base := hit(t, p, plain, share)
		if got := hit(t, p, value, share); got < base+gain {
			t.Errorf("%.1f of the working set: value %.4f, LRU %.4f", share, got, base)
		}
		for name, chance := range wrong {
			rule := policy.Rule{Name: name, New: func(int) policy.Policy { return policy.Value(chance) }}
			if got := hit(t, p, rule, share); got < base-0.006 {
				t.Errorf("%.1f of the working set, chances %s: %.4f, LRU %.4f", share, name, got, base)
			}
		}
	}
}

// BenchmarkTurns tells how many turns each policy plays in a minute on one core.
func BenchmarkTurns(b *testing.B) {
	p := sessions(b)
	for _, r := range policy.All() {
		b.Run(r.Name, func(b *testing.B) {
			for range b.N {
				hit(b, p, r, 0.2)
			}
			b.ReportMetric(float64(b.N*p.Turns())/b.Elapsed().Minutes(), "turns/min")
		})
	}
}
