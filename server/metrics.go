package server

import (
	"fmt"
	"math"
	"strings"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// metrics writes the snapshot in Prometheus' text form.
func (s *Server) metrics(c *call) error {
	var b strings.Builder
	p := s.Snapshot()
	s.totalsPage(&b, p)
	workersPage(&b, p.Workers)
	c.SetContentType("text/plain; version=0.0.4; charset=utf-8")
	c.SetBodyString(b.String())
	return nil
}

// totalsPage writes what is counted for the whole daemon.
func (s *Server) totalsPage(b *strings.Builder, p snapshot.Snapshot) {
	t := p.Totals
	one(b, "dyn_turns_total", "counter", "turns that landed", t.Turns)
	one(b, "dyn_turns_failed_total", "counter", "turns that failed", t.Failed)
	one(b, "dyn_turns_canceled_total", "counter", "turns whose client hung up", p.Queue.Canceled)
	one(b, "dyn_turns_moved_total", "counter", "times a turn went on at another worker", t.Moved)
	one(b, "dyn_turns_chat_path_total", "counter", "turns that went to a worker's own chat API", t.Chats)
	one(b, "dyn_prompt_tokens_total", "counter", "prompt tokens, as engines reported", t.Prompt)
	one(b, "dyn_cached_tokens_total", "counter", "of those found cached, as engines reported", t.Cached)
	one(b, "dyn_output_tokens_total", "counter", "output tokens, as engines reported", t.Output)
	one(b, "dyn_queue_waiting", "gauge", "turns that wait in the router", p.Queue.Waiting)
	one(b, "dyn_queue_prefill", "gauge", "turns sent that have no first token", p.Queue.Prefill)
	one(b, "dyn_gate_held", "gauge", "of those, turns that the gate holds: sessions in use fill every cache", p.Queue.Held)
	one(b, "dyn_gate_held_total", "counter", "turns that the gate held", t.Held)
	one(b, "dyn_gate_forced_total", "counter", "turns that the gate let in because their time was over", t.Forced)
	leasesPage(b, &p.Leases)
	one(b, "dyn_ledger_lost_rows_total", "counter", "ledger rows that were lost", p.Ledger.Lost)
	one(b, "dyn_kv_events_dropped_total", "counter", "KV events that could not be placed", t.Orphans)
	one(b, "dyn_hooks_heard_total", "counter", "what harnesses told of their sessions", p.Hooks.Heard)
	head(b, "dyn_hooks_dropped_total", "counter", "what came on the hooks' socket and was dropped, by why")
	fmt.Fprintf(b, "dyn_hooks_dropped_total{why=\"malformed\"} %d\ndyn_hooks_dropped_total{why=\"crowded\"} %d\n", p.Hooks.Malformed, p.Hooks.Crowded)
	one(b, "dyn_panics_total", "counter", "panics that ended one request", s.count.panics.Load())
	one(b, "dyn_content_hidden_total", "counter", "images and documents that a fixed text stood for in a prompt", s.count.hidden.Load())
	one(b, "dyn_responses_unkept_total", "counter", "stored responses that only memory holds, as the ledger took none", s.count.unkept.Load())
	head(b, "dyn_calls_flawed_total", "counter", "calls of tools as the model wrote them that were mended, no tool's, or dropped as unwanted, by what was wrong")
	for i, name := range flawNames {
		fmt.Fprintf(b, "dyn_calls_flawed_total{flaw=%q} %d\n", name, s.count.flaws[i].Load())
	}
	fmt.Fprintf(b, "dyn_calls_flawed_total{flaw=\"unwanted\"} %d\n", s.count.unwanted.Load())
	head(b, "dyn_refused_total", "counter", "answers that were errors, by status")
	for status, n := range s.count.byStatus() {
		fmt.Fprintf(b, "dyn_refused_total{status=\"%d\"} %d\n", status, n)
	}
	if p.Latency.TTFT.N == 0 {
		return
	}
	head(b, "dyn_ttft_ms", "gauge", "time to first token over the last five minutes")
	fmt.Fprintf(b, "dyn_ttft_ms{quantile=\"0.5\"} %g\ndyn_ttft_ms{quantile=\"0.95\"} %g\n", p.Latency.TTFT.P50, p.Latency.TTFT.P95)
}

// leasesPage writes what became of leases.
func leasesPage(b *strings.Builder, p *snapshot.Leases) {
	head(b, "dyn_leases_live", "gauge", "leases that have not ended, by what is known of them")
	for _, state := range []string{"asked", "kept", "cut", "gave way", "lost"} {
		fmt.Fprintf(b, "dyn_leases_live{state=%q} %d\n", state, p.States[state])
	}
	one(b, "dyn_leases_asked_total", "counter", "asks for a lease", p.Asked)
	one(b, "dyn_leases_kept_total", "counter", "times a lease was used and its worker had it, by what the engine told", p.Kept)
	one(b, "dyn_leases_lost_total", "counter", "times it had not", p.Lost)
	one(b, "dyn_leases_cut_total", "counter", "leases of which only a part was within the budget", p.Cut)
	one(b, "dyn_leases_gave_way_total", "counter", "leases that gave way to others of more worth", p.GaveWay)
	one(b, "dyn_leases_dropped_total", "counter", "leases that ended because there were too many", p.Dropped)
	if len(p.Budgets) == 0 {
		return
	}
	head(b, "dyn_worker_leased_tokens", "gauge", "tokens of the KV cache that leases take")
	for _, w := range p.Budgets {
		fmt.Fprintf(b, "dyn_worker_leased_tokens{worker=%s} %d\n", label(w.Worker), w.Tokens)
	}
}

// workersPage writes one line per worker and metric.
func workersPage(b *strings.Builder, ws []snapshot.Worker) {
	for _, col := range []struct {
		name, help string
		value      func(w snapshot.Worker) float64
	}{
		{"dyn_worker_ready", "1 when the worker takes turns", func(w snapshot.Worker) float64 { return bit(w.State == "ready") }},
		{"dyn_worker_in_flight", "turns sent and not ended", func(w snapshot.Worker) float64 { return float64(w.InFlight) }},
		{"dyn_worker_running", "turns running, as the engine reports", func(w snapshot.Worker) float64 { return float64(w.Running) }},
		{"dyn_worker_waiting", "turns waiting, as the engine reports", func(w snapshot.Worker) float64 { return float64(w.Waiting) }},
		{"dyn_worker_kv_used", "share of the KV cache that running turns hold", func(w snapshot.Worker) float64 { return w.KVUsed }},
		{"dyn_worker_overlap_tokens", "prompt tokens believed to be held, last minute", func(w snapshot.Worker) float64 { return float64(w.Predicted) }},
		{"dyn_worker_prompt_tokens", "prompt tokens sent, last minute", func(w snapshot.Worker) float64 { return float64(w.Prompt) }},
		{"dyn_worker_cached_tokens", "prompt tokens reported as cached, last minute", func(w snapshot.Worker) float64 { return float64(w.Reported) }},
		{"dyn_worker_thrash", "1 when the worker's cache is too small for the turns that it has", func(w snapshot.Worker) float64 { return bit(w.Thrash) }},
		{"dyn_worker_eviction_age_seconds", "how long a block stays unused before it is evicted; NaN before any was", func(w snapshot.Worker) float64 { return orNaN(w.AgeS) }},
		{"dyn_worker_hot_tokens", "tokens of sessions that have a turn at the worker or came back for one in the last minute", func(w snapshot.Worker) float64 { return float64(w.Hot) }},
		{"dyn_worker_drift", "share of prompt tokens that was believed to be held less the one that was found, last minute; NaN unknown", func(w snapshot.Worker) float64 { return orNaN(w.Drift) }},
		{"dyn_worker_resyncs_total", "times that index and engine had parted", func(w snapshot.Worker) float64 { return float64(w.Resyncs) }},
		{"dyn_worker_restarts_total", "restarts", func(w snapshot.Worker) float64 { return float64(w.Restarts) }},
	} {
		head(b, col.name, kindOf(col.name), col.help)
		for _, w := range ws {
			fmt.Fprintf(b, "%s{worker=%s,model=%s} %g\n", col.name, label(w.Name), label(w.Model), col.value(w))
		}
	}
}

// orNaN is a number that may be unknown, as Prometheus writes that.
func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

func kindOf(name string) string {
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
}

func head(b *strings.Builder, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func one[N int | int64](b *strings.Builder, name, kind, help string, v N) {
	head(b, name, kind, help)
	fmt.Fprintf(b, "%s %d\n", name, v)
}

// label quotes a label's value as Prometheus wants it.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(s) + `"`
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
