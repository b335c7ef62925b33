package dialect

import (
	"math"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// hints reads what all three dialects may carry beside their own fields: the
// nvext object in its old and new spellings, the salt, the latency class, and
// the headers, which override the body field by field. Hints that are not
// known are ignored and listed, so that the client can be told; with strict
// they are a problem.
func (r *reader) hints(t *turn.Turn, root tape.Value) {
	h := &t.Hints
	ext := r.field(root, "nvext", tape.Object)
	h.Lease = max(h.Lease, r.lease(ext))
	latency(r, t, root.Key("latency_class"))
	if t.Salt = r.text(ext, "cache_salt"); t.Salt == "" {
		t.Salt = r.text(root, "cache_salt")
	}
	for k, v := range ext.Fields() {
		key := k.Text()
		if read, ok := extWords[key]; ok {
			read(r, t, v)
		} else if v.Given() {
			r.unknown(h, key)
		}
	}
	r.words(t, root.Key("router_config_override"), "router_config_override", routeWords)
	r.headers(t)
	strict := false
	if v := r.header("x-dyn-strict"); v != "" && !truth(&strict, v) {
		r.unknown(h, "x-dyn-strict")
	}
	if strict = r.flag(ext, "strict") || strict; strict && len(h.Unknown) > 0 {
		r.fail(ext, "unknown field %s, and strict was asked for", h.Unknown[0])
	}
	h.Exactly = strict
}

// unknownMost bounds how many hints are listed that are not known.
const unknownMost = 16

func (r *reader) unknown(h *turn.Hints, name string) {
	if len(h.Unknown) < unknownMost {
		h.Unknown = append(h.Unknown, bounded(name))
	}
}

// hintWord reads one field of nvext or of agent_hints.
type hintWord func(r *reader, t *turn.Turn, v tape.Value)

// extWords are the fields of nvext that are known: those of Dynamo's frontend
// (lib/llm/src/protocols/common/extensions.rs and its older openai/nvext.rs),
// and ours.
var extWords map[string]hintWord

// agentWords are the fields of agent_hints that are known.
var agentWords map[string]hintWord

func init() { // they call hints' own methods
	extWords = map[string]hintWord{
		"agent_hints": func(r *reader, t *turn.Turn, v tape.Value) {
			r.words(t, v, "agent_hints", agentWords)
		},
		"session_control": func(r *reader, t *turn.Turn, v tape.Value) {
			r.words(t, v, "session_control", sessionWords)
		},
		"router": func(r *reader, t *turn.Turn, v tape.Value) {
			r.words(t, v, "router", routeWords)
		},
		"router_config_override": func(r *reader, t *turn.Turn, v tape.Value) {
			r.words(t, v, "router_config_override", routeWords)
		},
		"annotations":          annotations,
		"retention":            retention,
		"extra_fields":         func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Extra = r.names(v) },
		"greed_sampling":       greedy,
		"latency_class":        latency,
		"worker":               pin,
		"backend_worker_id":    pin,
		"backend_instance_id":  pin,
		"decode_worker_id":     pin,
		"prefill_worker_id":    pin,
		"cache_control":        silent, // read as the lease
		"cache_salt":           silent, // read as the salt
		"strict":               silent,
		"request_timestamp_ms": silent, // for replays of traces
		"agent_context":        silent, // who it is; see identity.go
	}
	agentWords = map[string]hintWord{
		"priority": func(r *reader, t *turn.Turn, v tape.Value) {
			t.Hints.Priority = r.number32(v, math.MinInt32)
		},
		"strict_priority": func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Strict = r.number32(v, 0) },
		"latency_sensitivity": func(r *reader, t *turn.Turn, v tape.Value) {
			if f, ok := v.Float(); ok && t.Hints.Priority == 0 { // the old name of priority, in seconds
				t.Hints.Priority = int(max(0, min(f, math.MaxInt32)))
			}
		},
		"osl":                 func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.OSL = r.number32(v, 0) },
		"speculative_prefill": func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Prefill = r.yes(v) },
		"agent_state":         func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.State = bounded(r.word(v)) },
		"turns_left": func(r *reader, t *turn.Turn, v tape.Value) {
			t.Hints.TurnsLeft = r.number32(v, 0)
			t.Hints.Final = t.Hints.Final || t.Hints.TurnsLeft == 0
		},
		"ephemeral":     func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Ephemeral = r.yes(v) },
		"latency_class": latency,
		"tool_eta_ms": func(r *reader, t *turn.Turn, v tape.Value) {
			t.Hints.ToolETA = time.Duration(r.number32(v, 0)) * time.Millisecond
		},
		"session_final": func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Final = r.yes(v) },
		"worker":        pin,
	}
}

