// Package engine owns the workers: it launches inference engines as child
// processes, attaches engines that somebody else started, watches both, and
// gives them turns. It never changes an engine; what differs between kinds of
// engines is in an Adapter, one package each.
//
// The nouns: a Fleet is all workers of a daemon. A Worker is one engine that
// takes turns; it keeps its name through any number of lives of its process.
// A Spec says what to launch, a Place what the fleet chose for one life. A
// Client talks to one running server. A feed reads its KV events, which an
// engine that we launched sends to an inbox that was there before it, while we
// dial those of the others.
//
// A worker's life: launch (own process group, loopback, a key of its own) →
// Starting, until a real token came → the KV feed has caught up → Ready → its
// process ends → Down, at once, and KVRestart → a pause that doubles with each
// failure in a row, up to 30 s → Starting again. After six in a row a person
// has to say so. A worker that never became ready is not tried again, but for a
// port that somebody else took meanwhile, and for flags of ours that it does
// not know; Start returns its last log lines. Draining takes no new turns.
// life.go and order.go decide, without clock or effects; the rest acts.
//
// An attached worker is probed instead of launched, is Down while it does not
// answer or serves another model than at first, and is never stopped.
//
// A server that answers but does no work although turns wait (no token, no
// figure that moves) is asked for a token and then lost, like one that is
// silent: launched ones are killed, attached ones looked at until they work.
//
// What a turn sees: Generate refuses at once on a worker that is not Ready. An
// error in the chain of turn.ErrLost means that another worker should go on
// with the turn. A stream counts as in flight until it ends or is closed. The
// engine's silence, not a slow client's, cuts a stream: 10 s on a draining
// worker, 2 min elsewhere after its first token.
//
// Who owns what: one goroutine per worker supervises it and owns its process;
// one reads its KV events. Callbacks of Options run on those, so a callback
// that blocks holds its worker's events back, in the end in the engine's own
// queue. No lock is held during a callback. A stream is read on its caller's
// goroutine; nothing is read ahead.
//
// What may be lost: KV events, but never silently: a hole is replayed, or all
// is forgotten by KVRestart. What cannot be read or used is counted. A log is
// kept to 16 MiB and one older file; lines at the moment of the cut are lost.
//
// Children: a worker of a recipe with bind_to_daemon is killed by the kernel
// when the daemon dies, however it dies (on Linux). Others are held by a keeper
// each, see package keep, and outlive it: the first life of a worker adopts the
// process that it finds, if it would be launched the same way today. Stop ends
// every process with its group, kept ones included.
//
// A command that runs a container is completed with what the engine needs of
// this machine, and the container goes with the command; see package container.
//
// What engines see of the environment is what a list lets through, and what
// they are given; see environment.
//
// Cost: a worker is looked at with one small HTTP request a second, all at the
// same moments; a launched one at which nothing moves, every four seconds. An
// idle one costs a few ten-thousandths of a core.
package engine
