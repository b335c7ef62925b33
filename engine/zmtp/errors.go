package zmtp

import "errors"

// Errors that end a connection. They are in the chain of what Dial and Recv
// return.
var (
	ErrProtocol = errors.New("not the zmtp we speak") // bad greeting, wrong mechanism, broken command
	ErrTooLarge = errors.New("message too large")     // over the limits of the package comment
	ErrSocket   = errors.New("unfit socket type")     // the peer's socket cannot talk to ours
)

// Errors of Router.Send. The router lives on.
var (
	ErrPeer = errors.New("peer is gone")
	ErrFull = errors.New("peer's queue is full") // the message was dropped and counted
)
