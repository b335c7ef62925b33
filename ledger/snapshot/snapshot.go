package snapshot

import "time"

// Snapshot is the picture. It is a value: whoever has it may keep it.
type Snapshot struct {
	V        int       `json:"v"` // 1
	At       time.Time `json:"at"`
	Daemon   Daemon    `json:"daemon"`
	Models   []Model   `json:"models"`
	Workers  []Worker  `json:"workers"`
	Queue    Queue     `json:"queue"`
	Leases   Leases    `json:"leases"`
	Tiers    []Tier    `json:"tiers"` // of all workers together
	Sessions []Session `json:"sessions"`
	Latency  Latency   `json:"latency"`
	Totals   Totals    `json:"totals"`
	Memory   Memory    `json:"memory"`
	Ledger   Ledger    `json:"ledger"`
	Hooks    Hooks     `json:"hooks"`
}

// Daemon is the process that serves.
type Daemon struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	URL     string    `json:"url"`
	Started time.Time `json:"started"`
	State   string    `json:"state"` // "starting", "ready", "degraded", "no workers", "stopping"
}

// Model is what clients may name.
type Model struct {
	ID      string `json:"id"`
	Recipe  string `json:"recipe"`
	Context int    `json:"context_tokens"`
	Workers int    `json:"workers"`
	Ready   int    `json:"workers_ready"`
	Mode    string `json:"router_mode"` // the strategy of turns that name none
	Gate    string `json:"router_gate"` // "auto", "off", "balanced", "throughput"
	Path    string `json:"path"`        // "tokens", or "chat" with the reason in Why
	Why     string `json:"why,omitempty"`
}

// Worker is one worker's row. Overlap and Hit cover the last WindowS seconds.
type Worker struct {
	Name       string    `json:"name"`
	Model      string    `json:"model"`
	PID        int       `json:"pid"` // 0 for an attached worker
	URL        string    `json:"url"`
	Attached   bool      `json:"attached"`
	Started    time.Time `json:"started"` // when its process was; zero for an attached worker
	Adopted    bool      `json:"adopted"` // by a daemon before this one
	Engine     string    `json:"engine"`
	State      string    `json:"state"`         // turn.State
	Why        string    `json:"why,omitempty"` // what is wrong; of a ready one, why it gets no turns
	Since      time.Time `json:"since"`
	Restarts   int       `json:"restarts"`
	GPUs       []int     `json:"gpus"`
	Path       string    `json:"path"`               // how turns go there: by "tokens", by its own "chat" API, or "both" for some
	PathWhy    string    `json:"path_why,omitempty"` // why not all go by tokens
	Index      string    `json:"index"`              // "events" or "approximate"
	Ranks      int       `json:"ranks,omitempty"`    // data-parallel ranks behind its address, where they are several
	Running    int       `json:"running"`            // as the engine reports
	Waiting    int       `json:"waiting"`
	InFlight   int       `json:"in_flight"` // turns sent and not ended
	LoadAt     time.Time `json:"load_at"`   // when the engine was last asked; zero is never
	Slots      int       `json:"slots"`     // turns that run at once; 0 unknown
	WindowS    int       `json:"window_s"`
	Decided    int       `json:"decided"`       // turns sent here in the window
	Prompt     int       `json:"prompt_tokens"` // of turns sent here in the window
	Predicted  int       `json:"overlap_tokens"`
	Overlap    *float64  `json:"overlap"`       // overlap_tokens / prompt_tokens
	Reported   int       `json:"cached_tokens"` // of turns that ended in the window
	Hit        *float64  `json:"hit"`           // cached / prompt of the turns that ended in the window
	TTFT       Quantiles `json:"ttft"`
	TPS        float64   `json:"output_tokens_per_s"`
	KVUsed     float64   `json:"kv_used"` // 0 to 1, from the engine
	Tiers      []Tier    `json:"tiers"`
	Drift      *float64  `json:"drift"`          // overlap − hit of the same ended turns
	Resyncs    int       `json:"resyncs"`        // times that it was more than 0.1 for a minute, so that all was learnt anew
	ResyncedAt time.Time `json:"resynced_at"`    // zero is never
	Hot        int       `json:"hot_tokens"`     // of sessions that have a turn here or came back for one in the last minute
	AgeS       *float64  `json:"eviction_age_s"` // how long a block stays unused before it is evicted; null before any was
	Thrash     bool      `json:"thrash"`         // its cache is too small for the turns that it has
}

