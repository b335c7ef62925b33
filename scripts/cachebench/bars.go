package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// bar is what a row has to reach in a cell.
type bar struct {
	text  string
	fleet string
	size  float64
	row   string
	is    func(s, base *sum) (measured float64, met bool)
	unit  string // of what is measured, for fmt
}

// atLeast is a gain in points, the mean over seeds.
func atLeast(points float64) func(s, base *sum) (float64, bool) {
	return func(s, _ *sum) (float64, bool) { return s.points, s.points >= points }
}

// everySeed is a gain or loss in points of the worst seed.
func everySeed(points float64) func(s, base *sum) (float64, bool) {
	return func(s, _ *sum) (float64, bool) { return s.least, s.least >= points }
}

// noSeedBelow is the hit of the worst seed.
func noSeedBelow(hit float64) func(s, base *sum) (float64, bool) {
	return func(s, _ *sum) (float64, bool) { return s.leastHi, s.leastHi >= hit }
}

// bars are those that the project set itself, before these runs.
func bars() (all []bar) {
	points := func(text, fleet string, size float64, row string, x float64) {
		all = append(all, bar{fmt.Sprintf("%s at least %+.1f points", text, x), fleet, size, row, atLeast(x), "%+.2f points"})
	}
	for _, f := range fleets {
		for i, size := range []float64{0.4, 0.6, 0.8} {
			if want := map[string][]float64{"F": {1, 1.2, 0.8}, "Q": {math.NaN(), 0.5, 0.5}}[f.name][i]; !math.IsNaN(want) {
				points("re-touch with ends known:", f.name, size, "re-touch", want)
			}
			all = append(all, bar{"re-touch with ends known: no seed below -0.6 points", f.name, size, "re-touch", everySeed(-0.6), "%+.2f points"})
			points("host tier of the GPU's size, written back:", f.name, size, "host 1×, write-back", []float64{12, 4, 2}[i])
			if size < 0.7 {
				hit := []float64{0.80, 0.85}[i]
				all = append(all, bar{fmt.Sprintf("gate `auto`: no seed's hit below %.2f", hit), f.name, size, "gate auto", noSeedBelow(hit), "%.3f"})
			}
		}
		for _, name := range []string{"re-touch, a quarter leased", "host 1×, leased only"} {
			all = append(all, bar{name + ": leased sessions wait less for a first token", f.name, 0.6, name, func(s, base *sum) (float64, bool) {
				return s.leased / base.wait, s.leased < base.wait
			}, "%.2f of LRU's"}, bar{name + ": the others at most a fifth longer", f.name, 0.6, name, func(s, base *sum) (float64, bool) {
				return s.rest / base.wait, s.rest <= 1.2*base.wait
			}, "%.2f of LRU's"})
		}
	}
	return all
}

// table writes the bars, each with what was measured.
func (o *options) table(b *strings.Builder, k *keep) {
	b.WriteString("| bar | fleet, size | measured | seeds | |\n|---|---|---|---|---|\n")
	for _, x := range bars() {
		f := fleets[slices.IndexFunc(fleets, func(f fleetOf) bool { return f.name == x.fleet })]
		r := rows[slices.IndexFunc(rows, func(r row) bool { return r.name == x.row })]
		s, ok := o.sums(k, f, x.size, r)
		base, _ := o.sums(k, f, x.size, rows[0])
		if !ok {
			fmt.Fprintf(b, "| %s | %s %.1f× | not played | 0 | – |\n", x.text, x.fleet, x.size)
			continue
		}
		got, met := x.is(&s, &base)
		mark := "✗"
		if met {
			mark = "✓"
		}
		fmt.Fprintf(b, "| %s | %s %.1f× | "+x.unit+" | %d | %s |\n", x.text, x.fleet, x.size, got, s.n, mark)
	}
}
