package server

import (
	"encoding/json"
	"slices"
	"time"
)

// nvext is what a client may ask to hear about its answer (extra_fields), in
// Dynamo's names where it has one. Times are milliseconds.
type nvext struct {
	Worker *workerExtra `json:"worker_id,omitempty"`
	Timing *timingExtra `json:"timing,omitempty"`
	Hit    *hitExtra    `json:"hit,omitempty"`
	Stop   string       `json:"stop_reason,omitempty"`
	IDs    []uint32     `json:"completion_token_ids,omitempty"`
	Leases []leaseExtra `json:"leases,omitempty"`

	Retention []retainExtra `json:"retention,omitempty"`

	Prompt    string   `json:"formatted_prompt,omitempty"`
	PromptIDs []uint32 `json:"token_ids,omitempty"`
}

type workerExtra struct {
	Prefill string `json:"prefill_worker_id"`
	Decode  string `json:"decode_worker_id"`
	Chat    string `json:"chat_path,omitempty"` // why it was asked by its own chat API
}

type timingExtra struct {
	Received float64 `json:"request_received_ms"` // since 1970
	Queue    float64 `json:"queue_time_ms"`
	Gate     float64 `json:"gate_time_ms"` // of those, that the gate held it
	TTFT     float64 `json:"ttft_ms"`      // -1 without a token
	Total    float64 `json:"total_time_ms"`
	ITL      float64 `json:"avg_itl_ms"`  // -1 with less than two tokens
	HitRate  float64 `json:"kv_hit_rate"` // -1 where the engine does not tell
}

type hitExtra struct {
	Prompt    int `json:"prompt_tokens"`
	Predicted int `json:"predicted_tokens"`
	Cached    int `json:"cached_tokens"` // -1 where the engine does not tell
}

// extra makes the nvext object of an answer that ended, or nil when none was
// asked for.
func (an *analysis) extra() json.RawMessage {
	f := an.f
	asked := f.t.Hints.Extra
	if len(asked) == 0 && f.t.Hints.Lease == 0 && len(f.t.Hints.Retain) == 0 && (f.t.Stream || len(f.t.Hints.Annotate) == 0) {
		return nil
	}
	f.await() // its figures are ours now: the last item was sent
	var x nvext
	if slices.Contains(asked, "worker_id") {
		x.Worker = &workerExtra{f.row.Worker, f.row.Worker, f.row.Chat}
	}
	if slices.Contains(asked, "timing") {
		x.Timing = an.timing(time.Now())
	}
	if slices.Contains(asked, "hit") {
		x.Hit = &hitExtra{an.usage.Prompt, f.row.Overlap, -1}
		if f.tells.Load() {
			x.Hit.Cached = an.usage.Cached
		}
	}
	if slices.Contains(asked, "stop_reason") {
		x.Stop = string(an.reason)
	}
	if slices.Contains(asked, "completion_token_ids") && f.row.Chat == "" {
		x.IDs = f.said
	}
	if f.t.Hints.Lease > 0 || slices.Contains(asked, "leases") {
		x.Leases = f.leaseExtras()
	}
	if len(f.t.Hints.Retain) > 0 {
		x.Retention = f.retainExtras()
	}
	if !f.t.Stream {
		x.annotations(f)
	}
	b, err := json.Marshal(x)
	if err != nil {
		return nil
	}
	return b
}

func (an *analysis) timing(now time.Time) *timingExtra {
	f := an.f
	t := &timingExtra{
		Received: float64(f.t.Arrived.UnixMicro()) / 1000, Queue: f.row.QueueMS, Gate: f.row.GateMS, TTFT: f.row.TTFTMS,
		Total: ms(now.Sub(f.t.Arrived)), ITL: -1, HitRate: -1,
	}
	if n := an.usage.Output; n > 1 && !f.first.IsZero() {
		t.ITL = ms(now.Sub(f.first) / time.Duration(n-1))
	}
	if f.tells.Load() {
		t.HitRate = ratio(an.usage.Cached, an.usage.Prompt)
	}
	return t
}
