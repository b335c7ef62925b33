package config

import (
	"strings"

	"github.com/agentinfer/dyn/route"
)

// Kind is what a setting's value must look like.
type Kind int

// The kinds of values.
const (
	Text     Kind = iota
	Whole         // a whole number, 0 or more
	Size          // a whole number with k, m, g (×1000) or KiB, MiB, GiB
	Real          // a number, 0 or more
	Duration      // 30s, 5m
	Path          // made absolute when read
	Choice        // one of Setting.Among
	Switch        // true or false; the flag alone is true
	Rule          // a routing strategy, with knobs of its own behind colons, or a .star file
)

// Setting is one row of the table.
type Setting struct {
	Key     string // "server.port"
	Was     string // the key by which it went before, which is still read; its flag is the part behind the dot
	Flag    string // "port"; "" where the command line has none
	Kind    Kind
	Among   []string // with Choice
	Off     bool     // "off" is a value too
	Default string   // "" when the recipe decides, or nothing is set
	Help    string
	Worker  string // the worker's own flag that it is handed to, or ""
	Sim     bool   // handed to simulated workers only
	Live    bool   // may be changed while the daemon runs
}

// Env is the environment name of the setting.
func (s Setting) Env() string { return envOf(s.Key) }

func envOf(key string) string { return "DYN_" + strings.ToUpper(strings.ReplaceAll(key, ".", "__")) }

// WasFlag is the flag by which it went before; "" is none.
func (s Setting) WasFlag() string {
	_, flag, _ := strings.Cut(s.Was, ".")
	return flag
}

// Settings is the table, in the order of the help page.
var Settings = []Setting{
	{Key: "up.recipe", Help: "recipe that dyn up serves; unset is what fits this machine"},
	{Key: "up.workers", Flag: "workers", Kind: Whole, Default: "1", Help: "engines to start"},
	{Key: "server.host", Flag: "host", Default: "127.0.0.1", Help: "address to listen on; another than loopback needs a key"},
	{Key: "server.port", Flag: "port", Kind: Whole, Default: "8080", Help: "port to listen on; 0 takes a free one"},
	{Key: "server.api_key", Flag: "api-key", Help: "key that clients must send"},
	{Key: "server.parser", Flag: "parser", Help: "how answers are read, a name of dyn parsers ls; unset is what the recipe says, else what fits the chat template"},
	{Key: "server.gather", Kind: Duration, Off: true, Default: "20ms", Help: "most that a token waits for others while 48 answers or more stream; a quarter of it from 16 on; or off"},
	{Key: "router.mode", Was: "router.policy", Flag: "router-mode", Kind: Rule, Among: route.Names(), Default: route.Names()[0], Live: true, Help: "strategy that picks a worker, with knobs of its own behind colons, or a .star file"},
	{Key: "router.gate", Flag: "router-gate", Kind: Choice, Among: []string{"auto", "off", "balanced", "throughput"}, Default: "auto", Live: true, Help: "holds turns back that would push out of every cache what others come back for: where a worker thrashes (auto), never, always for 40s or for 180s at most"},
	{Key: "router.queue_threshold", Flag: "router-queue-threshold", Kind: Real, Off: true, Default: "4", Live: true, Help: "a worker with so many steps' worth of prompt tokens pending is full, and turns wait while all are; or off"},
	{Key: "router.queue_depth", Kind: Whole, Default: "4096", Live: true, Help: "turns that may wait for one model, half of them of one key; one more is refused (529 or 503, with Retry-After)"},
	{Key: "router.queue_age", Kind: Duration, Off: true, Default: "5m", Live: true, Help: "a turn that has waited for so long is refused, or handed to the cheapest worker if its stream has begun; or off"},
	{Key: "router.temperature", Flag: "router-temperature", Kind: Real, Live: true, Help: "of the choice, for strategies that have one: 0 takes the best worker, more draws among the good ones"},
	{Key: "router.prefill_weight", Flag: "router-prefill-weight", Kind: Real, Live: true, Help: "of prompt tokens that a worker has to compute, for strategies that have one"},
	{Key: "router.lease_budget", Kind: Real, Default: "0.3", Help: "share of a worker's KV cache that leases may take, half of that of one key; 0 grants none"},
	{Key: "router.trust_dyn_template", Flag: "trust-dyn-template", Kind: Switch, Default: "false", Help: "make the prompts here also for engines that make others of the same conversations"},
	{Key: "ledger.max_age", Kind: Duration, Default: "720h", Help: "rows older than this are removed"},
	{Key: "ledger.max_size", Kind: Size, Default: "512MiB", Help: "oldest rows go above this size"},
	{Key: "ledger.raw_turns", Kind: Duration, Off: true, Default: "24h", Help: "how long the model's own answers, as token ids, and a session's tools are kept, so that a restart changes no prompt; or off"},
	{Key: "ledger.prompts", Kind: Choice, Among: []string{"hashes", "text"}, Default: "hashes", Help: "what the books hold where a prompt parts from the one before: hashes and counts, or the words that stood and stand there"},
	{Key: "engine.vllm", Help: "command that stands for vllm in recipes, such as a container's; unset is the installed one, or one on PATH"},
	{Key: "engine.llamacpp", Help: "command that stands for llama-server in recipes; unset is one on PATH, or the installed one"},
	{Key: "worker.model_dir", Flag: "model-dir", Kind: Path, Worker: "model-dir", Help: "folder with tokenizer.json, config.json and the chat template"},
	{Key: "worker.brain", Flag: "brain", Kind: Path, Worker: "brain", Sim: true, Help: "what a simulated model says: a YAML script"},
	{Key: "worker.speed", Flag: "speed", Kind: Real, Worker: "speed", Sim: true, Help: "1 is modelled time, 0 is as fast as it goes"},
	{Key: "worker.profile", Flag: "profile", Worker: "profile", Sim: true, Help: "model and GPU whose speed is simulated"},
	{Key: "worker.kv_tokens", Flag: "kv-tokens", Kind: Size, Worker: "kv-tokens", Sim: true, Help: "KV cache of a worker, in tokens"},
	{Key: "worker.block_size", Flag: "block-size", Kind: Whole, Worker: "block-size", Help: "tokens in a KV block"},
	{Key: "worker.max_model_len", Flag: "max-model-len", Kind: Size, Worker: "max-model-len", Help: "context: prompt and answer, in tokens"},
	{Key: "worker.max_num_seqs", Flag: "max-num-seqs", Kind: Whole, Worker: "max-num-seqs", Help: "turns that run at once in a worker"},
	{Key: "worker.max_num_batched_tokens", Flag: "max-num-batched-tokens", Kind: Size, Worker: "max-num-batched-tokens", Help: "tokens computed in one step"},
	{Key: "worker.max_num_queued_reqs", Flag: "max-num-queued-reqs", Kind: Whole, Worker: "max-num-queued-reqs", Sim: true, Help: "turns that may wait inside a worker"},
	{Key: "worker.shutdown_timeout", Flag: "shutdown-timeout", Kind: Whole, Worker: "shutdown-timeout", Help: "seconds a worker may take to end its turns"},
}

// find returns the row of a key, or nil.
func find(key string) *Setting {
	for i := range Settings {
		if Settings[i].Key == key || Settings[i].Was == key && key != "" {
			return &Settings[i]
		}
	}
	return nil
}
