package bpe

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
)

// manner is how the models of one name in GGUF files split, which the files
// do not say.
type manner struct {
	patterns []string
	whole    bool // a piece that is a token is that token, see ignore_merges
	nfc      bool
}

// manners are the names that are known, as llama.cpp has them in
// src/llama-vocab.cpp (llama-cpp-python 0.3.36): which pattern a name has
// (regex_exprs) and whether it ignores merges. Of others nothing is guessed.
var manners = map[string]manner{
	"gpt-2":            {patterns: []string{gpt2Pattern}},
	"smollm":           {patterns: []string{`\p{N}`, gpt2Pattern}},
	"starcoder":        {patterns: []string{`\p{N}`, gpt2Pattern}},
	"llama-bpe":        {patterns: []string{beforeNumber + threeDigits + afterNumber}, whole: true},
	"llama3":           {patterns: []string{beforeNumber + threeDigits + afterNumber}, whole: true},
	"qwen2":            {patterns: []string{Pattern}, nfc: true},
	"deepseek-r1-qwen": {patterns: []string{Pattern}, nfc: true},
	"qwen35":           {patterns: []string{withAccents}, nfc: true},
	"gpt-4o":           {patterns: []string{o200kPattern}, whole: true},
	"tekken":           {patterns: []string{tekkenPattern}, whole: true},
	"kimi-k2":          {patterns: []string{kimiPattern}, whole: true},
	"glm4":             {patterns: []string{beforeNumber + threeDigits + afterNumber}, whole: true},
	"glm5":             {patterns: []string{beforeNumber + threeDigits + afterNumber}, whole: true},
	"deepseek-v3":      {patterns: []string{threeDigits, cjkRun, deepseekPattern}},
}

// LoadGGUF reads the vocabulary of a GGUF file; its tensors are not read.
func LoadGGUF(path string) (*Tokenizer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	defer f.Close()
	t, err := ReadGGUF(f)
	if err != nil {
		return nil, fmt.Errorf("load tokenizer %s: %w", path, err)
	}
	return t, nil
}

// ReadGGUF reads the vocabulary from the metadata at the start of a GGUF
// file. The error has ErrUnsupported in its chain when it is of another kind,
// or when the name of its split is not known.
func ReadGGUF(r io.Reader) (*Tokenizer, error) {
	v, err := readMetadata(r)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	if len(v.tokens) == 0 || len(v.tokens) > maxID {
		return nil, fmt.Errorf("gguf: %d tokens", len(v.tokens))
	}
	t, f := new(Tokenizer), new(file)
	switch v.model {
	case "gpt2":
		err = v.byteLevel(t, f)
	case "llama":
		err = v.sentencePiece(t, f)
	default:
		err = unsupported("gguf: tokenizer model %q", clip(v.model))
	}
	if err != nil {
		return nil, err
	}
	t.before, t.after = v.around()
	return t, nil
}

// around is what the file puts around a text, see Tokenizer.Around.
func (v *ggufVocabulary) around() (before, after []uint32) {
	if v.bos >= 0 && (v.addBOS > 0 || v.addBOS < 0 && v.model == "llama") {
		before = []uint32{uint32(v.bos)}
	}
	if v.eos >= 0 && v.addEOS > 0 {
		after = []uint32{uint32(v.eos)}
	}
	return before, after
}

// byteLevel makes the tokenizer of a vocabulary of bytes.
func (v *ggufVocabulary) byteLevel(t *Tokenizer, f *file) error {
	m, ok := manners[v.pre]
	if !ok {
		return unsupported("gguf: split named %q", clip(v.pre))
	}
	if m.nfc {
		t.steps = append(t.steps, step{})
	}
	if err := t.splitBy(m.patterns); err != nil {
		return err
	}
	f.model.IgnoreMerges = m.whole
	if err := v.spell(f); err != nil {
		return err
	}
	return f.tables(t, func(t *Tokenizer) error {
		j := joins{words: &f.words}
		for _, pair := range v.merges {
			if err := j.pair([]byte(pair)); err != nil {
				return err
			}
		}
		return j.enter(t)
	})
}

// sentencePiece makes the tokenizer of a SentencePiece vocabulary, whose merges are
// due in the order of the scores of what they make.
func (v *ggufVocabulary) sentencePiece(t *Tokenizer, f *file) error {
	if len(v.scores) != len(v.tokens) {
		return fmt.Errorf("gguf: %d scores of %d tokens", len(v.scores), len(v.tokens))
	}
	t.sentence = true
	t.steps = append(t.steps, step{bar, " "})
	if v.spacePrefix != 0 {
		t.lead, t.drop = leadEach, leadEach
	}
	f.words.sentence = true
	if err := v.spell(f); err != nil {
		return err
	}
	order := make([]uint32, len(v.tokens))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(v.scores[b], v.scores[a]) })
	return f.tables(t, func(t *Tokenizer) error { return t.joinByOrder(order) })
}

// spell enters the tokens.
func (v *ggufVocabulary) spell(f *file) error {
	for id, s := range v.tokens {
		kind := 1.0
		if id < len(v.kinds) {
			kind = v.kinds[id]
		}
		if s == "" || kind == kindUnused {
			f.words.grow(uint32(id))
			continue
		}
		if f.words.sentence && len(s) > longToken {
			return fmt.Errorf("gguf: token %d has %d bytes", id, len(s))
		}
		if err := f.words.spell([]byte(s)); err != nil {
			return err
		}
		if err := f.words.name(uint32(id)); err != nil {
			return err
		}
		if kind == kindControl || kind == kindUser || kind == kindUnknown {
			f.added = append(f.added, added{ID: id, Content: s, Special: kind != kindUser})
		}
	}
	return nil
}
