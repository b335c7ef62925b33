package template

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// Options are what a recipe says of a template. The zero value is fine.
type Options struct {
	// Switches are variables that the template reads, such as clear_thinking;
	// values are booleans, numbers, strings, or lists and mappings of them as
	// encoding/json makes them. What a turn says of thinking comes first.
	Switches map[string]any
}

// Template is a model's chat template. It is safe for concurrent use.
type Template struct {
	tools *form // for turns with tools
	plain *form // for the others; mostly the same
}

// form is one template text with what is known of it.
type form struct {
	facts
	name   string // the file it is from
	source string
	jinja  *jinja.Template
	fixed  []variable // special tokens and the recipe's switches
	tokens int        // so many of fixed are the former
	lists  lists
	closes openings
	spares spares
}

// variable is one entry of the context.
type variable struct {
	name  string
	value jinja.Value
}

// FileError is a file that should hold a template and cannot be read: it is
// broken, not of a kind that is not known here.
type FileError struct{ Err error }

// Error says which file, and why.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// Open reads the chat template of a model folder: chat_template.jinja, else
// what chat_template.json or tokenizer_config.json hold, else that of a GGUF
// file, else our own for the models that ship none. Of several templates
// those named tool_use and default are taken. The error has fs.ErrNotExist
// in its chain when there is none, and a *FileError when a file is broken.
func Open(fsys fs.FS, o Options) (*Template, error) {
	src, err := find(fsys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = &FileError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("open chat template: %w", err)
	}
	t := new(Template)
	if t.plain, err = newForm(src.name, src.plain, src.tokens, o); err != nil {
		return nil, err
	}
	t.tools = t.plain
	if src.tools != "" && src.tools != src.plain {
		t.tools, err = newForm(src.name, src.tools, src.tokens, o)
	}
	return t, err
}

func newForm(name, text string, tokens []variable, o Options) (*form, error) {
	parsed, err := jinja.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("open chat template: %s: %w", name, err)
	}
	f := &form{name: name, source: text, jinja: parsed, fixed: slices.Clone(tokens), tokens: len(tokens)}
	for _, name := range sortedKeys(o.Switches) {
		v, err := valueOf(o.Switches[name])
		if err != nil {
			return nil, fmt.Errorf("open chat template: switch %s: %w", name, err)
		}
		f.fixed = append(f.fixed, variable{name, v})
	}
	if err := f.probe(); err != nil {
		return nil, fmt.Errorf("open chat template: %s: %w", f.name, err)
	}
	return f, nil
}

// form is the template for a turn.
func (t *Template) form(tn *turn.Turn) *form {
	for i := range tn.Tools {
		if !tn.Tools[i].Deferred {
			return t.tools
		}
	}
	return t.plain
}
