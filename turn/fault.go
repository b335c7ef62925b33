package turn

import "errors"

// Fault is an error a person can act on. Op says what we were doing, Err what
// went wrong, Try the one thing to do next.
type Fault struct {
	Op  string // "start worker w2"
	Err error
	Why string // one more line of detail, or ""
	Try string // "dyn up glm-5 --gpus 0,1"; empty when we have no advice
}

// Error joins Op and Err.
func (f *Fault) Error() string { return f.Op + ": " + f.Err.Error() }

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// ErrLost is in the chain of errors after which another worker should be
// tried: the worker died, drains, or refuses for load.
var ErrLost = errors.New("worker lost")

// ErrBusy is in the chain, with ErrLost, when a worker refused for load.
var ErrBusy = errors.New("worker busy")

// ErrUnsent is in the chain, with ErrLost, when the worker never had the job.
var ErrUnsent = errors.New("not sent")

// Refused is an engine's word that the request itself is at fault; another
// worker would say the same.
type Refused struct {
	Status  int // HTTP status, 4xx
	Message string

	// Of a prompt that is too long: its tokens, and how many a prompt may have.
	// Both are 0 of any other.
	Prompt, Limit int
}

// Error returns the engine's message.
func (r *Refused) Error() string { return r.Message }
