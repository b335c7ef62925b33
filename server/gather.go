package server

import (
	"context"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Under load tokens are taken in groups. What a token costs is mostly a wake,
// a read and a write; while many answers stream, their tokens are therefore
// left in the sockets for a moment, and each flight takes what has gathered.
const (
	gatherFrom  = 16                    // answers that stream; below, each token goes at once
	gatherFull  = 48                    // answers; from here on the wait is the whole window
	gatherGroup = 32                    // deltas that are taken at once
	gatherMost  = 20 * time.Millisecond // the default of Options.Gather
)

// gather reads one stream, in groups when many stream. It belongs to the
// flight's goroutine.
type gather struct {
	f      *flight
	stream turn.Stream
	held   interface{ Buffered() bool } // nil where the stream does not tell
	timer  *time.Timer
	began  bool
	err    error // that came behind a group
}

func (f *flight) gather(stream turn.Stream) *gather {
	g := &gather{f: f, stream: stream}
	g.held, _ = stream.(interface{ Buffered() bool })
	return g
}

// next returns what the worker said next: one delta, or as many as have
// gathered. The first one never waits, and comes alone.
func (g *gather) next() ([]turn.Delta, error) {
	if g.err != nil {
		return nil, g.err
	}
	if g.began && !g.more() {
		if err := g.wait(g.f.s.window()); err != nil {
			return nil, err
		}
	}
	d, err := g.stream.Next()
	if err != nil {
		return nil, err
	}
	group := []turn.Delta{d}
	for g.began && d.End == nil && len(group) < gatherGroup && g.more() {
		if d, g.err = g.stream.Next(); g.err != nil {
			break
		}
		group = append(group, d)
	}
	g.began = true
	return group, nil
}

// more reports that a whole delta can be had without a read.
func (g *gather) more() bool { return g.held != nil && g.held.Buffered() }

// wait lets tokens gather until the end of the current window; windows of all
// flights end together, which wakes the machine less often. The flight's end
// cuts it.
func (g *gather) wait(window time.Duration) error {
	if window <= 0 || g.held == nil {
		return nil
	}
	now := time.Now()
	left := window - time.Duration(now.UnixNano())%window
	if g.timer == nil {
		g.timer = time.NewTimer(left)
	} else {
		g.timer.Reset(left)
	}
	select {
	case <-g.timer.C:
		return nil
	case <-g.f.ctx.Done():
		g.timer.Stop()
		return context.Cause(g.f.ctx)
	}
}

// window is how long tokens gather now.
func (s *Server) window() time.Duration { return windowOf(int(s.streaming.Load()), s.o.Gather) }

// windowOf is the window while n answers stream, at most most. It comes in
// few sizes, so that flights agree on its end.
func windowOf(n int, most time.Duration) time.Duration {
	if n < gatherFrom {
		return 0
	}
	quarter := 1 + 3*(min(n, gatherFull)-gatherFrom)/(gatherFull-gatherFrom)
	return most * time.Duration(quarter) / 4
}
