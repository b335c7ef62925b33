// Package parsers makes events of what a model writes: reasoning, text and
// tool calls.
//
// A Stream reads one answer. Push takes the text as it comes, in pieces of
// any size, and returns the events that it settles; Close settles the rest.
// The events joined are the same for every split of the text: each decision
// depends on the bytes, never on where a piece ends. What may be the
// beginning of a marker is held until it is one or not, and white space until
// it is known what follows it.
//
// This version reads hermes calls (a JSON object between <tool_call> and
// </tool_call>) and <think> reasoning, each alone or both together.
//
// What models get wrong, and what happens:
//
//   - a marker in prose, or a call without a name: the text stays text, marker
//     included, and is read again behind the marker;
//   - JSON that is not quite JSON (single quotes, Python words, raw line
//     feeds, commas too many or too few): arguments are sent as strict JSON;
//   - an end tag or closing braces missing: the call ends where the text ends
//     or where no JSON goes on; arguments are closed;
//   - arguments as a JSON string that holds an object: the object is sent;
//   - end tags without a beginning: absorbed;
//   - a call inside open reasoning: held back; it is a call when only calls
//     follow it until the answer ends, else a draft that belongs to the
//     reasoning.
//
// An answer that was cut by a token limit is announced by Cut: then nothing
// is added to arguments that break off, so that no client runs half a call.
// Repair closes such arguments where a whole object is needed.
//
// Names of calls are passed on whether or not a tool has that name.
//
// Limits: an undecided call holds up to 1 MiB and becomes text beyond it;
// text is read again for at most 1 MiB per answer; JSON nests up to 256 deep.
// Cost: one pass over the bytes, no regular expressions.
package parsers
