package bpe_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// sentence is a small SentencePiece file that a test puts together: the bytes
// have ids below 256, characters and merges follow.
type sentence struct {
	chars  string
	merges []string // "a b", with spaces written as bars
	added  []object
	change func(file object)
}

// llama is what Llama 2 has around its merges.
func llama(file object) {
	file["normalizer"] = object{"type": "Sequence", "normalizers": []any{
		object{"type": "Prepend", "prepend": "▁"}, file["normalizer"],
	}}
	strip := object{"type": "Strip", "content": " ", "start": 1, "stop": 0}
	file["decoder"].(object)["decoders"] = append(file["decoder"].(object)["decoders"].([]any), strip)
}

// metaspace is the later form of it.
func metaspace(scheme string) func(object) {
	return func(file object) {
		file["normalizer"] = nil
		file["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": false}
		file["decoder"] = object{"type": "Sequence", "decoders": []any{
			object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": false},
			object{"type": "ByteFallback"},
			object{"type": "Fuse"},
		}}
	}
}

// json is the file, Gemma's form unless change makes another of it.
func (m sentence) json(t testing.TB) []byte {
	t.Helper()
	vocab := map[string]int{}
	for b := range 256 {
		vocab[fmt.Sprintf("<0x%02X>", b)] = b
	}
	for _, r := range m.chars {
		vocab[string(r)] = len(vocab)
	}
	for _, pair := range m.merges {
		if joined := strings.Replace(pair, " ", "", 1); vocab[joined] == 0 {
			vocab[joined] = len(vocab)
		}
	}
	for i, a := range m.added {
		a["id"] = len(vocab) + i
	}
	bar := object{"String": "▁"}
	file := object{
		"added_tokens":  m.added,
		"normalizer":    object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"},
		"pre_tokenizer": nil,
		"decoder": object{"type": "Sequence", "decoders": []any{
			object{"type": "Replace", "pattern": bar, "content": " "}, object{"type": "ByteFallback"}, object{"type": "Fuse"},
		}},
		"model": object{"type": "BPE", "vocab": vocab, "merges": m.merges, "byte_fallback": true, "unk_token": nil},
	}
	if m.change != nil {
		m.change(file)
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// read reads the file that was put together.
func (m sentence) read(t testing.TB) *bpe.Tokenizer {
	t.Helper()
	tok, err := bpe.Read(m.json(t))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestSentencePiece(t *testing.T) {
	m := sentence{
		chars:  "▁abcé",
		merges: []string{"▁ a", "b c", "▁ ▁", "▁a bc", "é b"},
		added:  []object{{"content": "<s>", "special": true}, {"content": "▁▁▁"}},
	}
	for _, c := range []struct {
		name       string
		change     func(object)
		text, want string
	}{
		{"as it is", nil, "abc abc", "a|bc| abc"},
		{"unknown characters", nil, "aß\n", "a|\xc3|\x9f|\n"},
		{"known character", nil, "éb", "éb"},
		{"blanks", nil, "   a", "  | a"},
		{"a bar is a space", nil, "▁a", " a"},
		{"bars of an added token", nil, "▁▁▁a", "   |a"},
		{"prefix", llama, "abc", " abc"},
		{"prefix before a space", llama, " a", " | a"},
		{"prefix that joins nothing", llama, "bc", " |bc"},
		{"prefix of each part", llama, "a<s>a<s><s>", " a|<s>| a|<s>|<s>"},
		{"metaspace always", metaspace("always"), "a<s>a<s> a", " a|<s>| a|<s>| a"},
		{"metaspace first", metaspace("first"), "a<s>a", " a|<s>|a"},
		{"metaspace never", metaspace("never"), "a<s>a", "a|<s>|a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.change = c.change
			tok := m.read(t)
			if got := spelled(tok, tok.Encode(nil, c.text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNormalizedAddedToken: such a token is looked for in normalised text,
// and is normalised itself, prefix and all.
func TestNormalizedAddedToken(t *testing.T) {
	tok := sentence{
		chars: "▁ab", merges: []string{"▁ a"}, change: llama,
		added: []object{{"content": "ab", "normalized": true}},
	}.read(t)
	if got, want := spelled(tok, tok.Encode(nil, "ab bab")), "ab| |b|a|b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCutsAgainstDefinition: cutting where no merge joins changes no token,
// on random merges of characters of all widths.
func TestCutsAgainstDefinition(t *testing.T) {
	chars := strings.Split("▁abcé漢🙂", "")
	for seed := range int64(30) {
		r := rand.New(rand.NewSource(seed))
		merges := mergesOf(r, 40, chars)
		tok := sentence{chars: strings.Join(chars, ""), merges: merges}.read(t)
		for range 60 {
			var text strings.Builder
			for range 1 + r.Intn(120) {
				text.WriteString(chars[r.Intn(len(chars))])
			}
			want := strings.ReplaceAll(strings.Join(byDefinition(merges, text.String()), "|"), "▁", " ")
			if got := spelled(tok, tok.Encode(nil, text.String())); got != want {
				t.Fatalf("seed %d, %q: got %q, want %q", seed, text.String(), got, want)
			}
		}
	}
}

func FuzzSentenceRoundTrip(f *testing.F) {
	m := sentence{
		chars:  "▁abcé漢",
		merges: []string{"▁ a", "b c", "▁ ▁", "▁a bc", "é b", "▁ 漢"},
		added:  []object{{"content": "<s>", "special": true}},
	}
	toks := map[string]*bpe.Tokenizer{"gemma": m.read(f)}
	m.change = llama
	toks["llama"] = m.read(f)
	for _, s := range []string{"", " ", "  abc é漢🙂\r\n", "<s> a<s>", "\xf0\x9f", "<0x0A>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "▁") {
			return // a space afterwards
		}
		for name, tok := range toks {
			ids := tok.Encode(nil, text)
			got := string(tok.Decode(nil, ids))
			if utf8.ValidString(text) && got != text {
				t.Errorf("%s: got %q, want %q", name, got, text)
			}
			var parts []byte
			d := tok.Decoder()
			for _, id := range ids {
				parts = d.Push(parts, id)
			}
			if string(parts) != got || d.Pending() != 0 {
				t.Errorf("%s: Decoder: got %q and %d held, want %q", name, parts, d.Pending(), got)
			}
		}
	})
}

func TestSentencePieceRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(object)
		want   string
	}{
		{"no bars", func(f object) { f["normalizer"] = nil }, "byte_fallback without spaces"},
		{"split", func(f object) {
			f["pre_tokenizer"] = object{"type": "Split", "pattern": object{"Regex": "x"}, "behavior": "Isolated"}
		}, `"Split"`},
		{"metaspace that splits", func(f object) { f["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁", "split": true} }, `"Metaspace"`},
		{"other prefix", func(f object) { f["normalizer"] = object{"type": "Prepend", "prepend": "x"} }, `"Prepend"`},
		{"other replacement", func(f object) {
			f["normalizer"] = object{"type": "Replace", "pattern": object{"String": "  "}, "content": " "}
		}, `"Replace"`},
		{"no byte fallback in the decoder", func(f object) { f["decoder"] = object{"type": "Fuse"} }, "decoder"},
		{"ignore_merges", func(f object) { f["model"].(object)["ignore_merges"] = true }, "ignore_merges"},
		{"a byte missing", func(f object) { delete(f["model"].(object)["vocab"].(map[string]int), "<0x80>") }, "byte 0x80"},
	} {
		_, err := bpe.Read(sentence{chars: "▁ab", merges: []string{"a b"}, change: c.change}.json(t))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
