package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/route"
)

// printWhy writes the explanation for a person.
func printWhy(a *app, d whyDoc, now time.Time) error {
	w := &errWriter{w: a.out}
	w.columns, _ = terminal(a.out)
	d.head(w, now)
	var decision route.Decision
	if json.Unmarshal(d.Decision, &decision) != nil {
		decision = route.Decision{}
	}
	if h := decision.Held; h != nil {
		w.hung(10, "gate      held for %s: %s; then let in: %s", ms(h.MS), h.Why, h.Let)
	}
	if len(decision.Parts) > 0 {
		w.line("")
		if w.err == nil {
			t := whyTable(decision)
			w.err = t.narrowed(a.out, leaving(t)...).print(a.out)
		}
		if set := setBy(&decision); set != "" {
			w.hung(10, "router    %s", set)
		}
		if decision.Warning != "" {
			w.hung(10, "warning   %s", oneLine(decision.Warning))
		}
	}
	w.line("")
	for _, l := range d.cached() {
		w.hung(10, "%s", l)
	}
	d.broke(w)
	d.others(w, now)
	return w.err
}

// setBy is what decided, and as what the router's knobs were set.
func setBy(d *route.Decision) string {
	if d.Strategy == "" {
		return ""
	}
	words := []string{oneLine(d.Strategy)}
	knob := func(name string, x *float64) {
		if x != nil {
			words = append(words, name+" "+strconv.FormatFloat(*x, 'g', 4, 64))
		}
	}
	if s := d.Set; s != nil {
		knob("temperature", s.Temperature)
		knob("prefill weight", s.PrefillWeight)
		knob("overlap credit", s.OverlapCredit)
	}
	if d.Threshold != nil && *d.Threshold < 0 {
		words = append(words, "queue threshold off")
	} else {
		knob("queue threshold", d.Threshold)
	}
	if d.Gate != "" {
		words = append(words, "gate "+string(d.Gate))
	}
	return strings.Join(words, ", ")
}

// errWriter writes lines until one fails.
type errWriter struct {
	w       io.Writer
	columns int // of a terminal; 0 is none, whose lines are as long as they are
	err     error
}

func (w *errWriter) line(format string, args ...any) { w.hung(2, format, args...) }

// hung writes a line; what of it is too long for the terminal stands below, so
// far to the right.
func (w *errWriter) hung(right int, format string, args ...any) {
	if w.err == nil {
		_, w.err = io.WriteString(w.w, folded(signs(fmt.Sprintf(format, args...)), w.columns, right)+"\n")
	}
}

// head tells which turn it is, and how long it took.
func (d *whyDoc) head(w *errWriter, now time.Time) {
	t := &d.Turn
	went := "not sent to a worker"
	if t.Worker != "" {
		went = "sent to " + t.Worker
	}
	w.line("turn %s   %s/%s   %s tokens   %s   TTFT %s", t.ID, cmp.Or(t.Session, "–"), cmp.Or(t.Agent, "–"), count(t.Prompt), went, ms(t.TTFTMS))
	w.line("%s", strings.Join(some(
		"at "+t.At.Local().Format(time.DateTime)+" ("+ago(t.At, now)+" ago)",
		cmp.Or(t.Harness, t.Dialect), t.Kind, "waited "+ms(t.QueueMS), unless(t.GateMS == 0, "of that held by the gate "+ms(t.GateMS)),
		unless(t.Moved == 0, plural(t.Moved, "move")+" to another worker"),
		unless(t.Chat == "", "by the engine's own chat API: "+t.Chat),
		cmp.Or(t.Outcome, "not ended yet"), oneLine(t.Error)), "   "))
}

