package script

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentinfer/dyn/route"
)

// turn is a route.Need to a file.
type turn struct{ n *route.Need }

// turnFields are the fields of need.
var turnFields = map[string]func(*route.Need) starlark.Value{
	"turn":     func(n *route.Need) starlark.Value { return starlark.String(n.Turn) },       // id
	"prompt":   func(n *route.Need) starlark.Value { return starlark.MakeInt(n.Prompt) },    // tokens
	"output":   func(n *route.Need) starlark.Value { return number64(n.Output) },            // tokens expected; 0 unknown
	"session":  func(n *route.Need) starlark.Value { return starlark.String(n.Session) },    // id; "" is none
	"parent":   func(n *route.Need) starlark.Value { return starlark.String(n.Parent) },     // the session that a subagent works for
	"home":     func(n *route.Need) starlark.Value { return starlark.String(n.Home) },       // worker of the session's last turn
	"lora":     func(n *route.Need) starlark.Value { return starlark.String(n.LoRA) },       // adapter
	"prefix":   func(n *route.Need) starlark.Value { return starlark.MakeUint64(n.Prefix) }, // hash of system prompt and tools
	"priority": func(n *route.Need) starlark.Value { return number64(n.Priority) },          // seconds
	"batch":    func(n *route.Need) starlark.Value { return starlark.Bool(n.Batch) },        // nobody waits for it
	"seq":      func(n *route.Need) starlark.Value { return starlark.MakeUint64(n.Seq) },    // turns decided before
}

// worker is a candidate that may take the turn, to a file.
type worker struct {
	c   *route.Candidate
	p   *route.Part
	lot float64
}

// workerFields are the fields of a worker.
var workerFields = map[string]func(*worker) starlark.Value{
	"name":        func(w *worker) starlark.Value { return starlark.String(w.c.Worker) },
	"overlap":     func(w *worker) starlark.Value { return starlark.MakeInt(w.p.Overlap) },  // tokens of the prompt that it holds
	"new":         func(w *worker) starlark.Value { return starlark.MakeInt(w.p.New) },      // tokens that it would compute, at least 1
	"host":        func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Lower[0]) }, // tokens behind overlap in lower tiers
	"disk":        func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Lower[1]) },
	"remote":      func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Lower[2]) },
	"in_flight":   func(w *worker) starlark.Value { return starlark.MakeInt(w.p.InFlight) }, // turns there
	"decoding":    func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Decoding) }, // turns with a first token
	"pending":     func(w *worker) starlark.Value { return starlark.MakeInt(w.p.Pending) },  // uncached tokens without a first token yet
	"backlog_ms":  func(w *worker) starlark.Value { return number64(w.c.Backlog) },          // prefill sent there and not done
	"slots":       func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Slots) },
	"max_batched": func(w *worker) starlark.Value { return starlark.MakeInt(w.c.MaxBatched) },
	"context":     func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Context) },
	"kv_tokens":   func(w *worker) starlark.Value { return starlark.MakeInt(w.c.KVTokens) }, // its KV cache; 0 unknown
	"active":      func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Active) },   // KV tokens of the turns there
	"free":        func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Free) },     // KV tokens; -1 unknown
	"block_size":  func(w *worker) starlark.Value { return starlark.MakeInt(w.c.BlockSize) },
	"blocks":      func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Blocks) }, // of the turns there
	"shared":      func(w *worker) starlark.Value { return starlark.MakeInt(w.c.Shared) }, // those of the prompt among them
	"wanted":      func(w *worker) starlark.Value { return number64(w.c.Wanted) },         // share of its KV that sessions at home there will want
	"typical":     func(w *worker) starlark.Value { return number64(w.c.Typical) },        // tokens of a session there
	"age_ms":      func(w *worker) starlark.Value { return number64(float64(w.c.Age) / float64(time.Millisecond)) },
	"step_ms":     func(w *worker) starlark.Value { return number64(w.c.Rates.Step) }, // rates, see route.Rates
	"token_ms":    func(w *worker) starlark.Value { return number64(w.c.Rates.Token) },
	"context_ms":  func(w *worker) starlark.Value { return number64(w.c.Rates.Context) },
	"lot":         func(w *worker) starlark.Value { return starlark.Float(w.lot) }, // drawn for this turn, in [0, 1)
}

// number64 is a number to a file; what is none is 0.
func number64(x float64) starlark.Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return starlark.Float(x)
}

// Attr is of starlark.HasAttrs, as are the methods below.
func (t *turn) Attr(name string) (starlark.Value, error) {
	if f := turnFields[name]; f != nil {
		return f(t.n), nil
	}
	return nil, nil
}

func (t *turn) AttrNames() []string   { return slices.Sorted(maps.Keys(turnFields)) }
func (t *turn) String() string        { return "turn " + t.n.Turn }
func (t *turn) Type() string          { return "turn" }
func (t *turn) Freeze()               {}
func (t *turn) Truth() starlark.Bool  { return true }
func (t *turn) Hash() (uint32, error) { return 0, errors.New("unhashable: turn") }

// Attr is of starlark.HasAttrs, as are the methods below.
func (w *worker) Attr(name string) (starlark.Value, error) {
	if f := workerFields[name]; f != nil {
		return f(w), nil
	}
	return nil, nil
}

func (w *worker) AttrNames() []string   { return slices.Sorted(maps.Keys(workerFields)) }
func (w *worker) String() string        { return w.c.Worker }
func (w *worker) Type() string          { return "worker" }
func (w *worker) Freeze()               {}
func (w *worker) Truth() starlark.Bool  { return true }
func (w *worker) Hash() (uint32, error) { return starlark.String(w.c.Worker).Hash() }