// sessionWords are the fields of Dynamo's former session_control.
var sessionWords = map[string]hintWord{
	"session_id": silent, // see identity.go
	"timeout":    silent, // sessions need no end here
	"action": func(r *reader, t *turn.Turn, v tape.Value) {
		if r.word(v) == "close" {
			t.Hints.Final = true
		}
	},
}

// words reads an object of hints.
func (r *reader) words(t *turn.Turn, object tape.Value, name string, known map[string]hintWord) {
	if object.Given() && object.Kind() != tape.Object {
		r.fail(object, "must be an object, not %s", kindName(object.Kind()))
	}
	for k, v := range object.Fields() {
		key := k.Text()
		if read, ok := known[key]; ok && v.Given() {
			read(r, t, v)
		} else if !ok {
			r.unknown(&t.Hints, name+"."+key)
		}
	}
}

func silent(*reader, *turn.Turn, tape.Value) {}

func latency(r *reader, t *turn.Turn, v tape.Value) {
	class := r.word(v)
	t.Hints.Batch = t.Hints.Batch || class == "batch"
	if !isClass(class) {
		r.unknown(&t.Hints, "latency_class."+class)
	}
}

// isClass reports whether a word is a latency class, of which only batch
// makes a difference, or none.
func isClass(word string) bool { return word == "" || word == "interactive" || word == "batch" }

// greedy is Dynamo's way to ask for the likeliest tokens.
func greedy(r *reader, t *turn.Turn, v tape.Value) {
	if zero := 0.0; r.yes(v) {
		t.Sampling.Temperature = &zero
	}
}

// pin reads a worker that the turn must run at: a name, or a number where
// Dynamo counts its instances.
func pin(r *reader, t *turn.Turn, v tape.Value) {
	switch v.Kind() {
	case tape.String:
		t.Hints.Worker = bounded(v.Text())
	case tape.Number:
		t.Hints.Worker = bounded(string(v.Raw()))
	case tape.None, tape.Null:
	default:
		r.fail(v, "must be the name of a worker, not %s", kindName(v.Kind()))
	}
}

// The annotations that are made, in Dynamo's names.
const (
	FormattedPrompt = "formatted_prompt" // the prompt as text
	TokenIDs        = "token_ids"        // the prompt as ids
)

// queryInstance asks where the turn would run, and for nothing else. Dynamo's
// has the name of a worker behind it, which the worker pins tell here.
const queryInstance = "query_instance_id"

// annotations ask for what is told beside the answer.
func annotations(r *reader, t *turn.Turn, v tape.Value) {
	for _, name := range r.names(v) {
		switch before, _, _ := strings.Cut(name, ":"); {
		case before == queryInstance:
			t.Hints.Query = true
		case name == FormattedPrompt || name == TokenIDs:
			t.Hints.Annotate = append(t.Hints.Annotate, name)
		default:
			r.unknown(&t.Hints, "annotations."+name)
		}
	}
}

// namesMost bounds lists of names in hints.
const namesMost = 64

// names returns a list of strings.
func (r *reader) names(v tape.Value) []string {
	if v.Given() && v.Kind() != tape.Array {
		r.fail(v, "must be an array, not %s", kindName(v.Kind()))
	}
	var names []string
	for _, e := range v.Elements() {
		if e.Kind() != tape.String || len(names) == namesMost {
			r.fail(v, "must hold at most %d strings", namesMost)
			return nil
		}
		names = append(names, bounded(e.Text()))
	}
	return names
}

// number32 returns an integer that is at least low.
func (r *reader) number32(v tape.Value, low int64) int {
	if n := r.wholeOf(v, low, math.MaxInt32); n != nil {
		return int(*n)
	}
	return 0
}

// word returns a string.
func (r *reader) word(v tape.Value) string {
	if v.Given() && v.Kind() != tape.String {
		r.fail(v, "must be a string, not %s", kindName(v.Kind()))
	}
	return v.Text()
}
