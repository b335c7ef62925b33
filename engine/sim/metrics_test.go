package sim

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/brain"
)

// page reads the server's metrics: names with their types, and each sample
// with its labels in order.
func (r *rig) page() (text string, values map[string]string) {
	r.t.Helper()
	resp, err := http.Get("http://" + r.addr + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	values = map[string]string{}
	for _, l := range strings.Split(string(b), "\n") {
		if at := strings.LastIndexByte(l, ' '); at > 0 && l[0] != '#' {
			values[strings.ReplaceAll(l[:at], `engine="0",model_name="tiny"`, "")] = l[at+1:]
		}
	}
	return string(b), values
}

func TestMetrics(t *testing.T) {
	r := start(t, nil, "--served-model-name", "tiny", "--kv-tokens", "1600")
	r.script.say(brain.Answer{IDs: []uint32{1, 2}})
	for range 2 {
		r.ask(count(1, 40), 5, "")
	}
	_, got := r.page()
	for name, want := range map[string]string{
		"vllm:num_requests_running{}":                           "0.0",
		"vllm:num_requests_waiting{}":                           "0.0",
		"vllm:kv_cache_usage_perc{}":                            "0.0",
		"vllm:prefix_cache_queries_total{}":                     "80.0",
		"vllm:prefix_cache_hits_total{}":                        "32.0",
		"vllm:prompt_tokens_total{}":                            "80.0",
		"vllm:generation_tokens_total{}":                        "10.0",
		`vllm:request_success_total{,finished_reason="length"}`: "2.0",
		"vllm:time_to_first_token_seconds_count{}":              "2.0",
		`vllm:inter_token_latency_seconds_bucket{,le="+Inf"}`:   "8.0",
		`vllm:cache_config_info{engine="0",block_size="16",enable_prefix_caching="True",kv_cache_size_tokens="1600",num_gpu_blocks="100"}`: "1.0",
	} {
		if got[name] != want {
			t.Errorf("%s: want %s, got %q", name, want, got[name])
		}
	}
}

// TestRecordedMetrics: every name, type and label here is one of the recorded
// server.
func TestRecordedMetrics(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures(t, "engines/vllm"), "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, nil, "--served-model-name", "tiny")
	text, _ := r.page()
	label := regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	known := map[string]bool{}
	for _, l := range strings.Split(string(data), "\n") {
		known[kindOf(l)] = true
		name, labels, _ := strings.Cut(l, "{")
		for _, m := range label.FindAllStringSubmatch(labels, -1) {
			known[name+" "+m[1]] = true
		}
	}
	for _, l := range strings.Split(text, "\n") {
		if k := kindOf(l); !known[k] {
			t.Errorf("not recorded: %s", l)
		}
		name, labels, ok := strings.Cut(l, "{")
		for _, m := range label.FindAllStringSubmatch(labels, -1) {
			if ok && !known[name+" "+m[1]] {
				t.Errorf("label not recorded: %s %s", name, m[1])
			}
		}
	}
}

// kindOf is a TYPE line as it is, or the name of a sample.
func kindOf(l string) string {
	if strings.HasPrefix(l, "# HELP") {
		return ""
	}
	if strings.HasPrefix(l, "#") {
		return l
	}
	name, _, _ := strings.Cut(l, "{")
	return name
}
