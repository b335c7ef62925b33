package prompt

import "errors"

// ErrUnsupported is in the chain when a model folder is one that cannot be
// served by tokens: its tokenizer is of another kind, or it has no chat
// template that can be read. The message names the file and the reason.
var ErrUnsupported = errors.New("unsupported model folder")

// errNothing is the answer to a turn without messages, or whose only ones
// were blank system messages; templates would trip over it.
var errNothing = errors.New("build prompt: the conversation holds no message; send one")
