package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What the command says stands in the page, with its verdicts and without.
func TestBenchPage(t *testing.T) {
	var d benchmark
	err := json.Unmarshal([]byte(`{"levels": [{"sessions": 4, "arms": [
		{"strategy": "dyn", "turns": 32, "failed": 0, "ttft_mean_ms": 1200.4, "ttft_p50_ms": 900, "ttft_p95_ms": 4000, "hit": 0.9, "recomputed_tokens_per_turn": 0},
		{"strategy": "round-robin", "turns": 32, "failed": 0, "ttft_mean_ms": 1800, "ttft_p50_ms": 1500, "ttft_p95_ms": 4100, "hit": null, "recomputed_tokens_per_turn": null}],
		"contrasts": [
		{"measure": "ttft", "strategy": "dyn", "against": "round-robin", "difference": -0.33, "low": -0.4, "high": -0.2, "verdict": "lower", "why": ""},
		{"measure": "hit", "strategy": "dyn", "against": "round-robin", "difference": 0.05, "low": -0.01, "high": 0.1, "verdict": "", "why": "the interval crosses zero"},
		{"measure": "recomputed", "strategy": "dyn", "against": "round-robin", "difference": null, "low": null, "high": null, "verdict": "", "why": "nothing was told of it"}]}]}`), &d)
	if err != nil {
		t.Fatal(err)
	}
	text := d.page(&lab{version: "0.32.0", o: options{commit: "0123abc"}}, time.Minute)
	for _, want := range []string{
		"at commit `0123abc`, in 1m0s", "`dyn bench agent --strategy dyn,round-robin",
		"\n| 4 | dyn | 32 | 1200 | 900 | 4000 | 0.900 | 0 |\n| 4 | round-robin | 32 | 1800 | 1500 | 4100 | – | – |\n",
		"| ttft against round-robin | -33.0 % (-40.0 % to -20.0 %); dyn is lower |\n",
		"| hit against round-robin | +5.0 points (-1.0 points to +10.0 points); no verdict: the interval crosses zero |\n",
		"| recomputed against round-robin | no verdict: nothing was told of it |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
