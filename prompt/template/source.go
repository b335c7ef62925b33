package template

import (
	"io/fs"

	"github.com/agentinfer/dyn/prompt/jinja"
)

// Source is a model's chat template as its files hold it.
type Source struct {
	File   string                 // it is from
	Plain  string                 // the template
	Tools  string                 // the one for turns with tools; "" when there is no other
	Tokens map[string]jinja.Value // special tokens by the name under which templates read them, bos_token
}

// ForTools is the template that a turn with tools gets.
func (s *Source) ForTools() string {
	if s.Tools != "" {
		return s.Tools
	}
	return s.Plain
}

// Read finds the chat template of a model folder as Open does, and returns its
// text.
func Read(fsys fs.FS) (*Source, error) {
	src, err := find(fsys)
	if err != nil {
		return nil, err
	}
	s := &Source{File: src.name, Plain: src.plain, Tools: src.tools, Tokens: map[string]jinja.Value{}}
	for _, v := range src.tokens {
		s.Tokens[v.name] = v.value
	}
	return s, nil
}
