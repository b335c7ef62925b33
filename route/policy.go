package route

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// Policy is a rule by its name.
type Policy string

// The policies. The zero Policy is KV.
const (
	KV         Policy = "kv"
	RoundRobin Policy = "round-robin"
)

var policies = map[Policy]func(Need, []Candidate) Decision{
	KV:         Pick,
	RoundRobin: pickNext,
}

// Policies lists the names, the default first.
func Policies() []Policy { return []Policy{KV, RoundRobin} }

// ParsePolicy finds a policy by name; "" is the default.
func ParsePolicy(name string) (Policy, error) {
	if name == "" {
		return KV, nil
	}
	var known []string
	for _, p := range Policies() {
		if string(p) == name {
			return p, nil
		}
		known = append(known, string(p))
	}
	return "", fmt.Errorf("policy %q: known are %s", name, strings.Join(known, ", "))
}

// Pick decides by the policy; an unknown one is KV. Candidates are not changed
// or kept, and their order does not matter. Names must differ.
func (p Policy) Pick(n Need, cs []Candidate) Decision {
	if pick := policies[p]; pick != nil {
		return pick(n, cs)
	}
	return Pick(n, cs)
}

// Pick decides by the rule "kv", see the package comment.
func Pick(n Need, cs []Candidate) Decision {
	d := priceAll(n, cs)
	salt := xxh3.HashString(n.Turn)
	var best *Part
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.Out == "" && (best == nil || cheaper(p, best, salt)) {
			best = p
		}
	}
	if best != nil {
		d.choose(*best, Cheapest)
	}
	return d
}

// cheaper orders parts by cost, then by turns in flight, then by names in an
// order of the turn's own.
func cheaper(a, b *Part, salt uint64) bool {
	switch {
	case a.Cost != b.Cost:
		return a.Cost < b.Cost
	case a.InFlight != b.InFlight:
		return a.InFlight < b.InFlight
	}
	x, y := xxh3.HashStringSeed(a.Worker, salt), xxh3.HashStringSeed(b.Worker, salt)
	if x != y {
		return x < y
	}
	return a.Worker < b.Worker
}

// pickNext takes the workers that may be picked in turn, by name.
func pickNext(n Need, cs []Candidate) Decision {
	d := priceAll(n, cs)
	open := 0
	for i := range d.Parts {
		if d.Parts[i].Out == "" {
			open++
		}
	}
	if open == 0 {
		return d
	}
	turn := int(n.Seq % uint64(open))
	for i := range d.Parts {
		if d.Parts[i].Out == "" && d.rank(i) == turn {
			d.choose(d.Parts[i], Next)
		}
	}
	return d
}

// rank is how many parts that are not out come before part i by name.
func (d *Decision) rank(i int) (n int) {
	for j := range d.Parts {
		if d.Parts[j].Out == "" && d.Parts[j].Worker < d.Parts[i].Worker {
			n++
		}
	}
	return n
}
