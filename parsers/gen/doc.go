// Package gen writes the spec of a parser from a chat template, with proof.
//
// Generate renders small conversations that differ in one thing and compares
// what is printed: with a call and without, with one argument and two, one call
// and two, each type of value, with reasoning and without. From what repeats it
// derives the markers and the form of calls. Nothing is read from the template's
// source but the names that it asks for. Then it reads every probe back with the
// parser that the spec makes, in every split of its text; that is the grade:
//
//	exact    all come back as they were put in
//	typed    so they do, with the schemas of the tools
//	lossy    some do not, and no shipped spec does better
//	unknown  calls have no form that is known
//	none     the template prints no calls
//	documented  it prints none, and the model's response_template says how they are
//
// A response_template in tokenizer_config.json is a description by the model's
// makers: what of it a spec can say is taken, if the probes do not contradict.
//
// Where a shipped spec reads all probes and what was derived does not (messages
// with headers, Python's syntax), that one is taken, and the result says so.
//
// A Result makes files: the spec, a Go test with all probes (package gentest
// runs it), a report, and for what is not settled the frame of a reader in Go
// and a guide for who finishes it. Check holds a finished spec against the
// template and recorded outputs; Which finds the shipped spec for a template.
//
// A template is foreign code: each rendering is bounded, and so are all of them
// together. Cost: some sixty renderings and a third of a second.
//
// The method of comparing renderings is that of llama.cpp's automatic parser,
// with three bodies in place of two and values decoded in place of cut.
package gen
