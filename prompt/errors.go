package prompt

import "errors"

// ErrUnsupported is in the chain when a model folder is outside this version:
// its tokenizer is of another kind, or its chat template is not ChatML with
// hermes calls. The message names the file and what in it is foreign.
var ErrUnsupported = errors.New("unsupported model folder")
