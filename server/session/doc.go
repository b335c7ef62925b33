// Package session keeps what the server knows about each agent between its
// turns: the prompt of its last turn (text, ids, block hashes, tools), the
// messages it went through, and the figures that screens show.
//
// The nouns: a Store holds Agents; an Agent is one line of turns of one
// session on one model. Clients that name their session and agent are
// believed (within bounds; the names are never used to authorise anything).
// For the others the Store compares rolling hashes of canonical messages (see
// prompt.Rolling; Begun tells those that need not be made again): a turn that goes on where an agent stood belongs to that
// agent; one that leaves its line at an earlier message is a fork, a new
// agent of the same session; one that shares less than the first user message
// is a new session.
//
// A turn takes its agent from Find, its prompt from the agent's Build, and
// tells the Store with Holds what the agent then holds and with Said how far
// its line now goes. Nothing here decides where a turn runs.
//
// Memory is bounded by the number of agents and by the bytes that they hold
// together. An agent's figure is counted after each of its prompts: some 10 to
// 16 bytes a token while it is awake, and 5 to 6 more from its second prompt on.
// Beyond Limits.Awake the agents whose prompts were made longest ago are brought
// to rest: they keep ids and hashes, 5 to 6 bytes a token, and their next turn
// is rendered anew, which takes about a millisecond for 100,000 tokens. Beyond Limits.Agents and Limits.Bytes the
// least recently used agent is dropped. What is dropped is only work saved: its
// next turn is tokenised from the start, and a client without headers then
// begins a new session. The tools of an agent's turns are remembered too, for a
// request for compaction that comes without; those of a conversation also lie
// on the shelf of raw turns, as long as raw turns do.
package session
