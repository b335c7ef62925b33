package server

import (
	"slices"

	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/turn"
)

// retainMarks are the marks of the ranges that a turn says are worth to keep.
// A range is kept by the prefix that it ends. at is which range asked for which.
func (f *flight) retainMarks() (marks []lease.Mark, at []int) {
	for i, r := range f.t.Hints.Retain {
		m := lease.Mark{TTL: r.For, By: lease.ByRange, Weight: float64(r.Priority) / 50}
		switch r.Where {
		case "system", "tools":
			m.Tokens = f.head
		case "history":
			m.Tokens = f.asked
		case "tokens":
			if r.From < f.asked {
				m.Tokens = min(r.To, f.asked)
			}
		}
		if m.Tokens > 0 && r.Priority > 0 {
			marks, at = append(marks, m), append(at, i)
		}
	}
	return marks, at
}

// retainExtra is what became of one range, in an answer.
type retainExtra struct {
	Where string `json:"where"`
	State string `json:"state"`
	ID    string `json:"id,omitempty"`
	Why   string `json:"why,omitempty"`
}

// notPossible is the state of a range that no lease can keep.
const notPossible = "not possible here"

// retainExtras are the answers to the turn's ranges, in their order.
func (f *flight) retainExtras() []retainExtra {
	marks, at := f.retainMarks()
	var now []lease.Lease
	if l := f.leased.Load(); l != nil {
		now = f.s.leases.Look(l.worker, l.Leases)
	}
	list := make([]retainExtra, len(f.t.Hints.Retain))
	for i, r := range f.t.Hints.Retain {
		list[i] = retainExtra{Where: r.Where, State: notPossible, Why: whyNot(r)}
		j := slices.Index(at, i)
		if j < 0 {
			continue
		}
		k := slices.IndexFunc(now, func(l lease.Lease) bool { return l.Tokens == marks[j].Tokens })
		if k < 0 {
			list[i].Why = "its worker does not lease"
			continue
		}
		list[i] = retainExtra{r.Where, string(now[k].State), now[k].ID, now[k].Why}
	}
	return list
}

// whyNot says why a range has no lease.
func whyNot(r turn.Retain) string {
	switch {
	case r.Where == "reasoning" || r.Where == "output":
		return "no engine can be told which blocks of an answer go first"
	case r.Priority == 0:
		return "priority 0 asks for nothing, and no engine can be told to let go"
	}
	return "the prompt has no such tokens"
}
