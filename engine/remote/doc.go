// Package remote is what the clients of all engines share in talking to one
// server over HTTP.
//
// The nouns: a Server is an address, its key, and the connections to it. A
// document is read whole, through net/http; an answer is read as it comes,
// through engine/exchange. Events cuts an answer into the data of each
// server-sent event. A Body is a request in the making; Samples are what a
// metrics page says. Listen takes a probe's answer to its end, and Form is what
// a probe asks for to see whether answers can be held to one.
//
// What a status means for a turn is told here once, see Fault: busy, the
// worker's fault, or the request's. So is what a failed connection means, see
// Unreachable.
//
// Limits: documents of 1 MiB, pages of 8 MiB, ten seconds for either; 64 KiB
// of an error; an event of 16 MiB. A buffer of 8 KiB a stream, which grows for
// an event that does not fit and shrinks again. Nothing is read ahead of what
// was asked for but what one read returned and the socket's 64 KiB.
package remote
