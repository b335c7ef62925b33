// Package check tells whether an engine makes the same prompts as dyn does.
//
// Run shows an engine eight built-in conversations, asks for the prompt that
// it makes of each, and compares it, token for token, with that of package
// prompt. A worker whose engine has another template or tokenizer would
// compute its agents' turns from prompts that its model was not trained on,
// and nobody would see it in an answer's words. The Report of such a worker
// has a Reason: its turns go to the engine's own chat API. What a Report says
// is for people, and as JSON for programs.
//
// What counts as the same. Prompts with equal ids are Equal. A prompt that is
// what the model's template prints when nobody helps it is Adapted: the
// engine hands conversations to the template as they come, while dyn puts them
// into a form in which nothing is lost or refused (see package
// prompt/template). Template and tokenizer are the same then, and dyn's prompt
// is the better one; the report shows it, no turn goes elsewhere. A date that
// is a day off is the engine's clock or time zone, and counts as equal. A
// conversation that the engine refuses tells nothing of its prompts; one that
// only dyn refuses is a difference. Engines that do not show their prompts,
// and those that do not answer in time, stay with dyn's prompts: there is
// nothing to say against them.
//
// The conversations have only what all chat APIs can say; text stands in them
// that tokenizers disagree about, and JSON that printers disagree about.
//
// Cost: some ten small requests, one after another; a few milliseconds on an
// idle engine, limit in all. Nothing is generated, and no KV block is used.
// What an engine answers is bounded by its client; of it, what is shown is
// bounded here.
package check