// some are the texts that say something.
func some(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func unless(none bool, s string) string {
	if none {
		return ""
	}
	return s
}

// cached tells what was believed, what the engine said, and what the agent's
// turn before left there.
func (d *whyDoc) cached() (lines []string) {
	t := &d.Turn
	line := fmt.Sprintf("believed  %s of %s tokens cached at %s", count(t.Overlap), count(t.Prompt), cmp.Or(t.Worker, "–"))
	switch {
	case t.Cached < 0:
		line += "; the engine has not said"
	default:
		line += fmt.Sprintf("; the engine said %s (%s)", count(t.Cached), part(t.Cached, t.Prompt))
	}
	lines = append(lines, line)
	before := d.Before
	switch {
	case before == nil:
		return append(lines, "before    no turn of this agent is kept")
	case d.Break != nil:
		return lines
	}
	goesOn := "this prompt goes on from it"
	if !d.Compared {
		goesOn = "whether this prompt goes on from it is not known: the daemon did not hold it any more"
	}
	lines = append(lines, fmt.Sprintf("before    turn %s at %s, %s tokens and %s of answer; %s", before.ID, cmp.Or(before.Worker, "–"), count(before.Prompt), count(before.Output), goesOn))
	if short := before.Prompt + before.Output - max(t.Cached, 0); d.Compared && t.Cached >= 0 && before.Outcome != "fail" && 2*short > t.Prompt && short > 256 {
		lines = append(lines, "          "+map[bool]string{
			true:  "the engine had let go of it, or did not keep it",
			false: "it went to another worker, which does not hold it",
		}[before.Worker == t.Worker])
	}
	return lines
}

// broke tells where the prompt broke.
func (d *whyDoc) broke(w *errWriter) {
	b := d.Break
	if b == nil {
		return
	}
	w.line("")
	at := fmt.Sprintf("token %d of %d", b.Token, b.Held)
	if first, held, ok := b.Block0(); ok {
		at = fmt.Sprintf("block %d of %d (%s)", first+1, max(held, first+1), at)
	}
	whose := "the agent's turn before"
	if b.Other != "" {
		whose = "a turn of " + b.Other
	} else if d.Before != nil {
		whose = fmt.Sprintf("turn %s (%s)", d.Before.ID, cmp.Or(d.Before.Worker, "–"))
	} else if d.Turn.Parent != "" {
		whose = "the last turn of " + d.Turn.Session + "/" + d.Turn.Parent + ", from which this agent forks"
	}
	w.line("prefix broke at %s: %s", at, b.Kind)
	w.hung(8, "  why   %s", brokenBy[b.Kind])
	w.line("  from  %s", whose)
	w.line("  in    %s", placeOf(b))
	switch t := b.Text; {
	case t != nil:
		w.line("  was   %s", quoted1(t.Was, t.At, w.columns-8))
		w.line("  now   %s", quoted1(t.Now, t.At, w.columns-8))
	case b.Was != "" || b.Now != "":
		w.line("  was   hash %s", cmp.Or(b.Was, "–"))
		w.line("  now   hash %s", cmp.Or(b.Now, "–"))
	}
	cost := fmt.Sprintf("%s tokens computed again", count(b.Again))
	switch {
	case b.Again == 0:
		cost = "nothing is computed again: what stands behind that place is new"
	case d.AgainMS > 0:
		cost += ", about " + ms(d.AgainMS)
	}
	w.line("  cost  %s", cost)
	for i, t := range d.Try {
		w.hung(8, "  %s  %s", []string{"try:", "or: "}[min(i, 1)], t)
	}
}

// placeOf says in words which message and field it is.
func placeOf(b *diff.Break) string {
	name := ""
	if b.Text != nil && b.Text.Tool != "" {
		name = " " + b.Text.Tool
	}
	switch {
	case b.Tool >= 0:
		return fmt.Sprintf("tool %d%s: %s", b.Tool, name, b.Field)
	case b.Message < 0:
		return "the turn's " + b.Field
	case b.Block < 0:
		return fmt.Sprintf("message %d (%s): %s", b.Message, b.Role, b.Field)
	}
	return fmt.Sprintf("message %d (%s), block %d%s: %s", b.Message, b.Role, b.Block, name, b.Field)
}

// quoted1 is a text on one line, with a mark where it begins to differ. room is
// how many cells there are, if above 0: the text is cut to what stands around.
func quoted1(s string, at, room int) string {
	at = min(at, len(s))
	head, tail := signs(s[:at]), signs(s[at:])
	if room > 0 {
		most := max(room/2-1, room-1-cells(tail), 1)
		if over := cells(head) - most; over > 0 {
			head = inCells.TruncateLeft(head, over+1, "…")
		}
		tail = inCells.Truncate(tail, max(room-1-cells(head), 1), "…")
	}
	return head + "┃" + tail
}

// signs puts signs for what has none, which a terminal would act on. What was
// put stays.
func signs(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '⏎'
		case r == '\t':
			return '⇥'
		case r < ' ':
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// others lists the session's breaks, where there are others than this one.
func (d *whyDoc) others(w *errWriter, now time.Time) {
	rest := slices.DeleteFunc(slices.Clone(d.Breaks), func(b whyBreak) bool { return b.Turn == d.Turn.ID })
	if len(rest) == 0 {
		return
	}
	w.line("")
	w.line("other breaks of this session")
	for _, b := range rest {
		w.line("  %s   %s   %s ago   %s: %s tokens again", b.Turn, b.Agent, ago(b.At, now), b.Kind, count(b.Again))
	}
}
