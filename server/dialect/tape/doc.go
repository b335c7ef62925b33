// Package tape reads JSON bodies of clients in one pass, without building
// maps or copies.
//
// Parse checks a whole document (grammar, UTF-8, depth, number of values) and
// notes where each value begins and ends: the tape, one node of 20 bytes for
// each value and each key. Strings with escapes are resolved on the way.
// Afterwards a Value is a position on the tape; reading a field is a walk over
// the siblings, and nothing is scanned twice. Raw gives the client's own bytes
// of a value, so that documents need not be written anew.
//
// Text and Bytes are copies that may be kept. Own makes one copy of a value,
// of which they are parts then: an allocation for each message instead of one
// for each text.
//
// Nothing is recursive, so depth costs no stack: MaxDepth exists for those
// who walk a document after us. MaxValues bounds the tape, at 40 MiB.
//
// Escapes of half a surrogate pair read as U+FFFD, as JavaScript clients cut
// emoji in the middle. Of repeated keys the last one counts, as in JavaScript
// and Python. A key with escapes equals the same key without.
//
// ParseKnown goes on from a document that was parsed before: what its caller
// has recognised is neither scanned nor put on the tape.
//
// A Doc belongs to one goroutine and holds the body it was made of; Free
// gives its tape back for the next body, after which no Value may be used.
// Parsing runs at about the speed at which the body can be validated.
package tape
