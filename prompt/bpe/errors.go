package bpe

import (
	"errors"
	"fmt"
)

// ErrUnsupported is in the chain of the error of Load and Read when a file is
// a sound tokenizer.json of a kind that this version does not read. The
// message names what is outside.
var ErrUnsupported = errors.New("tokenizer kind not supported")

// unsupported names what a file has that this version does not read.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
