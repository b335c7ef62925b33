// Package openai writes turns as the JSON of OpenAI's chat API, which is how
// engines take conversations.
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
// Functions append to what they are given and keep nothing.
package openai
