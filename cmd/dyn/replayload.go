package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/replay/trace"
)

// What stands before a name that is no file's.
const (
	replayMade   = "made:"   // the load of a published comparison
	replayLedger = "ledger:" // what was served here
)

// load reads what is to be played.
func (o *replayRun) load(ctx context.Context, a *app, path string) (*trace.Trace, error) {
	if name, ok := strings.CutPrefix(path, replayMade); ok {
		t, err := trace.Make(name)
		if err != nil {
			return nil, fail(usage, opOf(o.cmd), err, "", o.cmd.CommandPath()+" "+replayMade+trace.MadeNames()[0])
		}
		return t, nil
	}
	if age, ok := strings.CutPrefix(path, replayLedger); ok {
		return o.served(ctx, a, age)
	}
	if o.model != "" {
		return nil, fail(usage, opOf(o.cmd), errors.New("--model is for "+replayLedger+", a trace names no models"), "", "")
	}
	t, err := trace.Open(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fail(usage, opOf(o.cmd), errors.Unwrap(err), whyOf(err), "")
	}
	return t, err
}

// served reads the ledger's turns of one model, those younger than an age.
func (o *replayRun) served(ctx context.Context, a *app, age string) (*trace.Trace, error) {
	young, err := ageOf(age)
	if err != nil {
		return nil, fail(usage, opOf(o.cmd), err, "", o.cmd.CommandPath()+" "+replayLedger+"2d")
	}
	var q ledger.Query
	if young > 0 {
		q.Since = time.Now().Add(-young)
	}
	r, err := openLedger(a, "replay")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	turns, err := r.Turns(ctx, q)
	if err != nil {
		return nil, err
	}
	full := len(turns) == ledger.MaxRows
	model, others := busiest(turns, o.model)
	turns = slices.DeleteFunc(turns, func(u ledger.Turn) bool { return u.Model != model })
	if len(turns) == 0 && o.model != "" {
		return nil, fail(nothing, opOf(o.cmd), fmt.Errorf("the ledger has no turns of %q", o.model), "it has turns of "+strings.Join(others, ", "), "")
	}
	t, err := trace.Served(turns)
	if err != nil {
		return nil, fail(nothing, opOf(o.cmd), err, "", "dyn stats")
	}
	t.Name = strings.TrimSuffix(replayLedger+age, ":")
	if full {
		t.Notes = append(t.Notes, fmt.Sprintf("only the newest %s turns were read", count(ledger.MaxRows)))
	}
	if len(others) > 0 && o.model == "" {
		t.Notes = append(t.Notes, fmt.Sprintf("of %s alone; --model takes another: %s", model, strings.Join(others, ", ")))
	}
	if !o.given("workers") {
		o.c.Workers = workersOf(turns)
	}
	return t, nil
}

// ageOf reads a time back from now: "" is all there is, 2d two days.
func ageOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n > 0 && n <= 3650 {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s%s: %q is no time like 2d, 36h or 90m", replayLedger, text, text)
	}
	return d, nil
}

// busiest is the model that is played: the one asked for, else that with most
// turns; others are those that are not.
func busiest(turns []ledger.Turn, asked string) (model string, others []string) {
	n := map[string]int{}
	for i := range turns {
		n[turns[i].Model]++
	}
	model = asked
	for m := range n {
		if asked == "" && (model == "" || n[m] > n[model] || n[m] == n[model] && m < model) {
			model = m
		}
	}
	for m := range n {
		if m != model {
			others = append(others, m)
		}
	}
	slices.Sort(others)
	return model, others
}

// workersOf counts the workers that served.
func workersOf(turns []ledger.Turn) int {
	seen := map[string]bool{}
	for i := range turns {
		if turns[i].Worker != "" {
			seen[turns[i].Worker] = true
		}
	}
	return max(len(seen), 1)
}
