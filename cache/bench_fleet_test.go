package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// talkBlocks is how long the conversations of these figures are.
const talkBlocks = 2048

// talks are the chains of n conversations, which begin with shared blocks.
func talks(n, shared int) (out [][]uint64) {
	r := rand.New(rand.NewPCG(1, 2))
	first := make([]uint64, shared)
	for i := range first {
		first[i] = r.Uint64()
	}
	for range n {
		c := append(make([]uint64, 0, talkBlocks), first...)
		for len(c) < talkBlocks {
			c = append(c, r.Uint64())
		}
		out = append(out, c)
	}
	return out
}

// tell stores a chain in events of 128 blocks.
func tell(x *Index, h Holder, chain []uint64) {
	for from := 0; from < len(chain); from += 128 {
		x.Stored(h, chain[:min(from+128, len(chain))], from, "")
	}
}

// joined is n holders of an index.
func joined(t testing.TB, x *Index, n int) (hs []Holder) {
	for i := range n {
		h, err := x.Join(fmt.Sprint("w", i))
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h)
	}
	return hs
}

// town is 64 workers that share a prompt of 128 blocks; each conversation is
// at home with one of them. 2 Mi blocks.
func town(b *testing.B) (*Index, [][]uint64) {
	x, all := NewIndex(64, Options{}), talks(1024, 128)
	hs := joined(b, x, fleet)
	for i, c := range all {
		if i < fleet {
			tell(x, hs[(i+1)%fleet], c[:128])
		}
		tell(x, hs[i%fleet], c)
	}
	return x, all
}

// percentiles times f with random numbers, call by call, and reports when half
// and 99 % of the calls were done.
func percentiles(b *testing.B, f func(i int)) {
	r := rand.New(rand.NewPCG(3, 4))
	took := make([]time.Duration, 0, b.N)
	for range b.N {
		i := r.IntN(1 << 30)
		t := time.Now()
		f(i)
		took = append(took, time.Since(t))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

// BenchmarkOverlap asks for conversations of 2,048 blocks at random, and gets
// the answer for all 64 workers. The bar is 2 µs at p50, and 0.7 µs for a
// session whose last turn is known.
func BenchmarkOverlap(b *testing.B) {
	x, all := town(b)
	dst := make([]Overlap, 0, fleet)
	b.Run("blocks=2048", func(b *testing.B) {
		percentiles(b, func(i int) { dst = x.Overlap(dst[:0], all[i%len(all)]) })
	})
	b.Run("blocks=2048/session", func(b *testing.B) {
		percentiles(b, func(i int) { dst = x.Since(dst[:0], all[i%len(all)], talkBlocks-20) })
	})
	b.Run("blocks=2048/partial", func(b *testing.B) {
		chain := make([]uint64, talkBlocks)
		percentiles(b, func(i int) {
			copy(chain[:i%talkBlocks], all[i%len(all)])
			chain[i%talkBlocks] = 0
			dst = x.Overlap(dst[:0], chain)
		})
	})
	for _, readers := range []int{1, 2} {
		b.Run(fmt.Sprint("readers=", readers), func(b *testing.B) {
			b.SetParallelism(1)
			var next atomic.Int64
			work := func() {
				dst := make([]Overlap, 0, fleet)
				for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
					dst = x.Overlap(dst[:0], all[i*7919%int64(len(all))])
				}
			}
			done := make(chan bool)
			for range readers {
				go func() { work(); done <- true }()
			}
			for range readers {
				<-done
			}
		})
	}
}

// cpu is the processor time that this program has used, which says more than
// the clock on a machine that does other things too.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStored stores blocks whose keys are given, in a table that grows
// from nothing to 4 Mi blocks. The bar is 7.5 M blocks/s.
func BenchmarkStored(b *testing.B) {
	all := talks(2048, 0)
	for _, holders := range []int{1, 8} {
		b.Run(fmt.Sprint("holders=", holders), func(b *testing.B) {
			took, used, n := time.Duration(0), time.Duration(0), 0
			for range max(1, b.N/(holders*len(all)*talkBlocks)) {
				x := NewIndex(64, Options{})
				hs := joined(b, x, fleet)
				t, u := time.Now(), cpu()
				for i, c := range all {
					for h := range holders {
						tell(x, hs[(i+h*7)%fleet], c)
						n += len(c)
					}
				}
				took, used = took+time.Since(t), used+cpu()-u
				b.ReportMetric(float64(x.Stats().Bytes)/float64(x.Stats().Blocks), "B/block")
			}
			b.ReportMetric(float64(n)/took.Seconds()/1e6, "Mblocks/s")
			b.ReportMetric(float64(used)/float64(n), "cpu-ns/block")
		})
	}
}

// BenchmarkStoredTokens is the same with 64 token ids a block, which are
// hashed. The bar is 5 M blocks/s.
func BenchmarkStoredTokens(b *testing.B) {
	ids := make([]uint32, 64*talkBlocks)
	for n, took, used := 0, time.Duration(0), time.Duration(0); ; {
		x := NewIndex(64, Options{})
		h := joined(b, x, 1)[0]
		for c := range uint32(1024) {
			ids[0] = c
			evs := events(64, ids, uint64(c)<<32)
			t, u := time.Now(), cpu()
			for _, ev := range evs {
				x.Apply(h, ev)
			}
			took, used = took+time.Since(t), used+cpu()-u
		}
		if n += 1024 * talkBlocks; n >= b.N {
			b.ReportMetric(float64(n)/took.Seconds()/1e6, "Mblocks/s")
			b.ReportMetric(float64(used)/float64(n), "cpu-ns/block")
			return
		}
	}
}

// BenchmarkThousandWorkers fills 1,000 workers with 16,384 blocks each.
func BenchmarkThousandWorkers(b *testing.B) {
	for range max(1, b.N/16384000) {
		x := NewIndex(64, Options{})
		hs := joined(b, x, 1000)
		r := rand.New(rand.NewPCG(5, 6))
		chain := make([]uint64, talkBlocks)
		t := time.Now()
		for _, h := range hs {
			for range 16384 / talkBlocks {
				for i := range chain {
					chain[i] = r.Uint64()
				}
				tell(x, h, chain)
			}
		}
		b.ReportMetric(16.384/time.Since(t).Seconds(), "Mblocks/s")
		s := x.Stats()
		b.ReportMetric(float64(s.Bytes)/float64(s.Blocks), "B/block")
		if s.Blocks != 1000*16384 {
			b.Fatalf("%+v", s)
		}
	}
}
