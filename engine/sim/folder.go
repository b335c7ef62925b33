package sim

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"

	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt/bpe"
)

// maxContext is the context where neither flag nor model says less.
const maxContext = 262_144

// folder is what the engine needs of a model folder.
type folder struct {
	root    string // as /v1/models tells it
	fsys    fs.FS
	tok     *bpe.Tokenizer
	vocab   int
	context int
	end     uint32   // the model's end token
	stops   []uint32 // further tokens that end an answer
}

// open reads a model folder; dir "" is our own.
func open(dir string) (*folder, error) {
	fsys, root := model.FS(), "sim"
	if dir != "" {
		fsys, root = os.DirFS(dir), dir
	}
	f, err := readFolder(fsys)
	if err != nil {
		return nil, fmt.Errorf("read model folder %s: %w", root, err)
	}
	f.root, f.fsys = root, fsys
	return f, nil
}

func readFolder(fsys fs.FS) (*folder, error) {
	data, err := fs.ReadFile(fsys, "tokenizer.json")
	if err != nil {
		return nil, err
	}
	tok, err := bpe.Read(data)
	if err != nil {
		return nil, err
	}
	f := &folder{tok: tok}
	var conf struct {
		Vocab   int `json:"vocab_size"`
		Context int `json:"max_position_embeddings"`
	}
	var names struct {
		End json.RawMessage `json:"eos_token"`
	}
	var gen struct {
		Ends json.RawMessage `json:"eos_token_id"`
	}
	for name, into := range map[string]any{
		"config.json": &conf, "tokenizer_config.json": &names, "generation_config.json": &gen,
	} {
		if err := readJSON(fsys, name, into); err != nil {
			return nil, err
		}
	}
	f.vocab, f.context = max(conf.Vocab, tok.Len()), conf.Context
	return f, f.findEnds(names.End, gen.Ends)
}

// readJSON reads a file that may be absent.
func readJSON(fsys fs.FS, name string, into any) error {
	data, err := fs.ReadFile(fsys, name)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// findEnds reads which tokens end an answer: the tokenizer's own, and those
// of the generation config, which is one id or a list.
func (f *folder) findEnds(name, ids json.RawMessage) error {
	var list []uint32
	if len(ids) > 0 && json.Unmarshal(ids, &list) != nil {
		var one uint32
		if json.Unmarshal(ids, &one) == nil {
			list = []uint32{one}
		}
	}
	var text string
	if len(name) > 0 && json.Unmarshal(name, &text) != nil {
		var token struct {
			Content string `json:"content"`
		}
		if json.Unmarshal(name, &token) == nil {
			text = token.Content
		}
	}
	end, ok := f.tok.ID(text)
	switch {
	case ok:
		f.end = end
	case len(list) > 0:
		f.end = list[0]
	default:
		return fmt.Errorf("no end token in tokenizer_config.json or generation_config.json")
	}
	for _, id := range list {
		if id != f.end {
			f.stops = append(f.stops, id)
		}
	}
	return nil
}
