package garbage

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func TestPolicy(t *testing.T) {
	const mib, ms = 1 << 20, time.Millisecond
	var p policy
	now := figures{cycles: 5, spent: time.Second}
	for i, c := range []struct {
		name   string
		held   uint64
		cycles uint64 // since the look before
		spent  time.Duration
		looks  int
		want   decision
	}{
		{"the start", 32 * mib, 9, 100 * ms, 1, decision{100, false}},
		{"idle", 32 * mib, 0, 0, 8, decision{100, false}},
		{"idle for the first time", 32 * mib, 0, 0, 1, decision{100, true}},
		{"idle", 32 * mib, 0, 0, 20, decision{100, false}},
		{"a collection now and then", 32 * mib, 1, 5 * ms, 5, decision{100, false}},
		{"busy", 32 * mib, 3, 30 * ms, 1, decision{400, false}},
		{"busy, collections are rare now", 16 * mib, 1, 10 * ms, 3, decision{800, false}},
		{"none for some seconds", 16 * mib, 0, 0, 9, decision{800, false}},
		{"busy again", 64 * mib, 1, 20 * ms, 2, decision{200, false}},
		{"nearly quiet", 64 * mib, 0, 0, 9, decision{200, false}},
		{"quiet", 64 * mib, 0, 0, 1, decision{100, true}},
		{"stays so", 64 * mib, 0, 0, 30, decision{100, false}},
		{"hardly anything is held", 0, 2, 20 * ms, 1, decision{12800, false}},
		{"much is held", 300 * mib, 2, 20 * ms, 1, decision{100, false}},
		{"and less again", 32 * mib, 2, 20 * ms, 1, decision{400, false}},
		{"and much", 300 * mib, 1, 20 * ms, 3, decision{100, false}},
		{"which is quiet", 300 * mib, 0, 0, 10, decision{100, true}},
		{"a little work", 32 * mib, 1, 5 * ms, 4, decision{100, false}},
		{"and nothing any more", 32 * mib, 0, 0, 9, decision{100, false}},
		{"so what is left is given back", 32 * mib, 0, 0, 1, decision{100, true}},
		{"one collection", 32 * mib, 1, 5 * ms, 1, decision{100, false}},
		{"is nothing", 32 * mib, 0, 0, 20, decision{100, false}},
	} {
		var got decision
		for range c.looks {
			now = figures{c.held, now.cycles + c.cycles, now.spent + c.spent}
			if got = p.look(now); got.free {
				p.freed(now)
			}
		}
		if got != c.want {
			t.Errorf("%d, %s: %+v, want %+v", i, c.name, got, c.want)
		}
	}
}

func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		to, from int
		want     bool
	}{{100, 100, false}, {205, 200, false}, {230, 200, true}, {170, 200, true}, {100, 104, true}} {
		if got := differ(c.to, c.from); got != c.want {
			t.Errorf("from %d to %d: %v", c.from, c.to, got)
		}
	}
}

// TestRun: collections that take long raise what the runtime allows, quiet
// brings it down again, and the end of Run leaves all as it was.
func TestRun(t *testing.T) {
	t.Setenv("GOGC", "")
	allowed := func() int {
		was := debug.SetGCPercent(usual)
		debug.SetGCPercent(was)
		return was
	}
	defer debug.SetGCPercent(allowed())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { Run(ctx); close(done) }()
		time.Sleep(every + every/2)
		for read, from := reader(), reader()().spent; read().spent-from < dear; {
			runtime.GC()
		}
		time.Sleep(every)
		if got := allowed(); got <= usual {
			t.Errorf("%d %% are allowed of a busy process", got)
		}
		time.Sleep((2*quiet + 2) * every)
		if got := allowed(); got != usual {
			t.Errorf("%d %% are allowed of a quiet process", got)
		}
		cancel()
		<-done
	})
}

// TestRunGOGC: what the user set stays.
func TestRunGOGC(t *testing.T) {
	t.Setenv("GOGC", "70")
	was := debug.SetGCPercent(70)
	defer debug.SetGCPercent(was)
	Run(t.Context()) // returns at once
	if got := debug.SetGCPercent(70); got != 70 {
		t.Errorf("%d %%", got)
	}
}
