package ledger

import "time"

// Turn is the record of one turn: what was asked, decided, cached, computed
// and lost. It holds no prompt text.
type Turn struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Dialect   string    `json:"dialect"`
	Harness   string    `json:"harness"`
	Session   string    `json:"session"`
	Agent     string    `json:"agent"`
	Parent    string    `json:"parent"`
	Kind      string    `json:"kind"` // turn.Who.Kind
	Model     string    `json:"model"`
	Stream    bool      `json:"stream"`
	Priority  int       `json:"priority"`
	Strict    int       `json:"strict_priority"`
	Class     string    `json:"class"`
	Messages  int       `json:"messages"`
	Tools     int       `json:"tools"`
	MaxTokens int       `json:"max_tokens"` // as sent to the engine

	Worker   string  `json:"worker"`         // the last one, when the turn moved
	Decision string  `json:"decision"`       // JSON of route.Decision: parts per candidate, reason
	Overlap  int     `json:"overlap_tokens"` // predicted, at the chosen worker
	Prompt   int     `json:"prompt_tokens"`  // as the engine reported
	Cached   int     `json:"cached_tokens"`  // as the engine reported
	Output   int     `json:"output_tokens"`  // as the engine reported
	Thinking int     `json:"thinking_tokens"`
	QueueMS  float64 `json:"queue_ms"`
	GateMS   float64 `json:"gate_ms"` // of those, that the gate held it
	TTFTMS   float64 `json:"ttft_ms"` // -1: no token came
	TotalMS  float64 `json:"total_ms"`
	Moved    int     `json:"moved"`   // times it went on at another worker
	Outcome  string  `json:"outcome"` // "end", "calls", "length", "stop", "cancel", "reject", "fail"
	Error    string  `json:"error"`

	Tenant string `json:"tenant"` // name of the key that it came with; "" without keys
	Format string `json:"format"` // form that its text was held to: "json_object", "json_schema" or ""
	Chat   string `json:"chat"`   // why it went to the worker's own chat API; "" is by token ids
	Edited int    `json:"edited"` // answers of the model that the client had changed, seen first in this turn
	Flawed int    `json:"flawed"` // calls of its answer that were mended, no tool's, or dropped as unwanted
	Break  string `json:"break"`  // JSON of diff.Break: where its prompt parted from the one before; "" is nowhere, Alone not known
}

// Alone is the Break of a turn whose prompt was compared with none: it is its
// agent's first, or the one before is not held any more, as after a restart.
const Alone = "?"

// Lease is the record of a lease that was asked or used by a turn, or whose
// state has changed.
type Lease struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Turn    string    `json:"turn"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Model   string    `json:"model"`
	Tokens  int       `json:"tokens"`
	Blocks  int       `json:"blocks"`
	TTLS    float64   `json:"ttl_s"`
	State   string    `json:"state"` // "asked", "kept", "cut", "gave way", "lost", "ended"

	Tenant string    `json:"tenant"`
	Worker string    `json:"worker"` // where it is to be kept
	Hash   uint64    `json:"hash,string"`
	Block  int       `json:"block"`        // tokens of a block
	Held   int       `json:"held_tokens"`  // within the budget
	Found  int       `json:"found_tokens"` // when it was last used; -1 nobody has seen
	Source string    `json:"source"`       // who asked: "cache_control", "pin", "retention"
	Ends   time.Time `json:"ends"`
	Why    string    `json:"why"` // of the state
}

// AgentEvent is one step in an agent's life between its turns: life.Event, or
// what was seen of it.
type AgentEvent struct {
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Model   string    `json:"model"` // "" before its first turn
	Event   string    `json:"event"` // "started", "prompted", "tool", "tool done", "agent", "agent done", "rested", "compacting", "compacted", "session done"
	Tool    string    `json:"tool"`
	MS      float64   `json:"ms"`     // that the tool took; -1 unknown
	Source  string    `json:"source"` // "hook" as the harness told, "seen" as its turns show, "hint" as one of them said
	Detail  string    `json:"detail"`
}

// WorkerEvent is one step in a worker's life.
type WorkerEvent struct {
	At     time.Time `json:"at"`
	Worker string    `json:"worker"`
	Model  string    `json:"model"`
	PID    int       `json:"pid"`
	URL    string    `json:"url"`
	Event  string    `json:"event"` // "starting", "adopted", "ready", "down", "gave up", "restarted", "drained", "attached", "detached", "stopped", "prompts", "resync", "drift"
	Detail string    `json:"detail"`
}
