package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkWhileStoring asks for conversations at random on one core, while a
// writer on another works off a queue of events that quadruples the index: 1 Mi
// blocks become 4 Mi, and all tables grow. Time ends when the queue is drained.
// Of "beside" the writer fills another index: what the machine takes from a
// reader by itself.
func BenchmarkWhileStoring(b *testing.B) {
	all := talks(2048, 128)
	known := all[:512]
	half := func() (*Index, []Holder) {
		x := NewIndex(64, Options{})
		hs := joined(b, x, fleet)
		for i, c := range known {
			tell(x, hs[i%fleet], c)
		}
		return x, hs
	}
	for _, where := range []string{"here", "beside"} {
		b.Run(where, func(b *testing.B) {
			var took []time.Duration
			stored, spent := 0, time.Duration(0)
			for range b.N {
				b.StopTimer()
				x, hs := half()
				y := x
				if where == "beside" {
					y, hs = half()
				}
				drained := make(chan bool)
				b.StartTimer()
				began := time.Now()
				go func() {
					for i, c := range all[len(known):] {
						tell(y, hs[i%fleet], c)
					}
					close(drained)
				}()
				took = askUntil(drained, x, known, took)
				spent += time.Since(began)
				stored += (len(all) - len(known)) * talkBlocks
			}
			slices.Sort(took)
			report := func(d time.Duration, unit string) { b.ReportMetric(float64(d), unit) }
			report(took[len(took)/2], "p50-ns")
			report(took[len(took)*99/100], "p99-ns")
			report(took[len(took)*999/1000], "p99.9-ns")
			report(took[len(took)-1], "most-ns")
			late, _ := slices.BinarySearch(took, time.Millisecond)
			b.ReportMetric(float64(len(took)-late)*1e6/float64(len(took)), "over-1ms-ppm")
			b.ReportMetric(float64(len(took))/spent.Seconds(), "queries/s")
			b.ReportMetric(float64(len(took)*talkBlocks+stored)/spent.Seconds()/1e6, "Mblockops/s")
		})
	}
}

// askUntil asks for conversations until done is closed, and appends how long
// each question took.
func askUntil(done chan bool, x *Index, all [][]uint64, took []time.Duration) []time.Duration {
	r := rand.New(rand.NewPCG(3, 4))
	dst := make([]Overlap, 0, fleet)
	for {
		select {
		case <-done:
			return took
		default:
		}
		c := all[r.IntN(len(all))]
		t := time.Now()
		dst = x.Overlap(dst[:0], c)
		took = append(took, time.Since(t))
	}
}

// fillings stores conversations one by one and returns bytes for each distinct
// block when tables are about to grow, which is the least, and at the worst.
func fillings(x *Index, all [][]uint64, store func(i int, chain []uint64), from int) (least, worst float64) {
	least = 1e9
	for i, c := range all {
		store(i, c)
		if s := x.Stats(); s.Blocks >= from {
			each := float64(s.Bytes) / float64(s.Blocks)
			least, worst = min(least, each), max(worst, each)
		}
	}
	return least, worst
}

// BenchmarkBytes fills indexes whose blocks have so many holders. Bars: 45
// bytes when tables are full, 90 at any time.
func BenchmarkBytes(b *testing.B) {
	for _, holders := range []int{1, 2, 8, 64} {
		b.Run(fmt.Sprint("holders=", holders), func(b *testing.B) {
			for range b.N {
				x := NewIndex(64, Options{})
				hs := joined(b, x, fleet)
				least, worst := fillings(x, talks(max(112, 512/holders), 0), func(i int, c []uint64) {
					for k := range holders {
						tell(x, hs[(i+k*7)%fleet], c)
					}
				}, 48*talkBlocks)
				b.ReportMetric(least, "full-B/block")
				b.ReportMetric(worst, "worst-B/block")
			}
		})
	}
	b.Run("depths", func(b *testing.B) { // each worker has each conversation to a depth of its own
		for range b.N {
			x := NewIndex(64, Options{})
			hs := joined(b, x, fleet)
			r := rand.New(rand.NewPCG(7, 8))
			least, worst := fillings(x, talks(112, 0), func(i int, c []uint64) {
				tell(x, hs[i%fleet], c)
				for k := 1; k < fleet; k++ {
					tell(x, hs[(i+k)%fleet], c[:1+r.IntN(len(c))])
				}
			}, 48*talkBlocks)
			b.ReportMetric(least, "full-B/block")
			b.ReportMetric(worst, "worst-B/block")
		}
	})
	b.Run("forks", func(b *testing.B) { // a subagent's 20 blocks behind what it shares
		for range b.N {
			x := NewIndex(64, Options{})
			hs := joined(b, x, fleet)
			var all [][]uint64
			for _, c := range talks(120, 128) {
				for at := 128; at+20 <= len(c); at += 20 {
					all = append(all, append(c[:128:128], c[at:at+20]...))
				}
			}
			least, worst := fillings(x, all, func(i int, c []uint64) { tell(x, hs[i%fleet], c) }, 48*talkBlocks)
			b.ReportMetric(least, "full-B/block")
			b.ReportMetric(worst, "worst-B/block")
		}
	})
}

// BenchmarkOwnNames fills an index for workers that all name blocks in ways of
// their own. The bar is 24 bytes for a further holder, when its table is full.
func BenchmarkOwnNames(b *testing.B) {
	for range b.N {
		x := NewIndex(64, Options{})
		hs := joined(b, x, 2)
		ids := make([]uint32, 64*talkBlocks)
		least, worst := 1e9, 0.0
		for c := range uint32(200) {
			ids[0] = c
			for i, h := range hs {
				for _, ev := range events(64, ids, uint64(i+1)<<56|uint64(c)<<32) {
					x.Apply(h, ev)
				}
			}
			if c >= 48 {
				each := float64(len(x.holders[hs[1].place()].refs.keys)*refSize) / float64(x.Stats().Blocks)
				least, worst = min(least, each), max(worst, each)
			}
		}
		b.ReportMetric(least, "full-B/holder")
		b.ReportMetric(worst, "worst-B/holder")
		b.ReportMetric(float64(x.Stats().Bytes)/float64(x.Stats().Blocks), "B/block")
	}
}
