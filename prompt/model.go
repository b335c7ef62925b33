package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/prompt/template"
)

// Model is a model folder, ready to make prompts. It is safe for concurrent
// use and never changes.
type Model struct {
	tok      *bpe.Tokenizer
	template *template.Template
	ends     []string // texts that end an answer within a conversation
	stop     []uint32
	special  []string // see Marks
	drops    Drops
	context  int
	vocab    int
	desks    sync.Pool // of *desk
}

// Options are what a recipe says of a model's prompts. The zero value is fine.
type Options struct {
	Switches map[string]any // variables of the chat template, see template.Options
}

// Open reads a model folder: its tokenizer and chat template in any form that
// packages bpe and template know, and what config.json and
// generation_config.json add. A folder whose tokenizer is of another kind, or
// whose template is no template, gives ErrUnsupported with the reason.
func Open(dir string, o Options) (*Model, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open model folder: %w", err)
	}
	m, err := OpenFS(os.DirFS(dir), o)
	if err != nil {
		return nil, fmt.Errorf("open model folder %s: %w", dir, err)
	}
	return m, nil
}

// OpenFS is Open of a folder in a file system.
func OpenFS(fsys fs.FS, o Options) (*Model, error) {
	f, err := readFolder(fsys)
	if err != nil {
		return nil, err
	}
	tmpl, err := template.Open(fsys, template.Options{Switches: o.Switches})
	if broken := new(template.FileError); errors.As(err, &broken) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	tok, err := bpe.Open(fsys)
	if errors.Is(err, bpe.ErrUnsupported) {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	m := &Model{tok: tok, template: tmpl, ends: tmpl.Closings(), context: f.context, vocab: f.vocab}
	if m.vocab == 0 {
		m.vocab = tok.Len()
	}
	m.findStops(f)
	m.findMarks()
	m.findDrops()
	return m, nil
}

// findStops gathers the ids that end an answer: what the template ends one
// with, then what the folder says.
func (m *Model) findStops(f *folder) {
	names := append(m.template.Stops(), f.eosToken)
	if len(f.eos) == 0 {
		names = append(names, "<|endoftext|>")
	}
	for _, s := range names {
		if id, ok := m.tok.ID(s); ok {
			m.addStop(id)
		}
	}
	for _, id := range f.eos {
		m.addStop(id)
	}
}

// findMarks gathers the special tokens that the template writes. Those that it
// does not are hundreds in some vocabularies, and no model was taught them.
func (m *Model) findMarks() {
	for _, text := range m.tok.Added() {
		id, _ := m.tok.ID(text)
		if m.tok.Special(id) && !slices.Contains(m.stop, id) && m.template.Writes(text) {
			m.special = append(m.special, text)
		}
	}
}

func (m *Model) addStop(id uint32) {
	if !slices.Contains(m.stop, id) {
		m.stop = append(m.stop, id)
	}
}

// Tokenizer is the model's tokenizer.
func (m *Model) Tokenizer() *bpe.Tokenizer { return m.tok }

// Template is the model's chat template.
func (m *Model) Template() *template.Template { return m.template }

// StopIDs are the ids that end an answer, the end of a message first.
func (m *Model) StopIDs() []uint32 { return slices.Clone(m.stop) }

// Marks are the texts of the special tokens that the model may say and that
// end no answer: parsers look for them. They are not to be written.
func (m *Model) Marks() []string { return m.special }

// Context is how many tokens prompt and answer may have together; 0 when the
// folder does not say.
func (m *Model) Context() int { return m.context }

// Vocab is how many ids the model knows, by config.json or else by its
// tokenizer.
func (m *Model) Vocab() int { return m.vocab }
