// Package openai speaks with the chat APIs of engines: a turn is written as the
// JSON of a request, and its streamed answer is read back as deltas. Turns go
// that way that cannot go by token ids: those with images, those of a model
// whose tokenizer or template dyn does not have, and those of an engine whose
// own template makes another prompt. Append writes what all servers take alike;
// what each spells in its own way, its adapter adds.
//
// A turn comes after prompt.Steady. What stands in the client's JSON is never
// made anew: schemas of tools stand as they came, arguments of calls as the
// text that the model wrote, so that order and numbers survive. What the form
// has no place for is put as package prompt/template puts it: the texts of a
// message are lines of one, what a call of free text says is its "input", a
// tool without a schema takes any object, and results stand in the order of
// their calls.
//
// Reasoning stands under both names that engines read, "reasoning" (vLLM
// since 0.12) and "reasoning_content" (llama.cpp, SGLang, older vLLM).
//
// Two things are left out because engines hand them to the template, which
// prints them: whether a tool is strict, and that it has no description.
//
// Images stand as data URLs. One that lies elsewhere, and every document, is
// the fixed text of package prompt/template: no engine is made to fetch what a
// client names.
//
// A server may read reasoning and calls out of its answer itself; they are
// Delta.Events then. What it does not read stays in Delta.Text, for the model's
// parser. A server without a parser of calls refuses tools that the model may
// choose: told that it must choose none, it shows them to the model all the
// same.
//
// Functions append to what they are given and keep nothing. A Stream belongs to
// one goroutine, Close to any, as turn.Stream says.
package openai
