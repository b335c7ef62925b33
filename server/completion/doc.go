// Package completion is the border of POST /v1/completions: a text or token
// ids that go to the model as they are, and text that comes back as it was
// made. No template, no tools, no reasoning.
//
// Codec is a dialect.Codec like the three in package dialect; it is here
// because those are about conversations. All settings that chat completions
// have too (sampling, stop strings, hints) are read by that codec: a body is
// given a message in place of its prompt, everything else is the client's own
// bytes. Errors have the same form.
//
// A request brings one prompt or several, as texts or as lists of ids, and
// gets Turn.N answers to each, in the order of the prompts; with best_of only
// the likeliest ones are told. With echo an answer begins with its prompt, whose
// tokens have no log probabilities: null. A suffix is a 400 that says why.
package completion
