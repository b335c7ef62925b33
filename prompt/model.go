package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// Model is a model folder, ready to make prompts. It is safe for concurrent
// use and never changes.
type Model struct {
	tok     *bpe.Tokenizer
	render  Renderer
	stop    []uint32
	context int
	vocab   int
}

// Open reads a model folder: tokenizer.json, tokenizer_config.json or
// chat_template.jinja, and what config.json and generation_config.json add.
// A folder whose tokenizer or template is outside this version gives
// ErrUnsupported with the file and the reason.
func Open(dir string) (*Model, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open model folder: %w", err)
	}
	m, err := OpenFS(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("open model folder %s: %w", dir, err)
	}
	return m, nil
}

// OpenFS is Open of a folder in a file system.
func OpenFS(fsys fs.FS) (*Model, error) {
	f, err := readFolder(fsys)
	if err != nil {
		return nil, err
	}
	st, err := accept(f.template)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnsupported, f.templateFile, err)
	}
	tok, err := readTokenizer(fsys)
	if err != nil {
		return nil, err
	}
	m := &Model{tok: tok, context: f.context, vocab: f.vocab}
	if m.vocab == 0 {
		m.vocab = tok.Len()
	}
	_, apart := tok.ID("</tool_response>")
	m.render = &chatML{style: st, tools: new(toolPage), apart: apart}
	return m, m.findStops(f)
}

// readTokenizer reads tokenizer.json.
func readTokenizer(fsys fs.FS) (*bpe.Tokenizer, error) {
	data, err := fs.ReadFile(fsys, "tokenizer.json")
	if err != nil {
		return nil, err
	}
	tok, err := bpe.Read(data)
	if errors.Is(err, bpe.ErrUnsupported) {
		return nil, fmt.Errorf("%w: tokenizer.json: %w", ErrUnsupported, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	return tok, nil
}

// findStops gathers the ids that end an answer.
func (m *Model) findStops(f *folder) error {
	for _, need := range []string{"<|im_start|>", "<|im_end|>"} {
		if _, ok := m.tok.ID(need); !ok {
			return fmt.Errorf("%w: tokenizer.json: %s is no token of its own", ErrUnsupported, need)
		}
	}
	for _, s := range []string{"<|im_end|>", f.eosToken} {
		if id, ok := m.tok.ID(s); ok {
			m.addStop(id)
		}
	}
	for _, id := range f.eos {
		m.addStop(id)
	}
	if len(f.eos) == 0 {
		if id, ok := m.tok.ID("<|endoftext|>"); ok {
			m.addStop(id)
		}
	}
	return nil
}

func (m *Model) addStop(id uint32) {
	if !slices.Contains(m.stop, id) {
		m.stop = append(m.stop, id)
	}
}

// Tokenizer is the model's tokenizer.
func (m *Model) Tokenizer() *bpe.Tokenizer { return m.tok }

// StopIDs are the ids that end an answer, the end of a message first.
func (m *Model) StopIDs() []uint32 { return slices.Clone(m.stop) }

// Context is how many tokens prompt and answer may have together; 0 when the
// folder does not say.
func (m *Model) Context() int { return m.context }

// Vocab is how many ids the model knows, by config.json or else by its
// tokenizer.
func (m *Model) Vocab() int { return m.vocab }
