package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Limits of what a cell may take.
const (
	stepLimit   = 300 * time.Second // one run of a client
	settleLimit = 20 * time.Second  // what follows it: aborts, the ledger's rows
)

// window is the context where a case declares no other.
const window = 131072

// scene is one case: what the model says, what is run, what has to be true.
type scene struct {
	name, title string
	only        string                                    // the one client that it is for; "" is all
	start       func(*lab, context.Context, string) error // nil: (*lab).up
	window      func(client) int                          // nil: the ordinary one
	rules       func(client) []rule
	play        func(context.Context, client, *lab) error
	allow       allowance
	kind        string // of one turn at least
	family      bool   // run only when it is asked for
}

// allowance is what a case may show that no other may.
type allowance struct {
	sessions int      // how many there are, when not one
	restarts int      // prompts that begin anew
	outcomes []string // of turns, besides ends and calls
	failed   bool     // a status of 500 or more, or a stream without its end
}

// subagentsBack is the lead's last word in the case agents.
const subagentsBack = "The subagent is back."

// scenes are the cases in the order of the table.
var scenes = []scene{
	{
		name: "once", title: "one answer",
		rules: func(client) []rule { return []rule{{Say: think("This is short.", "Served in one go.")}} },
		play: func(_ context.Context, c client, l *lab) error {
			return step(l, c.start(l, "Say a word."), "Served in one go.")
		},
	},
	{
		name: "launched", title: "started by dyn",
		rules: func(client) []rule { return []rule{{Say: "Started by dyn."}} },
		play: func(_ context.Context, c client, l *lab) error {
			l.extra = l.folders()
			return step(l, append(append([]string{l.dyn}, c.launch...), "Say a word."), "Started by dyn.")
		},
	},
	{
		name: "loop", title: "tool loop",
		rules: func(c client) []rule {
			return []rule{
				{When: `loop-three`, Say: "All three steps were taken."},
				{When: `loop-two`, Say: think("One is left.", c.shell("echo loop-three"))},
				{When: `loop-one`, Say: "Then the second.\n" + c.shell("echo loop-two")},
				titles,
				{Say: think("Three steps are needed.", c.shell("echo loop-one"))},
			}
		},
		play: func(_ context.Context, c client, l *lab) error {
			return step(l, c.start(l, "Take three steps."), "All three steps were taken.")
		},
	},
	{
		name: "agents", title: "subagent", kind: "subagent",
		rules: agentRules,
		play: func(_ context.Context, c client, l *lab) error {
			return step(l, c.start(l, "Let a subagent take two steps."), subagentsBack)
		},
	},
	{
		name: "resume", title: "resume",
		rules: func(c client) []rule {
			return []rule{
				{When: `resumed-one`, Say: "The second task is done."},
				{When: `SECOND-TASK`, Say: think("Back again.", c.shell("echo resumed-one"))},
				{When: `task-one`, Say: "The first task is done."},
				titles,
				{Say: think("A first step.", c.shell("echo task-one"))},
			}
		},
		play: func(_ context.Context, c client, l *lab) error {
			if err := step(l, c.start(l, "Do the first task."), "The first task is done."); err != nil {
				return err
			}
			return step(l, c.again(l, "Do the SECOND-TASK."), "The second task is done.")
		},
	},
	{
		name: "compact", title: "compaction", kind: "compaction",
		window: func(c client) int { return c.window },
		rules:  compactRules,
		play:   playCompact,
		allow:  allowance{restarts: 2},
	},
	{
		name: "fault", title: "fault in mid-stream",
		rules: func(client) []rule {
			long := strings.Repeat("These are words that do not reach their end. ", 8)
			return []rule{
				titles,
				{Seen: count(0), Say: long, Fault: "close", After: 20, TokenMS: 20},
				{Seen: count(1), Say: long, Fault: "close", After: 20, TokenMS: 20},
				{Say: "It went well after all."},
			}
		},
		play: func(_ context.Context, c client, l *lab) error {
			return step(l, c.start(l, "Say a few words."), "It went well after all.")
		},
	},
	{
		name: "cut", title: "connection cut",
		rules: func(client) []rule {
			return []rule{
				titles,
				{Seen: count(0), Say: strings.Repeat("These are slow words. ", 40), TokenMS: 20},
				{Say: "It went well after all."},
			}
		},
		play: func(_ context.Context, c client, l *lab) error {
			l.tap.cutAt("slow")
			out, err := run(l, c.start(l, "Say a few words."))
			if l.tap.cutAt("") != 1 {
				return fmt.Errorf("no answer was cut: %w", said(out, err, ""))
			}
			if c.fails && err != nil {
				l.note = "it does not try again, and ends with an error"
				return nil
			}
			return said(out, err, "It went well after all.")
		},
		allow: allowance{outcomes: []string{"cancel"}, failed: true},
	},
	{
		name: "cancel", title: "client killed",
		rules: func(client) []rule {
			return []rule{titles, {Say: strings.Repeat("These are slow words. ", 200), TokenMS: 150}}
		},
		play:  playCancel,
		allow: allowance{outcomes: []string{"cancel"}, failed: true},
	},
	{
		name: "hooks", title: "hooks", only: "claude", kind: "subagent",
		rules: agentRules,
		play:  playHooks,
	},
	{
		name: "ten", title: "ten turns, then another folder", only: "claude",
		start: (*lab).attached,
		rules: tenRules,
		play:  playTen,
		allow: allowance{sessions: 2},
	},
}

