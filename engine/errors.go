package engine

import "errors"

// Errors of a fleet, in the chain of its faults.
var (
	ErrNoWorker    = errors.New("no such worker")
	ErrNotAttached = errors.New("not an attached worker")
	ErrNotReady    = errors.New("no token came")
	ErrEndless     = errors.New("its answers do not end at max_tokens")
)
