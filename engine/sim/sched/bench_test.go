package sched

import (
	"testing"

	"github.com/agentinfer/dyn/engine/sim/kv"
)

// BenchmarkStep is one step of 64 requests that decode.
func BenchmarkStep(b *testing.B) {
	pool := kv.New(25_000, 16)
	s := New(pool, Config{Budget: 8192, Slots: 64})
	var open []*Request
	fresh := func() {
		for range 64 {
			r := &Request{Tokens: make([]uint32, 1000, 8192)}
			open = append(open, r)
			s.Add(r)
		}
	}
	fresh()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%4000 == 3999 {
			for _, r := range open {
				s.Drop(r)
			}
			open = open[:0]
			fresh()
		}
		s.Plan()
		s.Commit(func(*Request) (uint32, Verdict) { return 9, More })
	}
}
