package dialect

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// retainMost bounds the ranges of one turn.
const retainMost = 16

// retainDefaults are what a range is worth, and for how long, where it does not
// say: the system prompt goes last, the conversation survives a tool call, what
// the model says goes first.
var retainDefaults = map[string]turn.Retain{
	"system":    {Priority: 100, For: time.Hour},
	"tools":     {Priority: 100, For: time.Hour},
	"history":   {Priority: 50, For: 45 * time.Second},
	"reasoning": {Priority: 1, For: 45 * time.Second},
	"output":    {Priority: 1, For: 45 * time.Second},
	"tokens":    {Priority: 50, For: 45 * time.Second},
}

// retention reads the list of ranges.
func retention(r *reader, t *turn.Turn, v tape.Value) {
	if v.Given() && v.Kind() != tape.Array {
		r.fail(v, "must be an array, not %s", kindName(v.Kind()))
		return
	}
	for _, e := range v.Elements() {
		if len(t.Hints.Retain) == retainMost {
			r.fail(v, "more than %d of them", retainMost)
			return
		}
		if e.Kind() != tape.Object {
			r.fail(e, "must be an object, not %s", kindName(e.Kind()))
			return
		}
		t.Hints.Retain = append(t.Hints.Retain, r.retain(e))
	}
}

// retain reads one range.
func (r *reader) retain(v tape.Value) turn.Retain {
	where := r.text(v, "where")
	name, from, to, ok := rangeOf(where)
	x := retainDefaults[name]
	if x.Where = name; !ok {
		r.fail(v.Key("where"), "must be system, tools, history, reasoning, output or tokens[a,b], not %s", cut(where))
		return x
	}
	x.From, x.To = from, to
	if n := r.wholeOf(v.Key("priority"), 0, 100); n != nil {
		x.Priority = int(*n)
	}
	if d := r.text(v, "duration"); d != "" {
		if x.For, ok = Time(d); !ok {
			r.fail(v.Key("duration"), "must be a time such as 45s, 5m or 1h, not %s", cut(d))
		}
	}
	return x
}

// rangeOf reads where a range lies: a word, or tokens[a,b].
func rangeOf(s string) (name string, from, to int, ok bool) {
	name, rest, inside := strings.Cut(s, "[")
	if _, known := retainDefaults[name]; !known || inside != (name == "tokens") {
		return name, 0, 0, false
	}
	if !inside {
		return name, 0, 0, true
	}
	n, err := fmt.Sscanf(rest, "%d,%d]", &from, &to)
	return name, from, to, err == nil && n == 2 && from >= 0 && to > from && fmt.Sprintf("%d,%d]", from, to) == rest
}
