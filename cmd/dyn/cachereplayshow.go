package main

import (
	"fmt"
	"strings"

	"github.com/agentinfer/dyn/replay/curve"
)

// print writes the curves as a table and, on a terminal, as a picture.
func (o *curveRun) print(a *app, doc curveDoc, sizes []int) error {
	t := &table{}
	if !o.bare {
		t.head = []string{"HIT %"}
	}
	var names []string
	for i, size := range o.sizes {
		t.right = append(t.right, i+1)
		name := size
		if strings.HasSuffix(size, "x") {
			name += " " + count(sizes[i])
		}
		names = append(names, name)
	}
	if !o.bare {
		t.head = append(t.head, names...)
	}
	for i := 0; i < len(doc.Points); i += len(sizes) {
		row := []string{doc.Points[i].Policy}
		for _, p := range doc.Points[i : i+len(sizes)] {
			row = append(row, fmt.Sprintf("%.1f", 100*p.Hit))
		}
		t.add(row...)
	}
	if err := t.print(a.out); err != nil || o.bare {
		return err
	}
	if width, tty := terminal(a.out); tty {
		fmt.Fprint(a.out, curves(doc.Points, names, width))
	}
	fmt.Fprintf(a.out, "\n%s: %s of %s, working set %s tokens, %.1f %% without bounds; %s turns a minute\n",
		doc.Trace.Name, plural(doc.Trace.Turns, "turn"), plural(doc.Trace.Sessions, "session"), count(doc.Working), 100*doc.Best, count(int(doc.PerMinute)))
	fmt.Fprintln(a.out, "open loop, the policy is the evictor: ceilings, not what a router gets from an engine")
	for i, n := range doc.Trace.Notes {
		if i == 0 {
			n = "estimated: " + n
		}
		if _, err := fmt.Fprintln(a.out, n); err != nil {
			return err
		}
	}
	return nil
}

// curves draws a line for each policy on which numbers stand, one for each
// size, where its hit is.
func curves(points []curve.Point, names []string, width int) string {
	label := 0
	for _, p := range points {
		label = max(label, len(p.Policy))
	}
	n := min(width, 100) - label - 3
	if n < 20 || len(names) > 9 {
		return ""
	}
	var b strings.Builder
	axis := []rune(strings.Repeat(" ", n))
	for _, tick := range []string{"0", "25%", "50%", "75%", "100%"} {
		var at int
		fmt.Sscanf(tick, "%d", &at)
		copy(axis[min(at*(n-1)/100, n-len(tick)):], []rune(tick))
	}
	fmt.Fprintf(&b, "\n%-*s  %s\n", label, "hit", strings.TrimRight(string(axis), " "))
	for i := 0; i < len(points); i += len(names) {
		line := []rune(strings.Repeat("·", n))
		for j := len(names) - 1; j >= 0; j-- { // of several in one place the smallest
			line[min(max(int(points[i+j].Hit*float64(n-1)+0.5), 0), n-1)] = rune('1' + j)
		}
		fmt.Fprintf(&b, "%-*s  %s\n", label, points[i].Policy, string(line))
	}
	for j, name := range names {
		names[j] = fmt.Sprintf("%d = %s", j+1, name)
	}
	fmt.Fprintf(&b, "%-*s  %s\n", label, "", strings.Join(names, ", "))
	return b.String()
}