// Quantiles of a latency; -1 where nothing was measured.
type Quantiles struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

// Tier is how full a level of the cache is.
type Tier struct {
	Name     string `json:"name"`
	Used     int    `json:"used_tokens"`     // held by running turns (engine metrics)
	Cached   int    `json:"cached_tokens"`   // reusable distinct blocks (KV events); -1 unknown
	Capacity int    `json:"capacity_tokens"` // 0 unknown
}

// Queue shows the turns without a first token: those that wait in the router
// (Waiting) and those sent to a worker that has not answered yet (Prefill).
type Queue struct {
	Depth    int     `json:"depth"` // Waiting + Prefill
	Waiting  int     `json:"waiting"`
	Prefill  int     `json:"prefill"`
	Bands    []Band  `json:"bands"`
	OldestMS float64 `json:"oldest_ms"` // of those waiting in the router
	Held     int     `json:"held"`      // of those waiting, by the gate: sessions in use fill every cache
	HeldMS   float64 `json:"held_oldest_ms"`
	Rejected int64   `json:"rejected"`
	Canceled int64   `json:"canceled"`
}

// Band is one row of the queue panel: a band and a class.
type Band struct {
	Strict   int     `json:"strict_priority"`
	Class    string  `json:"class"` // "P0", "P1", "P2"
	Waiting  int     `json:"waiting"`
	Prefill  int     `json:"prefill"`
	OldestMS float64 `json:"oldest_ms"`
}

// Leases are the promises asked for.
type Leases struct {
	Asked   int64         `json:"asked"` // since the start of the daemon
	Renewed int64         `json:"renewed"`
	Expired int64         `json:"expired"` // ended, however
	Kept    int64         `json:"kept"`    // times one was used, and its worker had it
	Lost    int64         `json:"lost"`    // times it had not
	Cut     int64         `json:"cut"`
	GaveWay int64         `json:"gave_way"`
	Moved   int64         `json:"moved"`   // that followed their sessions
	Dropped int64         `json:"dropped"` // that ended because there were too many
	Budgets []LeaseBudget `json:"budgets"`
	Live    []Lease       `json:"live"` // largest first, 200 at most
	// States counts all that live, by what is known of them.
	States map[string]int `json:"states"`
}

// LeaseBudget is what leases take at a worker.
type LeaseBudget struct {
	Worker string `json:"worker"`
	Tokens int    `json:"tokens"`
	Budget int    `json:"budget_tokens"` // -1 where its size is not known
}

// Lease is one prefix that somebody wants kept.
type Lease struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Model   string    `json:"model"`
	Worker  string    `json:"worker"` // where the prefix went last
	Tokens  int       `json:"tokens"`
	Blocks  int       `json:"blocks"`
	TTLS    float64   `json:"ttl_s"`
	LeftS   float64   `json:"left_s"`
	Ends    time.Time `json:"ends"`
	State   string    `json:"state"` // "asked", "kept", "cut", "gave way", "lost"

	Tenant string `json:"tenant,omitempty"`
	Lines  int    `json:"agents"`       // that hold it
	Held   int    `json:"held_tokens"`  // within the budget
	Found  int    `json:"found_tokens"` // when it was last used; -1 nobody has seen
	Source string `json:"source"`       // "cache_control", "pin", "retention"
	Why    string `json:"why,omitempty"`
}

// Session is one conversation tree.
type Session struct {
	ID       string    `json:"id"`
	Harness  string    `json:"harness"`
	Model    string    `json:"model"`
	LastSeen time.Time `json:"last_seen"`
	Agents   []Agent   `json:"agents"` // the lead first, then by first turn
}

