package server

import (
	"context"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Worker takes turns. engine.Worker is one; all methods are safe for
// concurrent use.
type Worker interface {
	Name() string
	Info() turn.WorkerInfo
	Load() turn.Load
	// Generate sends a job. An error, from it or from the stream, with
	// turn.ErrLost in its chain means that another worker should be tried (with
	// turn.ErrUnsent, that this one never had the job); a
	// *turn.Refused means that the request is at fault.
	Generate(ctx context.Context, j turn.Job) (turn.Stream, error)
}

// Fleet is what the control socket can do to workers.
type Fleet interface {
	Attach(ctx context.Context, a turn.Attach) (turn.WorkerInfo, error)
	Detach(ctx context.Context, worker string) error
	Restart(ctx context.Context, worker string) error
	Drain(ctx context.Context, worker string) error
}

// Stopper ends the daemon: at once, or after the running turns.
type Stopper func(grace time.Duration)
