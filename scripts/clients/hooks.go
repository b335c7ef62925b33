package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentinfer/dyn/ledger"
)

// playHooks has dyn start the client with its hooks, beside a hook of the
// user's own, lets a subagent work, and looks at what they told.
func playHooks(ctx context.Context, c client, l *lab) error {
	l.extra = append(l.folders(), "IS_SANDBOX=1")
	mark := filepath.Join(l.home, "own-hook-ran")
	own := fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch %s"}]}]}}`, mark)
	settings := filepath.Join(l.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(settings, []byte(own), 0o600); err != nil {
		return err
	}
	argv := []string{l.dyn, "claude", "--", "-p", "--allowedTools", claudeTools, "--", "Let a subagent take two steps."}
	if err := step(l, argv, subagentsBack); err != nil {
		return err
	}
	if _, err := os.Stat(mark); err != nil {
		return fmt.Errorf("the user's own hook did not run: %w", err)
	}
	if kept, err := os.ReadFile(settings); err != nil || string(kept) != own {
		return fmt.Errorf("the user's settings are %q, %w", kept, err)
	}
	var events []ledger.AgentEvent
	err := until(ctx, settleLimit, "the end of the session is told", func() (bool, error) {
		var err error
		events, err = l.events(ctx)
		return slices.ContainsFunc(events, func(e ledger.AgentEvent) bool { return e.Event == "session done" && e.Source == "hook" }), err
	})
	if err != nil {
		return errors.Join(err, fmt.Errorf("told was %+v", events))
	}
	return l.told(ctx, events)
}

// told checks that tools, the subagent and the session were told of as they
// were.
func (l *lab) told(ctx context.Context, events []ledger.AgentEvent) error {
	turns, err := l.turns(ctx)
	if err != nil {
		return err
	}
	agents := map[string]bool{}
	for _, t := range turns {
		agents[t.Session+" "+t.Agent] = true
	}
	seen, waits, longest := map[string]int{}, 0, time.Duration(0)
	var errs []error
	for _, e := range events {
		if e.Source != "hook" {
			continue
		}
		whose := "lead"
		if e.Agent != "main" {
			whose = "subagent"
		}
		seen[whose+" "+e.Event]++
		if !agents[e.Session+" "+e.Agent] {
			errs = append(errs, fmt.Errorf("%+v is of nobody who had a turn", e))
		}
		if e.Event == "tool done" {
			if e.MS < 0 {
				errs = append(errs, fmt.Errorf("%+v does not say how long it took", e))
			}
			waits++
			longest = max(longest, time.Duration(e.MS*float64(time.Millisecond)))
		}
	}
	for what, n := range map[string]int{
		"lead prompted": 1, "lead tool": 1, "lead tool done": 1, "subagent agent": 1, "subagent tool": 2, "subagent tool done": 2,
		"subagent agent done": 1, "lead rested": 1, "lead session done": 1,
	} {
		if seen[what] < n {
			errs = append(errs, fmt.Errorf("%d times it was told: %s; want %d", seen[what], what, n))
		}
	}
	l.note = fmt.Sprintf("%d tool waits, the longest %v, and %d subagent end told by hooks", waits, longest.Round(time.Millisecond), seen["subagent agent done"])
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w; told was %v", err, seen)
	}
	return l.ended(ctx)
}

// ended checks that all agents are shown as done.
func (l *lab) ended(ctx context.Context) error {
	out, err := l.own(ctx, "top", "--once", "--json=sessions")
	if err != nil {
		return err
	}
	var doc struct {
		Sessions []struct {
			Agents []struct {
				ID, State string
				Told      bool
			}
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return err
	}
	n := 0
	for _, s := range doc.Sessions {
		for _, a := range s.Agents {
			if n++; a.State != "done" || !a.Told {
				return fmt.Errorf("agent %s is shown as %q, told %v", a.ID, a.State, a.Told)
			}
		}
	}
	if n < 2 {
		return fmt.Errorf("%d agents are shown", n)
	}
	return nil
}

// events are what the ledger has of agents' lives.
func (l *lab) events(ctx context.Context) ([]ledger.AgentEvent, error) {
	out, err := l.own(ctx, "stats", "--events", "--json=events")
	if err != nil {
		return nil, err
	}
	var doc struct{ Events []ledger.AgentEvent }
	return doc.Events, json.Unmarshal(out, &doc)
}
