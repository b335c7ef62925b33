// Package life is what agents do between their turns: run tools, wait for
// their subagents or for a person, compact, end.
//
// The nouns: a Note is one thing that a harness tells about a session of its
// own, by a hook; a State is what one agent is taken to do, by notes or else by
// its turns. Heard makes a note of what a harness hands to its hooks; Append
// and Parse are its form in a datagram, which holds names and times, nothing
// that a person or a model wrote.
//
// A State is a pure value: notes and turns go in with the time at which they
// came, and nothing is done about them here. What a harness tells goes before
// what its turns look like, as long as it is newer than the turn: a tool that
// was told to have ended is not taken to run because the answer that called it
// is noted a moment later.
//
// Without hooks a State knows this much: an answer that calls tools is followed
// by a tool, any other by a person, a turn that somebody broke off by a person
// too. Ends of agents are seen by the server, which knows the others of a
// session.
package life
