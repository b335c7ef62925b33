package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/scripts/reuse"
)

// judge looks at a cell when its scene has been played. It returns a note for
// the table.
func judge(ctx context.Context, c client, s scene, l *lab) (string, error) {
	turns, err := settled(ctx, l)
	if err != nil {
		return "", err
	}
	sum := reuse.Check(turns)
	note := noted(turns, sum)
	if l.note != "" {
		note += "; " + l.note
	}
	errs := []error{statuses(s, l.tap.exchanges()), outcomes(s, turns), known(c, s, turns)}
	if n := len(sum.Restarts); n > s.allow.restarts {
		errs = append(errs, fmt.Errorf("%d prompts are shorter than the one before: %s", n, rows(sum.Restarts)))
	}
	for _, m := range sum.Misses {
		errs = append(errs, errors.New(m.String()))
	}
	return note, errors.Join(errs...)
}

// settled returns the ledger's rows once there is one for each request that
// the tap saw; the ledger may trail.
func settled(ctx context.Context, l *lab) ([]ledger.Turn, error) {
	want := 0
	for _, e := range l.tap.exchanges() {
		if inference(e) && e.Status == http.StatusOK {
			want++
		}
	}
	var turns []ledger.Turn
	err := until(ctx, settleLimit, fmt.Sprintf("the ledger has %d turns that have ended", want), func() (bool, error) {
		var err error
		turns, err = l.turns(ctx)
		open := slices.ContainsFunc(turns, func(t ledger.Turn) bool { return t.Outcome == "" })
		return len(turns) >= max(want, 1) && !open, err
	})
	if err == nil && len(turns) == 0 {
		err = errors.New("no turn was served")
	}
	return turns, err
}

// inference says whether an exchange is a turn.
func inference(e exchange) bool {
	return e.Method == http.MethodPost && slices.Contains([]string{"/v1/messages", "/v1/chat/completions", "/v1/responses"}, e.Path)
}

// statuses looks at what the client was answered.
func statuses(s scene, all []exchange) error {
	var errs []error
	for _, e := range all {
		switch {
		case e.Method == http.MethodHead, e.Status > 0 && e.Status < 400:
		case s.allow.failed && (e.Status == 0 || e.Status >= 500):
		default:
			errs = append(errs, fmt.Errorf("%v: %s", e, tail(string(e.Answer), 300)))
		}
	}
	return errors.Join(errs...)
}

func outcomes(s scene, turns []ledger.Turn) error {
	var errs []error
	var scripted int
	for _, t := range turns {
		switch {
		case slices.Contains([]string{"end", "calls", "stop"}, t.Outcome):
		case slices.Contains(s.allow.outcomes, t.Outcome):
			scripted++
		default:
			errs = append(errs, fmt.Errorf("turn %s: %s: %s", t.ID, t.Outcome, t.Error))
		}
	}
	if s.name == "cancel" && scripted != 1 {
		errs = append(errs, fmt.Errorf("%d turns are on record as cancelled, want 1", scripted))
	}
	return errors.Join(errs...)
}

// side are kinds of turns that are nobody's conversation.
var side = []string{"title", "classifier", "probe", "compaction"}

// known looks at whom the daemon took the client for.
func known(c client, s scene, turns []ledger.Turn) error {
	var errs []error
	sessions, agents, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, t := range turns {
		kinds[t.Kind] = true
		sessions[t.Session] = true
		if !slices.Contains(side, t.Kind) {
			agents[t.Session+" "+t.Agent] = true
		}
		if c.harness != "" && t.Harness != c.harness {
			errs = append(errs, fmt.Errorf("turn %s: harness is %q, want %q", t.ID, t.Harness, c.harness))
		}
		if t.Session == "" {
			errs = append(errs, fmt.Errorf("turn %s has no session", t.ID))
		}
	}
	if (c.sessions || slices.Contains(c.kinds, s.kind)) && s.kind != "" && !kinds[s.kind] {
		errs = append(errs, fmt.Errorf("no turn was taken for a %s", s.kind))
	}
	want := 1
	if s.kind == "subagent" {
		want = 2
	}
	apart := max(s.allow.sessions, 1)
	want *= apart
	switch {
	case c.sessions && len(sessions) != apart:
		errs = append(errs, fmt.Errorf("%d sessions were recognised, want %d", len(sessions), apart))
	case c.sessions && len(agents) != want:
		errs = append(errs, fmt.Errorf("%d agents were recognised, want %d", len(agents), want))
	}
	return errors.Join(errs...)
}

// noted is a cell's line for the table.
func noted(turns []ledger.Turn, sum reuse.Sum) string {
	note := fmt.Sprintf("%d turns", len(turns))
	if len(turns) == 1 {
		note = "1 turn"
	}
	if sum.Checked > 0 {
		note += fmt.Sprintf(", %d continued", sum.Checked)
	}
	kinds := map[string]int{}
	for _, t := range turns {
		kinds[t.Kind]++
	}
	for _, k := range []string{"subagent", "compaction", "title", "classifier", "memory"} {
		if kinds[k] > 0 {
			note += fmt.Sprintf(", %d %s", kinds[k], k)
		}
	}
	return note
}

func rows(turns []ledger.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "[%s %s/%s %s prompt %d cached %d output %d %s]", t.ID, t.Session, t.Agent, t.Kind, t.Prompt, t.Cached, t.Output, t.Outcome)
	}
	return b.String()
}

// dump writes what is needed to understand a cell that failed.
func dump(ctx context.Context, l *lab) string {
	var b strings.Builder
	for _, e := range l.tap.exchanges() {
		fmt.Fprintln(&b, e)
	}
	turns, err := l.turns(ctx)
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, t := range turns {
		t.Decision = ""
		data, _ := json.Marshal(t) // a row has a JSON form
		fmt.Fprintf(&b, "%s\n", data)
	}
	return b.String()
}