func agentRules(c client) []rule {
	first := c.shell("echo sub-one")
	rules := []rule{
		{When: `agents-over`, Say: subagentsBack},
		{When: `sub-two`, Say: "agents-over: two steps were taken."},
		{When: `sub-one`, Say: c.shell("echo sub-two")},
		titles,
	}
	rules = append(rules, c.lead...)
	return append(rules,
		rule{When: `SUBTASK`, Say: first},
		rule{Seen: count(0), Prefix: c.alike, Say: c.spawn},
		rule{Say: first},
	)
}

// listsDone is the last word in the case compact.
const listsDone = "That is all of them."

// compactRules print lists until the client asks for a summary.
func compactRules(c client) []rule {
	const lists = 6
	rules := append([]rule{}, c.compact...)
	rules = append(rules, titles)
	list := func(n int) string { return c.shell(fmt.Sprintf("seq 1 %d; echo list-%c", c.output, 'a'+n)) }
	rules = append(rules, rule{When: fmt.Sprintf(`[^ ]list-%c`, 'a'+lists), Say: listsDone})
	for n := lists - 1; n >= 0; n-- {
		rules = append(rules, rule{When: fmt.Sprintf(`[^ ]list-%c`, 'a'+n), Say: list(n + 1)})
	}
	return append(rules, rule{Seen: count(0), Say: list(0)}, rule{Say: listsDone})
}

func playCompact(_ context.Context, c client, l *lab) error {
	if err := step(l, c.start(l, "Print long lists of numbers."), listsDone); err != nil {
		return err
	}
	for _, e := range l.tap.exchanges() {
		for _, r := range c.compact {
			if regexp.MustCompile(r.When).Match(e.Body) {
				return nil
			}
		}
	}
	return fmt.Errorf("it never asked for a summary")
}

// playCancel kills the client while it reads, and waits until the engine has
// let go of the turn.
func playCancel(ctx context.Context, c client, l *lab) error {
	p, err := l.begin(c.start(l, "Talk for a while."))
	if err != nil {
		return err
	}
	defer p.kill()
	reads := func() (bool, error) {
		select {
		case <-p.over:
			return false, fmt.Errorf("it ended by itself: %s", tail(p.printed(), 300))
		default:
		}
		for _, e := range l.tap.exchanges() {
			if !e.done && strings.Contains(string(e.Answer), "slow") {
				return true, nil
			}
		}
		return false, nil
	}
	if err := until(ctx, stepLimit, "the client reads an answer", reads); err != nil {
		return err
	}
	before, err := l.metrics(ctx)
	if err != nil {
		return err
	}
	p.kill()
	return until(ctx, settleLimit, "the engine has let go of the turn", func() (bool, error) {
		m, err := l.metrics(ctx)
		if ended := "request_success_total stop"; err == nil && m[ended] > before[ended] {
			return false, fmt.Errorf("the engine went on to the end")
		}
		return m["num_requests_running"]+m["num_requests_waiting"] == 0, err
	})
}

// step runs a client to its end and looks for a text in what it prints.
func step(l *lab, argv []string, want string) error {
	out, err := run(l, argv)
	return said(out, err, want)
}

// run runs a client to its end and returns what it printed.
func run(l *lab, argv []string) (string, error) {
	p, err := l.begin(argv)
	if err != nil {
		return "", err
	}
	return p.wait(stepLimit)
}

func said(out string, err error, want string) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w; it printed %q", err, tail(out, 600))
	case !strings.Contains(out, want):
		return fmt.Errorf("no %q in what it printed: %q", want, tail(out, 600))
	}
	return nil
}

// until looks until a condition holds.
func until(ctx context.Context, limit time.Duration, what string, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v in vain until %s", limit, what)
		case <-tick.C:
		}
	}
}
