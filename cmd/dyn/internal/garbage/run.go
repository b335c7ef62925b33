package garbage

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// every is how often the figures are looked at.
const every = time.Second

// Run looks after the process's garbage until ctx ends; then Go's own allowance
// holds again. It belongs to a goroutine of its own, once in a process.
func Run(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	defer debug.SetGCPercent(usual)
	var p policy
	read := reader()
	set := usual
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d := p.look(read())
		if differ(d.percent, set) {
			set = d.percent
			debug.SetGCPercent(set)
		}
		if d.free {
			debug.FreeOSMemory()
			p.freed(read()) // ours is no sign of work
		}
	}
}

// reader returns a function that reads the runtime's figures. Collecting that
// was done on cores with nothing else to do is not counted.
func reader() func() figures {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
	}
	return func() figures {
		metrics.Read(s)
		spent := s[2].Value.Float64() - s[3].Value.Float64()
		return figures{s[0].Value.Uint64(), s[1].Value.Uint64(), time.Duration(spent * float64(time.Second))}
	}
}

// differ reports whether one percentage is worth a change from another.
func differ(to, from int) bool {
	return to != from && (to == usual || 10*max(to-from, from-to) > from)
}
