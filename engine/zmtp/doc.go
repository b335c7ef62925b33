// Package zmtp speaks the part of ZeroMQ that KV events need: ZMTP 3 over TCP
// with the NULL mechanism, and four socket types.
//
// The nouns: Sub and Dealer are our side, they dial an engine's event feed and
// its replay socket; an Inbox is our side too, it listens, and each engine that
// connects to it is a Sub. Pub and Router are an engine's side; the simulated
// engine uses them. A Router listens, a Pub listens or dials. All of them talk
// to libzmq of version 4 and later.
//
// A socket here is less than libzmq's. One Sub or Dealer is one connection: it
// does not reconnect, because whoever reads events must know that a connection
// was lost, look at the sequence numbers and ask for a replay. Only a Pub that
// dials connects anew, as an engine does. A message is read whole and its
// frames lie in one buffer that the next Recv overwrites.
//
// Owners: the caller of Dial or Listen closes what it got. What listens owns
// one goroutine that accepts and two for each peer, a Pub that dials two;
// Close ends them all. Order of locks: listener.mu, Pub.tmu, outbox.mu; wire.mu
// and line.mu alone.
//
// What may be lost: a Pub never blocks, so a subscriber that reads too slowly
// loses messages, as with libzmq; each one is counted (Dropped). A Router does
// the same and tells the sender (ErrFull). Nothing is sent to a subscriber
// before its subscription came in.
//
// Limits, against peers that lie: a message holds at most 64 frames and 32
// MiB, 64 KiB when it comes to a listener; memory grows with the bytes that
// really came; a handshake takes at most five seconds and a command 4 KiB; a
// listener serves 256 peers at once; a peer keeps 256 topics of 1 KiB; waiting
// messages are bounded by count and by bytes (BacklogMessages, BacklogBytes).
// Passing a limit is an error that ends the connection.
//
// Cost: a received message allocates nothing once the buffer has grown; a sent
// one is encoded once, whatever the number of subscribers. About 4 µs for a
// message of 1 KiB on loopback, most of it in the kernel.
package zmtp
