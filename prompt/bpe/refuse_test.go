package bpe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// object is a JSON object of a file under test.
type object = map[string]any

func TestUnsupportedKinds(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(file object)
		want   string // in the message
	}{
		{"unigram", func(f object) { f["model"] = object{"type": "Unigram", "vocab": []any{[]any{"a", -1.5}}} }, `"Unigram"`},
		{"wordpiece", func(f object) { f["model"].(object)["type"] = "WordPiece" }, `"WordPiece"`},
		{"byte fallback", func(f object) { f["model"].(object)["byte_fallback"] = true }, "pre_tokenizer Sequence of Split, ByteLevel"},
		{"dropout", func(f object) { f["model"].(object)["dropout"] = 0.1 }, "dropout"},
		{"prefix", func(f object) { f["model"].(object)["continuing_subword_prefix"] = "##" }, `"##"`},
		{"suffix", func(f object) { f["model"].(object)["end_of_word_suffix"] = "</w>" }, `"</w>"`},
		{"no bytes", func(f object) { f["model"].(object)["vocab"] = object{"a": 0} }, "without byte 0x09"},
		{"no model", func(f object) { delete(f, "model") }, "model type"},
		{"normalizer", func(f object) { f["normalizer"] = object{"type": "Prepend", "prepend": "▁"} }, `"Prepend"`},
		{"normalizer inside", func(f object) {
			f["normalizer"] = object{"type": "Sequence", "normalizers": []any{object{"type": "NFC"}, object{"type": "Replace"}}}
		}, `"Replace"`},
		{"no pre-tokenizer", func(f object) { f["pre_tokenizer"] = nil }, "pre_tokenizer none"},
		{"metaspace", func(f object) { f["pre_tokenizer"] = object{"type": "Metaspace"} }, `"Metaspace"`},
		{"other pattern", func(f object) { split(f)["pattern"] = object{"Regex": `\w+`} }, `\\w+`},
		{"gaps", func(f object) { split(f)["pattern"] = object{"Regex": `\p{L}+|\s+`} }, "do not join"},
		{"intersection", func(f object) { split(f)["pattern"] = object{"Regex": `[\p{L}&&a]+|.`} }, "&&"},
		{"not a pattern", func(f object) { split(f)["pattern"] = object{"Regex": `(`} }, "split pattern"},
		{"split on a string", func(f object) { split(f)["pattern"] = object{"String": " "} }, "regular expression"},
		{"split behaviour", func(f object) { split(f)["behavior"] = "Removed" }, `"Removed"`},
		{"prefix space", func(f object) {
			f["pre_tokenizer"].(object)["pretokenizers"].([]any)[1].(object)["add_prefix_space"] = true
		}, "add_prefix_space"},
		{"no decoder", func(f object) { delete(f, "decoder") }, "decoder none"},
		{"decoder", func(f object) { f["decoder"] = object{"type": "Sequence", "decoders": []any{}} }, `decoder "Sequence"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := bpe.Read(made{merges: []string{"a b"}, change: c.change}.json(t))
			if !errors.Is(err, bpe.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ErrUnsupported with %q", err, c.want)
			}
		})
	}
}

// split is the split stage of a file.
func split(file object) object {
	return file["pre_tokenizer"].(object)["pretokenizers"].([]any)[0].(object)
}

func TestBrokenFiles(t *testing.T) {
	good := string(made{merges: []string{"a b"}, added: []object{{"content": "[x]"}}}.json(t))
	change := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the file has no %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, file := range map[string]string{
		"empty":                "",
		"not JSON":             "hello",
		"list":                 "[]",
		"text after the end":   good + "x",
		"half":                 good[:len(good)/2],
		"id not a number":      change(`"ab":256`, `"ab":"x"`),
		"negative id":          change(`"ab":256`, `"ab":-1`),
		"fraction":             change(`"ab":256`, `"ab":1.5`),
		"huge id":              change(`"ab":256`, `"ab":4294967296`),
		"id twice":             change(`"ab":256`, `"ab":97`),
		"empty token":          change(`"ab":256`, `"ab":256,"":257`),
		"merge of one":         change(`["a b"]`, `["ab"]`),
		"merge of three":       change(`["a b"]`, `[["a","b","c"]]`),
		"unknown merge":        change(`["a b"]`, `["a c"]`),
		"merge with no right":  change(`["a b"]`, `["a "]`),
		"merges no list":       change(`["a b"]`, `{}`),
		"no merges":            change(`"merges"`, `"Merges"`),
		"empty added token":    change(`"[x]"`, `""`),
		"added id too high":    change(`"id":257`, `"id":99999999`),
		"added tokens no list": change(`"added_tokens":[`, `"added_tokens":3,"x":[`),
	} {
		if _, err := bpe.Read([]byte(file)); err == nil || errors.Is(err, bpe.ErrUnsupported) {
			t.Errorf("%s: got %v, want an error that is not ErrUnsupported", name, err)
		}
	}
	if _, err := bpe.Load("testdata/none.json"); err == nil {
		t.Error("a file that does not exist loads")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(made{merges: []string{"a b"}, added: []object{{"content": "[x]"}}}.json(f))
	f.Add([]byte(`{"model":{"vocab":{"\ud83d":0},"merges":[[]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if tok, err := bpe.Read(data); err == nil {
			tok.Decode(nil, tok.Encode(nil, string(data)))
		}
	})
}
