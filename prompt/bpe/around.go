package bpe

import (
	"encoding/json"
	"slices"
	"strings"
)

// Around are the ids that the model's own program puts before and behind a
// text that is given to it as it is, most often the one that every text of its
// training began with; nil is none. Encode adds neither, as chat templates
// write their own. Nobody may write the slices.
//
// Sources: post_processor of tokenizer.json; of classes that overrule it
// (transformers, LlamaTokenizerFast.update_post_processor) add_bos_token and
// add_eos_token of tokenizer_config.json; mistral-common, which begins texts
// with <s>; tokenizer.ggml.add_bos_token and add_eos_token of GGUF files,
// absent true and false for the kind "llama" and false for others
// (llama.cpp, src/llama-vocab.cpp).
func (t *Tokenizer) Around() (before, after []uint32) { return t.before, t.after }

// EncodePrompt is Encode of a text that is a whole prompt, with what Around
// tells.
func (t *Tokenizer) EncodePrompt(dst []uint32, text string) []uint32 {
	return append(t.Encode(append(dst, t.before...), text), t.after...)
}

// processor is a post_processor of tokenizer.json. Kinds that put nothing
// around one text are not told apart.
type processor struct {
	Type       string      `json:"type"`
	Processors []processor `json:"processors"`
	Single     []struct {
		Token *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
	} `json:"single"`
	Tokens map[string]struct {
		IDs []uint32 `json:"ids"`
	} `json:"special_tokens"`
	First tokenAndID `json:"cls"` // of the processors of BERT and RoBERTa
	Last  tokenAndID `json:"sep"`
}

// tokenAndID is written as a list of two.
type tokenAndID struct {
	id    uint32
	known bool
}

func (p *tokenAndID) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &[]any{&text, &p.id}); err != nil {
		return err
	}
	p.known = true
	return nil
}

// surround reads a post_processor; raw may be nil.
func (t *Tokenizer) surround(raw []byte) error {
	if raw == nil {
		return nil
	}
	var p *processor
	if err := json.Unmarshal(raw, &p); err != nil || p == nil {
		return err
	}
	p.enter(t)
	return nil
}

// enter puts around what is there already.
func (p *processor) enter(t *Tokenizer) {
	var before, after []uint32
	switch p.Type {
	case "Sequence":
		for i := range p.Processors {
			p.Processors[i].enter(t)
		}
		return
	case "TemplateProcessing":
		side := &before
		for _, part := range p.Single {
			if part.Token == nil {
				side = &after // the text itself
				continue
			}
			*side = append(*side, p.Tokens[part.Token.ID].IDs...)
		}
	case "BertProcessing", "RobertaProcessing":
		if p.First.known && p.Last.known {
			before, after = []uint32{p.First.id}, []uint32{p.Last.id}
		}
	}
	t.before, t.after = append(before, t.before...), append(t.after, after...)
}

// surroundBy takes what a tokenizer_config.json overrules; data that is no
// such file changes nothing, as its readers say what is wrong with it.
func (t *Tokenizer) surroundBy(data []byte) {
	var c struct {
		Class  string    `json:"tokenizer_class"`
		AddBOS *bool     `json:"add_bos_token"`
		AddEOS *bool     `json:"add_eos_token"`
		BOS    tokenText `json:"bos_token"`
		EOS    tokenText `json:"eos_token"`
	}
	if json.Unmarshal(data, &c) != nil || !slices.Contains(overruling, strings.TrimSuffix(c.Class, "Fast")) {
		return
	}
	set := func(ids *[]uint32, add *bool, name tokenText) {
		if add == nil {
			return
		}
		*ids = nil
		if id, ok := t.ID(string(name)); ok && *add {
			*ids = []uint32{id}
		}
	}
	set(&t.before, c.AddBOS, c.BOS)
	set(&t.after, c.AddEOS, c.EOS)
}

// overruling are the classes of transformers that write the post_processor
// anew from the settings.
var overruling = []string{"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer"}

// tokenText is a token, written as its text or as an object.
type tokenText string

func (n *tokenText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*n = tokenText(text)
		return nil
	}
	var token struct {
		Content string `json:"content"`
	}
	err := json.Unmarshal(data, &token)
	*n = tokenText(token.Content)
	return err
}
