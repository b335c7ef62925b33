// Package server is the daemon's front: HTTP in, HTTP out, and the path of a
// turn between them. Read serve.go first: it is that path as one short
// function, and each of its lines names the room where the step is done.
//
// The nouns. An endpoint is one thing that clients can ask for; table.go holds
// them all. A call is one request while it is served, with the key that it
// came with. A Server listens, holds the models and answers the control
// socket. A model has members (workers as the server sees them), the index of
// what they hold, and the queue of turns that wait. A flight is one turn on
// its way: one goroutine routes it and pulls its answer from a worker
// (flight.fly), the other parses, encodes and writes (flight.stream or
// flight.document); a small channel between them carries deltas, so a client
// that does not read holds back its worker and nothing else. One answer that
// is sent whole needs no second goroutine: its consumer flies itself. A flight
// that several answers were asked of has twins, one for each more. A demand is
// what a turn needs of a worker that not every worker can.
//
// Two ways to a worker. Most turns go as token ids. Those that cannot (chat.go
// says which) go to the worker's own chat API; which way it is, is decided with
// the seat, since workers differ.
//
// Who ends what. A flight's context ends when the client hangs up (watch.go),
// when the answer is whole, or when the server stops; with it ends the wait
// in the queue and the request at the worker. The consuming side writes the
// flight's one record, whatever happened. Handlers and body writers recover
// from panics, which fasthttp does not.
//
// Bad clients. A request is refused as early as it can be, and what it still
// sends is read off for a while, so that the refusal reaches it. Who closes
// his sending side counts as gone (499). Of an answer that nobody takes, 128
// KiB wait in the kernel and little more in us; after Options.Patience without
// a byte taken its client counts as gone too.
//
// What may be lost: figures of screens older than their window, sessions that
// were dropped for memory (their next turn is tokenised anew), index entries.
// Not lost: a client's cancel, a stream's terminal event, the count of what
// was refused.
//
// Cost: a turn of 60,000 new tokens takes about the tokenizer's time; a turn
// that adds 500 tokens to 60,000 costs a comparison of its body with the one
// before and the tokenizer's time for 500.
package server
