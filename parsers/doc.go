// Package parsers makes events of what a model writes: reasoning, text and
// tool calls.
//
// How a family of models writes is a Spec, data in one YAML file below specs/.
// A Set finds specs by name, ours and other programs', and makes a Format of
// them, which all turns of a model share. A Format opens a Stream for each
// answer. Adding a family is one file; a shape that no spec can say is a
// reader (reader.go) and a line in grammar.go.
//
// Push takes the text as it comes, in pieces of any size, and returns the
// events that it settles; Close settles the rest. The events joined are the
// same for every split of the text: each decision depends on the bytes, never
// on where a piece ends. What may be the beginning of a marker is held until
// it is one or not, and white space until it is known what follows it.
//
// What an answer begins with is told by the end of the prompt: inside
// reasoning, behind it, or undecided, where reasoning may open first. A marker
// counts only where what has to follow it does. A call ends where its own
// reader says, never at a text that is looked for. Calls that need no marker
// count only at the beginning of the visible answer, and only for a tool on
// offer with arguments that look like some.
//
// What models get wrong, and what happens; flaws come with the end of a call:
//
//   - a marker in prose, or a call without a name: the text stays text, marker
//     included, and is read again behind the marker;
//   - JSON that is not quite JSON (single quotes, Python words, raw line
//     feeds, commas too many or too few): arguments are sent as strict JSON,
//     and the call is Repaired;
//   - a closing marker, quote or braces missing: the call ends where the text
//     ends or where nothing of it goes on, arguments are closed, Repaired;
//   - arguments as a JSON string that holds an object: the object is sent;
//   - no arguments: they are {};
//   - closers without a beginning: absorbed;
//   - a header that spells a name differently: the tool on offer that it fits;
//   - a name that no tool on offer has: passed on, Unknown;
//   - a value that is not of the type its schema says: stays text, Mistyped;
//   - a section of calls with none in it: nothing;
//   - a call inside open reasoning: held back; it is a call when only calls
//     follow it until the answer ends, else a draft that belongs to the
//     reasoning.
//
// An answer that was cut by a token limit is announced by Cut: then nothing
// is added to arguments that break off, so that no client runs half a call,
// and the call is Truncated. Markers with nothing behind them are dropped.
// Repair closes such arguments where a whole object is needed.
//
// Limits: an undecided call holds up to 1 MiB and becomes text beyond it;
// text is read again for at most 1 MiB per answer; JSON nests up to 256 deep.
// Cost: one pass over the bytes, no regular expressions, no copy of plain
// text.
package parsers
