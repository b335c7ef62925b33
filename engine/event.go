package engine

import "time"

// Event is one step in a worker's life.
type Event struct {
	At     time.Time
	Worker string
	Model  string
	PID    int // 0 for an attached worker
	URL    string
	Kind   string
	Detail string
}

// The kinds of life events.
const (
	EventStarting  = "starting"  // its process was started
	EventAdopted   = "adopted"   // its process was found running, from before this daemon
	EventReady     = "ready"     // it gave a real token, or answers again
	EventBlind     = "blind"     // it does not see the images that its recipe promises; Detail says so
	EventDown      = "down"      // it was lost; Detail says how
	EventGaveUp    = "gave up"   // it was lost too often to be started again by itself; Detail holds its last log lines
	EventRestarted = "restarted" // it is ready again after its process was started anew
	EventDrained   = "drained"   // the last turn has ended, no new one comes
	EventAttached  = "attached"  // an engine that dyn did not start was added
	EventDetached  = "detached"  // it was let go
	EventStopped   = "stopped"   // its process was ended on purpose
)
