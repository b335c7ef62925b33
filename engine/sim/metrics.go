package sim

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/agentinfer/dyn/engine/sim/core"
)

const engineLabel = `engine="0"`

// page is a metrics page in the making.
type page struct {
	strings.Builder
	labels string // of every sample
	model  string // the one that names the model
}

// metrics is GET /metrics with the copied server's names: those that a router
// reads, not the histograms that only people look at.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.engine.Stats()
	p := &page{model: `model_name=` + quote(s.o.name)}
	p.labels = engineLabel + "," + p.model
	p.load(&st)
	p.cache(&st)
	p.work(&st)
	p.histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", st.FirstToken)
	p.histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", st.Between)
	p.histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", st.Whole)
	p.histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", st.Queued)
	p.head("cache_config_info", "gauge", "Information of the LLMEngine CacheConfig")
	p.labels = engineLabel
	p.sample("cache_config_info", fmt.Sprintf(`block_size="%d",enable_prefix_caching="True",kv_cache_size_tokens="%d",num_gpu_blocks="%d"`,
		s.o.blockSize, s.o.blocks*s.o.blockSize, s.o.blocks), 1)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(p.String())) // a client that is gone reads nothing
}

// load writes how busy the engine is.
func (p *page) load(st *core.Stats) {
	p.gauge("num_requests_running", "Number of requests in model execution batches.", float64(st.Running))
	p.gauge("num_requests_waiting", "Number of requests waiting to be processed.", float64(st.Waiting))
	p.family("num_requests_waiting_by_reason", "gauge", "Number of waiting requests by reason.", "reason",
		part{"capacity", float64(st.Waiting)}, part{"deferred", 0})
	p.family("engine_sleep_state", "gauge", "Engine sleep state; awake = 1 means engine is awake.", "sleep_state",
		part{"awake", 1}, part{"weights_offloaded", 0}, part{"discard_all", 0})
	all := p.labels
	p.labels = p.model // asks are refused before there is an engine to name
	p.family("admission_rejections_total", "counter",
		"Number of admission attempts rejected by a queue limit, by reason.", "reason",
		part{"max_num_queued_reqs", float64(st.Rejected)}, part{"max_num_queued_tokens", 0})
	p.labels = all
}

// cache writes how the KV cache fares.
func (p *page) cache(st *core.Stats) {
	hits := float64(st.Hits)
	p.gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", st.Usage)
	p.counter("prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", st.Queries)
	p.counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", st.Hits)
	p.counter("external_prefix_cache_queries", "External prefix cache queries.", 0)
	p.counter("external_prefix_cache_hits", "External prefix cache hits.", 0)
	p.counter("prompt_tokens_cached", "Number of cached prompt tokens (local + external).", st.Hits)
	p.family("prompt_tokens_cached_by_source_total", "counter", "Prefix-cache hit tokens by cache tier.", "source",
		part{"device", hits}, part{"host", 0}, part{"p2p", 0}, part{"disk", 0}, part{"external_unspecified", 0})
	p.family("prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.", "source",
		part{"local_compute", float64(st.Queries - st.Hits)}, part{"local_cache_hit", hits}, part{"external_kv_transfer", 0})
}

// work writes what was done. An answer whose client left is counted nowhere:
// the copied server's "abort" are those that it ended itself.
func (p *page) work(st *core.Stats) {
	p.counter("num_preemptions", "Cumulative number of preemption from the engine.", st.Preempted)
	p.counter("prompt_tokens", "Number of prefill tokens processed.", st.Prompt)
	p.counter("generation_tokens", "Number of generation tokens processed.", st.Output)
	var ends []part
	for _, why := range []core.Reason{core.Stopped, core.Length, core.Aborted, "error", "repetition"} {
		ends = append(ends, part{string(why), float64(st.Ended[why])})
	}
	p.family("request_success_total", "counter", "Count of successfully processed requests.", "finished_reason", ends...)
}

// part is one sample of a family: the value of its label, and its own.
type part struct {
	label string
	v     float64
}

// family writes samples that differ in one label.
func (p *page) family(name, kind, help, label string, parts ...part) {
	p.head(name, kind, help)
	for _, x := range parts {
		p.sample(name, label+"="+quote(x.label), x.v)
	}
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind)
}

// sample writes one line; more is further labels or "".
func (p *page) sample(name, more string, v float64) {
	if more != "" {
		more = "," + more
	}
	fmt.Fprintf(p, "vllm:%s{%s%s} %s\n", name, p.labels, more, float(v))
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
