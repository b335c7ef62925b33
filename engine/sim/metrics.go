package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/engine/sim/core"
)

// page is a metrics page in the making.
type page struct {
	strings.Builder
	labels string // of every sample
}

// metrics is GET /metrics with the copied server's names.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.engine.Stats()
	p := &page{labels: `engine="0",model_name=` + quote(s.o.name)}
	p.gauge("num_requests_running", "Number of requests in model execution batches.", float64(st.Running))
	p.gauge("num_requests_waiting", "Number of requests waiting to be processed.", float64(st.Waiting))
	p.head("num_requests_waiting_by_reason", "gauge", "Number of waiting requests by reason.")
	p.sample("num_requests_waiting_by_reason", `reason="capacity"`, float64(st.Waiting))
	p.sample("num_requests_waiting_by_reason", `reason="deferred"`, 0)
	p.gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", st.Usage)
	p.counter("prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", st.Queries)
	p.counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", st.Hits)
	p.counter("num_preemptions", "Cumulative number of preemption from the engine.", st.Preempted)
	p.counter("prompt_tokens", "Number of prefill tokens processed.", st.Prompt)
	p.head("prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.")
	p.sample("prompt_tokens_by_source_total", `source="local_compute"`, float64(st.Queries-st.Hits))
	p.sample("prompt_tokens_by_source_total", `source="local_cache_hit"`, float64(st.Hits))
	p.sample("prompt_tokens_by_source_total", `source="external_kv_transfer"`, 0)
	p.counter("prompt_tokens_cached", "Number of cached prompt tokens (local + external).", st.Hits)
	p.counter("generation_tokens", "Number of generation tokens processed.", st.Output)
	p.head("request_success_total", "counter", "Count of successfully processed requests.")
	for _, why := range []core.Reason{core.Stopped, core.Length, core.Aborted, "error", "repetition"} {
		p.sample("request_success_total", `finished_reason="`+string(why)+`"`, float64(st.Ended[why]))
	}
	p.head("admission_rejections_total", "counter", "Number of admission attempts rejected by a queue limit, by reason.")
	p.sample("admission_rejections_total", `reason="max_num_queued_reqs"`, float64(st.Rejected))
	p.histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", st.FirstToken)
	p.histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", st.Between)
	p.histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", st.Whole)
	p.histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", st.Queued)
	p.head("cache_config_info", "gauge", "Information of the LLMEngine CacheConfig")
	p.sample("cache_config_info", fmt.Sprintf(`block_size="%d",enable_prefix_caching="True",kv_cache_size_tokens="%d",num_gpu_blocks="%d"`,
		s.o.blockSize, s.o.blocks*s.o.blockSize, s.o.blocks), 1)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(p.String())) // a client that is gone reads nothing
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind)
}

// sample writes one line; more is further labels or "".
func (p *page) sample(name, more string, v float64) {
	if more != "" {
		more = "," + more
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	fmt.Fprintf(p, "vllm:%s{%s%s} %s\n", name, p.labels, more, s)
}

func (p *page) gauge(name, help string, v float64) {
	p.head(name, "gauge", help)
	p.sample(name, "", v)
}

func (p *page) counter(name, help string, v int64) {
	p.head(name+"_total", "counter", help)
	p.sample(name+"_total", "", float64(v))
}

func (p *page) histogram(name, help string, h core.Histogram) {
	p.head(name, "histogram", help)
	sum := int64(0)
	for i, n := range h.Counts {
		sum += n
		bound := "+Inf"
		if i < len(h.Bounds) {
			bound = float(h.Bounds[i])
		}
		p.sample(name+"_bucket", `le="`+bound+`"`, float64(sum))
	}
	p.sample(name+"_count", "", float64(h.Count))
	p.sample(name+"_sum", "", h.Sum)
}
