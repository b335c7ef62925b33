package route

import (
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// lot is the number that a worker draws for a turn: uniform, and the same
// whatever the order of the candidates, for the same seed and turn.
func lot(salt uint64, worker string) uint64 { return xxh3.HashStringSeed(worker, salt) }

// Lot is the number in [0, 1) that a worker draws for a turn.
func Lot(n *Need, worker string) float64 { return unit(lot(salted(n), worker)) }

// unit makes a lot a number in [0, 1).
func unit(lot uint64) float64 { return float64(lot>>11) / (1 << 53) }

// drawn returns the parts that are not out with the two lowest lots, the
// lowest first; nil where there are fewer.
func (d *Decision) drawn(salt uint64) (first, second *Part) {
	before := func(a, b *Part) bool {
		x, y := lot(salt, a.Worker), lot(salt, b.Worker)
		return x < y || x == y && a.Worker < b.Worker
	}
	for i := range d.Parts {
		switch p := &d.Parts[i]; {
		case p.Out != "":
		case first == nil || before(p, first):
			first, second = p, first
		case second == nil || before(p, second):
			second = p
		}
	}
	return first, second
}

// soft draws a part with the weights exp(-(cost - least) / width): one that
// costs a width more than the best has a chance of 1/e against it. u in [0, 1)
// is what is drawn; parts take their turns by name. nil is nobody.
func (d *Decision) soft(width, u float64) *Part {
	open, costs := d.open()
	if len(open) == 0 {
		return nil
	}
	weights, sum := make([]float64, len(open)), 0.0
	for i, p := range open {
		weights[i] = 1
		if p.Cost > costs.least && width > 0 {
			weights[i] = math.Exp(-(p.Cost - costs.least) / width)
		}
		sum += weights[i]
	}
	reached := 0.0
	for i, p := range open {
		if reached += weights[i] / sum; u <= reached {
			return p
		}
	}
	return open[len(open)-1]
}

// tempered chooses by cost: the least, or with a temperature above 0 a part that
// is drawn, as Dynamo's router does: at 0.1 one at the top of the range has a
// chance of e^-10 against the best, at 1 of e^-1.
func (d *Decision) tempered(n *Need, temperature float64, why Reason) {
	if !(temperature > 0) {
		d.least(n, why)
		return
	}
	_, costs := d.open()
	if costs.most <= costs.least {
		d.least(n, why)
		return
	}
	d.choose(d.soft((costs.most-costs.least)*temperature, unit(salted(n))), Drawn)
}

// open are the parts that are not out, by name, and what they cost.
func (d *Decision) open() (parts []*Part, costs span) {
	for i := range d.Parts {
		if d.Parts[i].Out == "" {
			parts = append(parts, &d.Parts[i])
			costs.take(d.Parts[i].Cost)
		}
	}
	slices.SortFunc(parts, func(a, b *Part) int { return strings.Compare(a.Worker, b.Worker) })
	return parts, costs
}
