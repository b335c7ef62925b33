package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentinfer/dyn/cache/policy"
	"github.com/agentinfer/dyn/replay/curve"
	"github.com/agentinfer/dyn/replay/trace"
)

// page is docs/cache.md.
func (o *options) page(ctx context.Context, t *trace.Trace, k *keep, cut bool) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, `# What stays cached

`+"`make bench-cache`"+` wrote this page, commit %s. All of it is simulated: %d Claude Code sessions of which so many are alive at any time, contexts up
to 120 k tokens, pauses up to 30 minutes, %.0f minutes counted after %.0f; block events come %s late. Engines are modelled (derived, ±30 %%): compare
rows, expect no latencies. Seeds (%s) reshuffle the same sessions. Sizes are the KV of all workers over what the sessions want, 66 k tokens each.

`, or(o.commit, "unknown"), len(t.Sessions), o.scale(measure).Minutes(), o.scale(warm).Minutes(), o.lag, o.seeds)
	if cut {
		b.WriteString("**Not complete**: bars say on how many seeds they stand; the same command goes on.\n\n")
	}
	b.WriteString("## Bars\n\n")
	o.table(&b, k)
	b.WriteString(`
## Actuated: what a router gets

A closed loop: the next turn comes a pause after the last has ended. The engine evicts by LRU and nobody can tell it what to keep; dyn acts by
placement in every row, and by what the row says. Of LRU alone: **hit** · turns/s · mean TTFT in s. Of the others: points of hit against it, the mean
over seeds [least, most] · turns/s · mean TTFT. Prompt tokens that touches had to compute are taken off; their time on the engine is in all figures.

`)
	for _, f := range fleets {
		o.group(&b, k, f)
	}
	abouts(&b)
	b.WriteString(`
## Ideal: what an evictor could find in open loop

No loop (` + "`dyn cache replay`" + `): turns come when they came, whatever is found, 64 sessions at a time, contexts of any length. The policy is the
evictor, which it cannot be in an engine that runs as released, so these are ceilings and no promise: what they gain over LRU here
does not carry over to a closed loop. Hit in %; sizes are shares of the working set.

`)
	err := ideal(ctx, &b, t)
	return b.String(), err
}

// group writes the table of a fleet.
func (o *options) group(b *strings.Builder, k *keep, f fleetOf) {
	fmt.Fprintf(b, "### %s: %s\n\n| |", f.name, f.about)
	for _, size := range o.shares {
		fmt.Fprintf(b, " %g× |", size)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(o.shares)) + "\n")
	for i, r := range rows {
		cells, some := "", false
		for _, size := range o.shares {
			s, ok := o.sums(k, f, size, r)
			text := "–"
			if ok {
				text, some = s.text(i == 0), true
			}
			cells += " " + text + " |"
		}
		if some {
			fmt.Fprintf(b, "| %s |%s\n", r.name, cells)
		}
	}
	b.WriteByte('\n')
}

// abouts says what the rows are.
func abouts(b *strings.Builder) {
	for _, r := range rows {
		if r.about != "" {
			fmt.Fprintf(b, "- %s: %s.\n", r.name, r.about)
		}
	}
}

// ideal writes the hit curves.
func ideal(ctx context.Context, b *strings.Builder, t *trace.Trace) error {
	p, err := curve.New(t, curve.Options{})
	if err != nil {
		return err
	}
	names := []string{"0.1x", "0.2x", "0.4x", "0.6x", "0.8x", "1x"}
	sizes, err := p.Sizes(names)
	if err != nil {
		return err
	}
	points, err := curve.Table(ctx, p, policy.All(), sizes, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "| |")
	for i, size := range sizes {
		fmt.Fprintf(b, " %s, %.2f M |", names[i], float64(size)/1e6)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(sizes)) + "\n")
	for i := 0; i < len(points); i += len(sizes) {
		fmt.Fprintf(b, "| %s |", points[i].Policy)
		for _, x := range points[i : i+len(sizes)] {
			fmt.Fprintf(b, " %.1f |", 100*x.Hit)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "\nThe working set is %.2f M tokens; a cache without bounds finds %.1f %%.\n\n", float64(p.Working)/1e6, 100*p.Best)
	for _, r := range policy.All() {
		fmt.Fprintf(b, "- %s: %s.\n", r.Name, r.About)
	}
	return nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