// Agent is one line of turns.
type Agent struct {
	ID       string    `json:"id"`
	Parent   string    `json:"parent,omitempty"`
	State    string    `json:"state"`          // "waiting", "prefill", "streaming"; without a turn "tool", "agents", "compacting", "done", else "idle"
	Tool     string    `json:"tool,omitempty"` // State "tool": which one runs
	Since    time.Time `json:"since"`          // of a state without a turn; zero unknown
	Told     bool      `json:"told"`           // by the harness's hooks, not only seen by its turns
	Why      string    `json:"why,omitempty"`  // State "done": how that is known
	Worker   string    `json:"worker"`
	Context  int       `json:"context_tokens"`   // last prompt and answer
	Gone     int       `json:"ephemeral_tokens"` // of what it left in caches of late, those that nobody asks for again: dropped reasoning, what a summary stands for, all of one that is done
	Left     int       `json:"left_tokens"`      // of those, what is not of its context any more
	Overlap  *float64  `json:"overlap"`          // of the last turn
	Hit      *float64  `json:"hit"`              // of the last ended turn
	Turns    int       `json:"turns"`
	TTFTMS   float64   `json:"ttft_ms"`      // of the last turn; -1 unknown
	LeaseS   float64   `json:"lease_left_s"` // -1 none
	LastSeen time.Time `json:"last_seen"`
}

// Latency covers all workers over WindowS seconds.
type Latency struct {
	WindowS  int       `json:"window_s"`
	TTFT     Quantiles `json:"ttft"`
	ITL      Quantiles `json:"itl"`
	History  []Point   `json:"history"` // oldest first, one per HistoryS seconds
	HistoryS int       `json:"history_step_s"`
}

// Point is one step of the history; -1 where nothing was measured.
type Point struct {
	TTFTP50 float64 `json:"ttft_p50_ms"`
	Hit     float64 `json:"hit"`
}

// Totals count since the daemon started, the engine's own figures.
type Totals struct {
	Turns   int64    `json:"turns"`
	Failed  int64    `json:"failed"`
	Prompt  int64    `json:"prompt_tokens"`
	Cached  int64    `json:"cached_tokens"`
	Output  int64    `json:"output_tokens"`
	Hit     *float64 `json:"hit"`
	RPS     float64  `json:"turns_per_s"` // last window
	TPS     float64  `json:"output_tokens_per_s"`
	Chats   int64    `json:"chat_path"`         // turns that went to a worker's own chat API
	Held    int64    `json:"held"`              // turns that the gate held
	Forced  int64    `json:"gate_forced"`       // of those, let in because their time was over
	Context int64    `json:"context_tokens"`    // of agents seen in the last hour, and what they left
	Gone    int64    `json:"ephemeral_tokens"`  // that they left in caches of late and nobody asks for again
	Moved   int64    `json:"moved"`             // turns that went on at another worker
	Orphans int64    `json:"kv_events_dropped"` // KV events that could not be placed
}

// Hooks count what harnesses told of their sessions since the daemon started.
type Hooks struct {
	Heard     int64 `json:"heard"`
	Malformed int64 `json:"malformed"` // datagrams that were none, and were dropped
	Crowded   int64 `json:"crowded"`   // more at once than are read, and dropped
}

// Ledger says whether bookkeeping works.
type Ledger struct {
	OK            bool   `json:"ok"`
	Lost          int64  `json:"lost_rows"`
	LostRaw       int64  `json:"lost_raw_turns"` // a restart would cost their sessions a re-prefill
	LostResponses int64  `json:"lost_responses"` // held in memory only
	Why           string `json:"why,omitempty"`
}

// Memory is what the daemon holds so that next turns are quick; -1 unknown.
type Memory struct {
	Agents  int   `json:"agents"`       // whose last prompt is held
	Prompts int64 `json:"prompt_bytes"` // their texts, token ids and chains
	Raw     int64 `json:"raw_bytes"`    // the model's own raw turns
	Ledger  int64 `json:"ledger_bytes"` // rows on their way to disk, stored responses, where raw turns lie there
	Bodies  int64 `json:"body_bytes"`   // of requests, to know again what comes again
	Limit   int64 `json:"limit_bytes"`  // of prompts and raw turns together
	Dropped int64 `json:"dropped"`      // agents whose prompt was let go for room; their next turn costs more
	RSS     int64 `json:"rss_bytes"`    // of the whole daemon
}
