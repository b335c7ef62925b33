package ledger

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentinfer/dyn/turn"
)

// aDecision is what a router with two workers decides.
const aDecision = `{"worker":"a0","overlap_tokens":0,"reason":"cheapest","parts":[` +
	`{"worker":"a0","overlap_tokens":0,"new_tokens":2013,"pending_tokens":0,"in_flight":3,"cost":8052},` +
	`{"worker":"a1","overlap_tokens":0,"new_tokens":2013,"pending_tokens":2013,"in_flight":4,"cost":20130}]}`

// used is what this process has used of its processors.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// served is what the server writes of the n-th turn: its first form, its raw
// turn and its last form.
func served(l *Ledger, n, sessions int) {
	h := uint64(n+1) * 0x9e3779b97f4a7c15
	s := uint64(n%sessions+1) * 0xbf58476d1ce4e5b9
	x := Turn{
		ID: fmt.Sprintf("req_%016x%08x", h, uint32(h*h>>13)), At: time.Now(), Dialect: "chat", Harness: "", Session: fmt.Sprintf("h%012x", s>>16),
		Agent: "main", Kind: "user", Model: "mock-model", Class: "P0", Messages: 1, MaxTokens: 1,
		Worker: "a0", Decision: aDecision, Prompt: 2013, Cached: -1, TTFTMS: -1, QueueMS: 0.02,
	}
	l.Turn(x)
	l.Raw().Keep(turn.RawTurn{
		Model: "mock-model", Key: h, Session: x.Session, Opening: []uint32{151644, 77091, 198}, IDs: []uint32{uint32(n % 151_000)}, At: x.At,
	})
	x.Cached, x.Output, x.TTFTMS, x.TotalMS, x.Outcome = 0, 1, 1.1, 1.2, "length"
	l.Turn(x)
}

// TestMemoryIsFlat writes many turns of many sessions: what stays in memory of
// each is where its raw turn lies.
func TestMemoryIsFlat(t *testing.T) {
	l, _ := begin(t, Options{Every: time.Millisecond})
	n := 0
	heap := func(upTo int) uint64 {
		for ; n < upTo; n++ {
			served(l, n, 1<<30)
			if n%1000 == 999 {
				until(t, "an empty queue", func() bool { return l.bytes.Load() == 0 })
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const few, many = 5_000, 40_000
	before := heap(few)
	if grown := int64(heap(many)) - int64(before); grown > (many-few)*64 {
		t.Errorf("%d turns left %d bytes, %d each", many-few, grown, grown/(many-few))
	}
	if h := l.Health(); h.Lost+h.LostRaw > 0 {
		t.Errorf("health = %+v", h)
	}
}

// BenchmarkLoad writes 3,000 turns a second, with all that the server tells of
// them, and reports what a turn costs the processors, SQLite's share included.
func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct {
		name     string
		sessions int
	}{{"new sessions", 1 << 30}, {"200 sessions", 200}} {
		b.Run(c.name, func(b *testing.B) {
			l := Open(filepath.Join(b.TempDir(), "ledger.db"), Options{})
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			const step = 30
			n := 0
			was := used(b)
			b.ReportAllocs()
			for b.Loop() {
				for range step {
					served(l, n, c.sessions)
					n++
				}
				<-tick.C
			}
			for l.bytes.Load() > 0 {
				<-tick.C
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			if h := l.Health(); h.Lost+h.LostRaw > 0 {
				b.Fatalf("%+v", h)
			}
			b.ReportMetric(float64((used(b)-was).Microseconds())/float64(n), "cpu-µs/turn")
		})
	}
}
