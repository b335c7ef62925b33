package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/route"
)

// whyTerms are the parts of a price, in the order in which they are added up.
var whyTerms = []struct {
	head string
	of   func(*route.Part) float64
}{
	{"PREFILL", func(p *route.Part) float64 { return p.PrefillMS }},
	{"RELOAD", func(p *route.Part) float64 { return p.ReloadMS }},
	{"BACKLOG", func(p *route.Part) float64 { return p.BacklogMS }},
	{"SLOWDOWN", func(p *route.Part) float64 { return p.SlowdownMS }},
	{"STALL", func(p *route.Part) float64 { return p.StallMS }},
	{"MEMORY", func(p *route.Part) float64 { return p.MemoryMS }},
}

// whyTable is what each candidate would have cost, as its rule counts: in
// milliseconds that are added up, in terms of the rule's own, or in tokens and
// turns.
func whyTable(d route.Decision) *table {
	t := &table{head: []string{"", "WORKER", "OVERLAP"}, right: []int{2, 3, 4, 5, 6, 7, 8, 9}}
	heads, cells := countedBy(d.Parts)
	t.head = append(append(t.head, heads...), "")
	for i := range d.Parts {
		p := &d.Parts[i]
		row := []string{"", p.Worker, part(p.Overlap, p.Overlap+p.New)}
		if p.Out != "" {
			row = append(row, slices.Repeat([]string{"–"}, len(heads))...)
		} else {
			row = append(row, cells(p)...)
		}
		note := p.Out
		switch {
		case p.Worker == d.Worker && p.Worker != "":
			row[0], note = "▸", "chosen: "+chosenBy(&d)
		case p.Worker == d.Prefill && p.Worker != "":
			row[0], note = "▹", "computes the prompt"
		}
		t.add(append(row, note)...)
	}
	return t
}

// chosenBy says why it is the decision's worker. At equal cost none is lowest.
func chosenBy(d *route.Decision) string {
	switch _, by := d.Tie(); by {
	case route.ByTurns:
		return "a tie, " + by
	case route.ByLot:
		return "a tie, by " + by
	}
	return strings.TrimPrefix(string(d.Reason), "chosen ")
}

// leaving are the columns of a table of parts that leave where it is too wide:
// first those that say nothing, then what a price is made of, the largest part
// of most last.
func leaving(t *table) (order []int) {
	last := len(t.head) - 2
	for _, i := range []int{7, 6, 4, 8, 5, 3} {
		if i < last {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return says(t, a) - says(t, b) })
	return order
}

// says is 1 where a column says something, else 0.
func says(t *table, column int) int {
	if slices.ContainsFunc(t.rows, func(row []string) bool { return row[column] != "–" }) {
		return 1
	}
	return 0
}

// countedBy finds what the rule of a decision counted in.
func countedBy(parts []route.Part) (heads []string, cells func(*route.Part) []string) {
	timed := slices.ContainsFunc(parts, func(p route.Part) bool {
		return p.PrefillMS != 0 || p.BacklogMS != 0 || p.SlowdownMS != 0
	})
	i := slices.IndexFunc(parts, func(p route.Part) bool { return len(p.Terms) > 0 })
	switch {
	case timed:
		for _, x := range whyTerms {
			heads = append(heads, x.head)
		}
		return append(heads, "TOTAL"), func(p *route.Part) (row []string) {
			for _, x := range whyTerms {
				row = append(row, price(x.of(p)))
			}
			return append(row, price(p.Cost))
		}
	case i >= 0:
		named := parts[i].Terms
		for _, x := range named {
			heads = append(heads, strings.ToUpper(x.Name))
		}
		return append(heads, "COST"), func(p *route.Part) (row []string) {
			for i := range named {
				cell := "–"
				if i < len(p.Terms) {
					cell = plain(p.Terms[i].Value)
				}
				row = append(row, cell)
			}
			return append(row, plain(p.Cost))
		}
	}
	return []string{"NEW", "PENDING", "IN FLIGHT", "COST"}, func(p *route.Part) []string {
		return []string{count(p.New), count(p.Pending), strconv.Itoa(p.InFlight), plain(p.Cost)}
	}
}

// part is a share of all, in hundredths.
func part(some, all int) string {
	if all <= 0 {
		return "–"
	}
	x := float64(some) / float64(all)
	return percent(&x)
}

// price writes a part of a price in milliseconds; – for nothing.
func price(x float64) string {
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

// plain writes a figure of any unit.
func plain(x float64) string {
	if x == float64(int(x)) && x >= 0 {
		return cmp.Or(count(int(x)), "0")
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
