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

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt/diff"
)

// whyPart is a candidate of any rule; what a rule has no price for is 0.
type whyPart struct {
	Worker   string  `json:"worker"`
	Overlap  int     `json:"overlap_tokens"`
	New      int     `json:"new_tokens"`
	Pending  int     `json:"pending_tokens"`
	InFlight int     `json:"in_flight"`
	Cost     float64 `json:"cost"`
	Out      string  `json:"left_out"`
	Prefill  float64 `json:"prefill_ms"`
	Reload   float64 `json:"reload_ms"`
	Backlog  float64 `json:"backlog_ms"`
	Slowdown float64 `json:"slowdown_ms"`
	Stall    float64 `json:"stall_ms"`
	Memory   float64 `json:"memory_ms"`
	Terms    []struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
	} `json:"terms"`
}

// term writes the figure of a name; – where there is none.
func (p *whyPart) term(name string) string {
	for _, t := range p.Terms {
		if t.Name == name {
			return strconv.FormatFloat(t.Value, 'g', 4, 64)
		}
	}
	return "–"
}

// times are the parts of a price in milliseconds, in the order in which they
// are added up.
func (p *whyPart) times() []float64 {
	return []float64{p.Prefill, p.Reload, p.Backlog, p.Slowdown, p.Stall, p.Memory}
}

// whyDecision is what is shown of a decision.
type whyDecision struct {
	Worker  string    `json:"worker"`
	Reason  string    `json:"reason"`
	Parts   []whyPart `json:"parts"`
	Warning string    `json:"warning"`
}

// terms are the names of the figures that the rule looked at, in its order.
func (d *whyDecision) terms() (names []string) {
	for _, p := range d.Parts {
		for _, t := range p.Terms {
			if !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

// printWhy writes the explanation for a person.
func printWhy(a *app, d whyDoc, now time.Time) error {
	w := &errWriter{w: a.out}
	d.head(w, now)
	var decision whyDecision
	if json.Unmarshal(d.Decision, &decision) == nil && len(decision.Parts) > 0 {
		w.line("")
		if w.err == nil {
			t := decision.table(d.Turn)
			leave := slices.DeleteFunc([]int{7, 6, 5, 3, 4}, func(i int) bool { return i >= len(t.head)-2 })
			w.err = t.narrowed(a.out, leave...).print(a.out)
		}
		if decision.Warning != "" {
			w.line("warning   %s", oneLine(decision.Warning))
		}
	}
	w.line("")
	for _, l := range d.cached() {
		w.line("%s", l)
	}
	d.broke(w)
	d.others(w, now)
	return w.err
}

// errWriter writes lines until one fails.
type errWriter struct {
	w   io.Writer
	err error
}

func (w *errWriter) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format+"\n", args...)
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
		cmp.Or(t.Harness, t.Dialect), t.Kind, "waited "+ms(t.QueueMS),
		unless(t.Moved == 0, plural(t.Moved, "move")+" to another worker"),
		unless(t.Chat == "", "by the engine's own chat API: "+t.Chat),
		unless(t.Outcome == "", t.Outcome), oneLine(t.Error)), "   "))
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

// table is what each candidate would have cost, as it was added up.
func (d whyDecision) table(turn ledger.Turn) *table {
	timed := slices.ContainsFunc(d.Parts, func(p whyPart) bool {
		return slices.ContainsFunc(p.times(), func(x float64) bool { return x != 0 })
	})
	t, terms := &table{head: []string{"", "WORKER", "OVERLAP"}, right: []int{2, 3, 4, 5, 6, 7, 8, 9}}, d.terms()
	switch {
	case timed:
		t.head = append(t.head, "PREFILL", "RELOAD", "BACKLOG", "SLOWDOWN", "STALL", "MEMORY", "TOTAL", "")
	case len(terms) > 0:
		for _, name := range terms {
			t.head = append(t.head, strings.ToUpper(name))
		}
		t.head = append(t.head, "COST", "")
	default:
		t.head = append(t.head, "NEW", "PENDING", "IN FLIGHT", "COST", "")
	}
	for _, p := range d.Parts {
		mark, note := "", ""
		if p.Worker == d.Worker {
			mark, note = "▸", "chosen: "+d.Reason
		}
		row := []string{mark, p.Worker, share(p.Overlap, p.Overlap+p.New)}
		switch {
		case p.Out != "":
			note = p.Out
			row = append(row, slices.Repeat([]string{"–"}, len(t.head)-4)...)
		case timed:
			for _, x := range p.times() {
				row = append(row, spell(x))
			}
			row = append(row, spell(p.Cost))
		case len(terms) > 0:
			for _, name := range terms {
				row = append(row, p.term(name))
			}
			row = append(row, strconv.FormatFloat(p.Cost, 'g', 4, 64))
		default:
			row = append(row, count(p.New), count(p.Pending), strconv.Itoa(p.InFlight), count(int(p.Cost)))
		}
		t.add(append(row, note)...)
	}
	return t
}

// share is a part of all, in hundredths.
func share(part, all int) string {
	if all <= 0 {
		return "–"
	}
	x := float64(part) / float64(all)
	return percent(&x)
}

// spell writes a part of a price; – for nothing.
func spell(x float64) string {
	switch {
	case x == 0:
		return "–"
	case x > -10 && x < 10:
		return strconv.FormatFloat(x, 'f', 1, 64) + "ms"
	case x < 0:
		return "-" + ms(-x)
	}
	return ms(x)
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
		line += fmt.Sprintf("; the engine said %s (%s)", count(t.Cached), share(t.Cached, t.Prompt))
	}
	lines = append(lines, line)
	before := d.Before
	switch {
	case before == nil:
		return append(lines, "before    no turn of this agent is kept")
	case d.Break != nil:
		return lines
	}
	lines = append(lines, fmt.Sprintf("before    turn %s at %s, %s tokens and %s of answer; this prompt goes on from it", before.ID, cmp.Or(before.Worker, "–"), count(before.Prompt), count(before.Output)))
	if short := before.Prompt + before.Output - max(t.Cached, 0); t.Cached >= 0 && before.Outcome != "fail" && 2*short > t.Prompt && short > 256 {
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
	}
	w.line("prefix broke at %s: %s", at, b.Kind)
	w.line("  from  %s", whose)
	w.line("  in    %s", placeOf(b))
	switch t := b.Text; {
	case t != nil:
		w.line("  was   %s", quoted1(t.Was, t.At))
		w.line("  now   %s", quoted1(t.Now, t.At))
	case b.Was != "" || b.Now != "":
		w.line("  was   hash %s", cmp.Or(b.Was, "–"))
		w.line("  now   hash %s", cmp.Or(b.Now, "–"))
	}
	cost := fmt.Sprintf("%s tokens computed again", count(b.Again))
	if d.AgainMS > 0 {
		cost += ", about " + ms(d.AgainMS)
	}
	w.line("  cost  %s", cost)
	for i, t := range d.Try {
		w.line("  %s  %s", []string{"try:", "or: "}[min(i, 1)], t)
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

// quoted1 is a text on one line, with a mark where it begins to differ.
func quoted1(s string, at int) string {
	at = min(at, len(s))
	esc := strings.NewReplacer("\n", "⏎", "\r", "␍", "\t", "⇥").Replace
	return esc(s[:at]) + "┃" + esc(s[at:])
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
