package turn

import "time"

// State is where a worker is in its life.
type State string

// The states of a worker.
const (
	Starting State = "starting" // its process runs, no real token yet
	Ready    State = "ready"
	Draining State = "draining" // takes no new turns, ends the running ones
	Down     State = "down"     // lost; being restarted, or attached and unreachable
	Gone     State = "stopped"  // ended on purpose
)

// Capabilities are what an engine was seen to do when it was probed. They are
// never guessed from a version.
type Capabilities struct {
	Model      string // the name the engine serves
	Context    int    // tokens, prompt and answer together
	BlockSize  int    // tokens per KV block
	KVTokens   int    // KV capacity in tokens
	MaxSeqs    int    // turns that run at once; 0 when unknown
	MaxBatched int    // tokens computed per step; 0 when unknown
	TokenIDs   bool   // answers carry token ids
	Cached     bool   // usage tells cached tokens
	Events     bool   // KV events arrive; without them the index is approximate
	Replay     bool   // lost events can be asked for
	Priority   bool   // priorities are honoured
	Formats    bool   // Job.Format is enforced
	Logprobs   bool   // log probabilities are told
	Chat       bool   // Job.Chat is taken
	Vision     bool   // images of a Job.Chat are seen
	Ranks      int    // data-parallel ranks behind its address, among which it chooses itself; 0 is one
	Engine     string // "vllm 0.32.0": for people, never for decisions
}

// Load is what a worker reports about itself, a moment ago.
type Load struct {
	At      time.Time // when it was read; zero is never
	Running int
	Waiting int
	KVUsed  float64 // share of the KV cache held by running turns, 0 to 1
	Tiers   []Tier
	Hits    int64         // prompt tokens found cached, since the engine started
	Queries int64         // prompt tokens looked up, since the engine started
	Work    int64         // grows while the engine computes, whatever it counts: tokens, steps; 0 is not told
	Quiet   time.Duration // how long, when last looked at, it had shown no sign of work though turns waited for it
}

// Tier is how full one level of a worker's KV cache is.
type Tier struct {
	Name     string // "gpu", "host", "disk", "remote"
	Used     int    // tokens held by running turns, from the engine's metrics
	Cached   int    // tokens of distinct blocks that may be reused, from KV events; -1 unknown
	Capacity int    // tokens; 0 when unknown
}

// WorkerInfo is who a worker is and how it fares, at one instant.
type WorkerInfo struct {
	Name     string
	URL      string // http://127.0.0.1:8101
	PID      int    // 0 when dyn did not start it
	Attached bool
	Started  time.Time // of its process; zero when attached
	Adopted  bool      // its process was started by a daemon before this one
	State    State
	Why      string // what is wrong; "" when Ready
	Chat     string // why its turns go to its own chat API; "" is by ids
	Since    time.Time
	Back     time.Time // when it is expected to take turns again; zero is not known, or that it does
	Restarts int
	GPUs     []int
	Log      string // path of its log file; "" when attached
	Dropped  int64  // KV batches and events of it that could not be read
	Caps     Capabilities
}

// Attach says how to reach an engine that dyn did not start.
type Attach struct {
	URL      string `json:"url"`
	Events   string `json:"events,omitempty"` // tcp://host:port of its KV events; "" asks the engine
	Replay   string `json:"replay,omitempty"`
	Key      string `json:"key,omitempty"`
	Kind     string `json:"kind,omitempty"`      // "" takes turns; else "embeddings", "images" or "videos", which are handed on
	ModelDir string `json:"model_dir,omitempty"` // tokenizer and template; "" uses a served model of the same name
}
