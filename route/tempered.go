package route

import "math"

// tempered chooses as Dynamo's router does with a temperature: parts that are not
// out are drawn with weights exp(−(cost − least) / ((most − least) · t)); a
// temperature of 0 is least. The draw depends on the need's turn and seed, and
// not on the order of the parts: each adds noise of its own name to its weight
// and the largest sum wins (Gumbel).
func (d *Decision) tempered(n *Need, t float64, why Reason) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range d.Parts {
		if p := &d.Parts[i]; p.Out == "" {
			lo, hi = min(lo, p.Cost), max(hi, p.Cost)
		}
	}
	if !(t > 0) || !(hi > lo) {
		d.least(n, why)
		return
	}
	salt := salted(n)
	var best *Part
	most := math.Inf(-1)
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.Out != "" {
			continue
		}
		u := unit(lot(salt, p.Worker)) + 0x1p-54
		score := (lo-p.Cost)/((hi-lo)*t) - math.Log(-math.Log(u))
		if score > most || score == most && best != nil && p.Worker < best.Worker {
			best, most = p, score
		}
	}
	if best != nil {
		d.choose(best, Drawn)
	}
}
