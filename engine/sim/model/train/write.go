package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/prompt/bpe"
)

//go:embed chat_template.jinja
var chatTemplate string

// context is the longest conversation, in tokens, that the model is said to
// take.
const context = 262144

// write puts the four files of the model into dir.
func write(dir string, t *trainer) error {
	first := len(t.tokens)
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"tokenizer.json", tokenizerJSON(t)},
		{"tokenizer_config.json", indented(tokenizerConfig(first))},
		{"config.json", indented(map[string]any{
			"architectures":           []string{"SimulatedForCausalLM"},
			"model_type":              "dyn_sim",
			"max_position_embeddings": context,
			"vocab_size":              first + len(specials),
			"eos_token_id":            idOf(first, "<|im_end|>"),
			"pad_token_id":            idOf(first, "<|endoftext|>"),
		})},
		{"generation_config.json", indented(map[string]any{
			"eos_token_id": []int{idOf(first, "<|im_end|>"), idOf(first, "<|endoftext|>")},
			"pad_token_id": idOf(first, "<|endoftext|>"),
		})},
	} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return fmt.Errorf("write the model: %w", err)
		}
	}
	return nil
}

// idOf is the id of an added token, when the first one has the id first.
func idOf(first int, content string) int {
	for i, s := range specials {
		if s.content == content {
			return first + i
		}
	}
	panic("no added token " + content)
}

// tokenizerConfig is tokenizer_config.json.
func tokenizerConfig(first int) map[string]any {
	added := map[string]any{}
	for i, s := range specials {
		a := addedToken(first+i, s)
		delete(a, "id")
		added[fmt.Sprint(first+i)] = a
	}
	return map[string]any{
		"added_tokens_decoder":         added,
		"chat_template":                chatTemplate,
		"clean_up_tokenization_spaces": false,
		"eos_token":                    "<|im_end|>",
		"model_max_length":             context,
		"pad_token":                    "<|endoftext|>",
		"tokenizer_class":              "PreTrainedTokenizerFast",
	}
}

// addedToken describes one added token.
func addedToken(id int, s special) map[string]any {
	return map[string]any{
		"id": id, "content": s.content, "special": s.hidden,
		"single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
	}
}

// tokenizerJSON is tokenizer.json, its lists one entry a line in the order of
// ids and ranks.
func tokenizerJSON(t *trainer) []byte {
	var added []map[string]any
	for i, s := range specials {
		added = append(added, addedToken(len(t.tokens)+i, s))
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}
	split := map[string]any{
		"type": "Split", "pattern": map[string]any{"Regex": bpe.Pattern}, "behavior": "Isolated", "invert": false,
	}
	var b bytes.Buffer
	section := func(name string, v any) { fmt.Fprintf(&b, "%s: %s,\n", compact(name), compact(v)) }
	b.WriteString("{\n")
	section("version", "1.0")
	section("truncation", nil)
	section("padding", nil)
	section("added_tokens", added)
	section("normalizer", nil)
	section("pre_tokenizer", map[string]any{"type": "Sequence", "pretokenizers": []any{split, level}})
	section("post_processor", nil)
	section("decoder", level)
	b.WriteString("\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null,\n" +
		"\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false,\n\"vocab\": {\n")
	for id, token := range t.tokens {
		comma(&b, id)
		fmt.Fprintf(&b, "%s: %d", compact(letters(token)), id)
	}
	b.WriteString("},\n\"merges\": [\n")
	for rank, m := range t.merges {
		comma(&b, rank)
		b.Write(compact(letters(t.tokens[m.left]) + " " + letters(t.tokens[m.right])))
	}
	b.WriteString("]}}\n")
	return b.Bytes()
}

// comma ends the line before every entry but the first.
func comma(b *bytes.Buffer, n int) {
	if n > 0 {
		b.WriteString(",\n")
	}
}

// letters spells a token in the alphabet of byte-level files.
func letters(token string) string {
	var b strings.Builder
	for i := range len(token) {
		b.WriteRune(bpe.Letter(token[i]))
	}
	return b.String()
}

// compact is v as JSON on one line, without the escapes that HTML needs.
func compact(v any) []byte { return encoded(v, "") }

// indented is v as JSON, with sorted keys, and a line end.
func indented(v any) []byte { return append(encoded(v, "  "), '\n') }

func encoded(v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err) // the values above are plain
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
