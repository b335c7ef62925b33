package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/ledger"
)

// hits holds several conversations at once and compares, worker by worker,
// what the ledger says with what the engines count. Their first turns are sent
// to one worker and the other in turn; where later ones go is dyn's choice.
func hits(ctx context.Context, l *lab, s *sheet) error {
	const turns, answer = 3, 16
	before, err := l.all(ctx)
	if err != nil {
		return err
	}
	var talks []*talk
	for i := range 4 {
		talks = append(talks, l.talk("hits", 150).at(fmt.Sprint("w", i%2)))
	}
	for i := range turns {
		for _, t := range talks {
			if _, err := t.say(prose(t.session+fmt.Sprint(i), 40)).answer(ctx, answer); err != nil {
				return err
			}
			t.anywhere()
		}
	}
	var rows [][]ledger.Turn
	for _, t := range talks {
		own, err := l.turns(ctx, t.session, turns)
		if err != nil {
			return err
		}
		rows = append(rows, own)
	}
	after, err := l.all(ctx)
	if err != nil {
		return err
	}
	told := map[string]counters{}
	for _, t := range slices.Concat(rows...) {
		c := told[t.Worker]
		told[t.Worker] = counters{0, 0, c.computed + t.Prompt - t.Cached, c.cached + t.Cached, c.output + t.Output}
	}
	same := len(told) > 0
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		own, dyn := after[name].minus(before[name]), told[name]
		same = same && own.cached == dyn.cached && own.computed == dyn.computed && own.output == dyn.output
		parts = append(parts, fmt.Sprintf("%s: dyn %d cached, %d computed, %d made; engine %d, %d, %d", name,
			dyn.cached, dyn.computed, dyn.output, own.cached, own.computed, own.output))
	}
	s.check(l.k.name, "hits, as `dyn stats` and the engines' own counters have them", same, "%s", strings.Join(parts, "; "))
	back(l, s, rows, after, before)
	return events(ctx, l, s)
}

// back checks that each turn after a conversation's first ran where the one
// before ran, and computed only what was new.
func back(l *lab, s *sheet, rows [][]ledger.Turn, after, before map[string]counters) {
	on := map[string]int{}
	same, cached, prompt, predicted, moved, again := 0, 0, 0, 0, 0, 0
	for _, own := range rows {
		on[own[0].Worker]++
		for i := 1; i < len(own); i++ {
			t, was := own[i], own[i-1]
			if t.Worker == was.Worker {
				same++
			} else {
				moved++
			}
			fresh := t.Prompt - was.Prompt - was.Output
			if t.Prompt-t.Cached > fresh+2*l.k.block {
				again++
			}
			cached, prompt, predicted = cached+t.Cached, prompt+t.Prompt, predicted+t.Overlap
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(on)) {
		parts = append(parts, fmt.Sprintf("%d on %s (its own counter: %d cached)", on[name], name, after[name].cached-before[name].cached))
	}
	s.check(l.k.name, "later turns go back to the worker that has their prefix", moved == 0 && again == 0 && len(on) == 2,
		"conversations: %s; %d later turns back, %d elsewhere, %d computed more than what was new", strings.Join(parts, ", "), same, moved, again)
	s.note(l.k.name, "… of their prompt tokens", "%d, the router expected %d cached, the engine found %d", prompt, predicted, cached)
}

// events checks that the index follows the engines.
func events(ctx context.Context, l *lab, s *sheet) error {
	ws, err := l.workers(ctx)
	if err != nil {
		return err
	}
	right := true
	var parts []string
	for _, w := range ws {
		held := 0
		for _, t := range w.Tiers {
			held += max(t.Cached, 0)
		}
		right = right && w.Index == "events" && held > 0
		parts = append(parts, fmt.Sprintf("%s: %s, %d tokens", w.Name, w.Index, held))
	}
	what := "KV events reach the index"
	if l.k.name == "llamacpp" {
		what = "the mirror reaches the index"
	}
	s.check(l.k.name, what, right, "%s", strings.Join(parts, "; "))
	return nil
}
