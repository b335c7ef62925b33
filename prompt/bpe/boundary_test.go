package bpe_test

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// boundaries marks where text may be cut.
func boundaries(tok *bpe.Tokenizer, text string) string {
	var b strings.Builder
	for i := range len(text) + 1 {
		if i > 0 && i < len(text) && tok.Boundary([]byte(text), i) {
			b.WriteByte('|')
		}
		b.WriteString(text[i:min(i+1, len(text))])
	}
	return b.String()
}

func TestBoundary(t *testing.T) {
	end, call := object{"content": "<|end|>"}, object{"content": "<call>"}
	for _, c := range []struct {
		name       string
		added      []map[string]any
		normalizer any
		text, want string
	}{
		{"none", nil, nil, "a b", "a b"},
		{"around tokens", []map[string]any{end, call}, nil, "a<|end|>\n<call><call>b", "a|<|end|>|\n|<call>|<call>|b"},
		{"half a token", []map[string]any{end}, nil, "a<|end|b", "a<|end|b"},
		{"a longer one", []map[string]any{end, {"content": "<|end|>>"}}, nil, "a<|end|>b", "a<|end|>b"},
		{"inside another", []map[string]any{end, {"content": "[<|end|>]"}}, nil, "<|end|>a", "<|end|>a"},
		{"overlapped by another", []map[string]any{end, {"content": "a<"}}, nil, "xa<|end|>b", "x|a<||end|>b"},
		{"overlaps itself", []map[string]any{{"content": "aba"}}, nil, "cababac", "cababac"},
		{"takes white space", []map[string]any{end, {"content": "[L]", "lstrip": true}}, nil, "a [L]b<|end|> ", "a [L]|b|<|end|> "},
		{"wants no word", []map[string]any{end, {"content": "w", "single_word": true}}, nil, ".<|end|>-<|end|>w", ".|<|end|>|-|<|end|>w"},
		{"normalised", []map[string]any{end, {"content": "[n]", "normalized": true}}, nil, "a[n]b<|end|>", "a|[n]|b|<|end|>"},
		{"changed by normalising", []map[string]any{end, {"content": "[n]", "normalized": true}}, object{"type": "NFC"}, "a[n]b<|end|>c", "a[n]b|<|end|>|c"},
		{"raw before normalised", []map[string]any{{"content": "]>"}, {"content": "[n]", "normalized": true}}, nil, "[n]a]>b", "[n]a|]>|b"},
	} {
		tok := made{added: c.added, normalizer: c.normalizer}.read(t)
		if got := boundaries(tok, c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBoundaryOfSentences(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(object)
		text, want string
	}{
		{"no prefix", nil, "a<s>b<s> a", "a|<s>|b|<s>| a"},
		{"prefix of each part", llama, "a<s>b<s> a", "a|<s>|b|<s>| a"},
		{"prefix of the text", metaspace("first"), "a<s>b<s> a", "a|<s>b|<s>| a"},
	} {
		tok := sentence{chars: "▁ab", merges: []string{"▁ a"}, added: []object{{"content": "<s>"}}, change: c.change}.read(t)
		if got := boundaries(tok, c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// tryCuts fails if a place that is said to be a boundary changes an id, and
// returns how many there were.
func tryCuts(t *testing.T, tok *bpe.Tokenizer, text string) (n int) {
	t.Helper()
	whole := tok.Encode(nil, text)
	for i := range len(text) + 1 {
		if !tok.Boundary([]byte(text), i) {
			continue
		}
		n++
		if got := tok.Encode(tok.Encode(nil, text[:i]), text[i:]); !slices.Equal(got, whole) {
			t.Fatalf("cut at %d, %q | %q: got %v, want %v", i, text[:i], text[i:], got, whole)
		}
	}
	return n
}

// TestBoundariesChangeNothing tries every place of random texts, with added
// tokens that get in each other's way.
func TestBoundariesChangeNothing(t *testing.T) {
	contents := []string{"<|a|>", "<|a|>>", "|>", "<|", "ab", "aba", "b<", "  ", " ", "\n\n", "x", "[L]", "é", "e\u0301", "\ufffd<"}
	parts := append(slices.Clone(contents), "a", "b", " ", "\n", "\u0301", "e", "\xff", "<", ">", "|")
	cuts := 0
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		var added []object
		for _, i := range r.Perm(len(contents))[:1+r.Intn(5)] {
			flag := func(one int) bool { return r.Intn(one) == 0 }
			added = append(added, object{
				"content": contents[i], "lstrip": flag(8), "rstrip": flag(8), "single_word": flag(8), "normalized": flag(3),
			})
		}
		var tok *bpe.Tokenizer
		switch r.Intn(3) {
		case 0:
			tok = made{merges: []string{"a b", "a a"}, added: added}.read(t)
		case 1:
			tok = made{merges: []string{"a b", "< |"}, added: added, normalizer: object{"type": "NFC"}}.read(t)
		case 2:
			for _, a := range added {
				a["lstrip"], a["rstrip"] = false, false // refused when normalized
			}
			change := []func(object){nil, llama, metaspace("always"), metaspace("first")}[r.Intn(4)]
			tok = sentence{chars: "▁abx<|>é", merges: []string{"▁ a", "a b", "< |"}, added: added, change: change}.read(t)
		}
		for range 40 {
			var text strings.Builder
			for range r.Intn(12) {
				text.WriteString(parts[r.Intn(len(parts))])
			}
			cuts += tryCuts(t, tok, text.String()) - 2
		}
	}
	if cuts < 1000 {
		t.Errorf("only %d boundaries inside texts", cuts)
	}
}

// TestBoundariesOfModels does the same with the added tokens of real files,
// all of which should be boundaries in plain text unless they are blanks or
// parts of others.
func TestBoundariesOfModels(t *testing.T) {
	marks := map[string][]string{
		"qwen3": {"<|im_start|>", "<|im_end|>"}, "llama3": {"<|start_header_id|>", "<|eot_id|>"},
		"gptoss": {"<|start|>", "<|message|>", "<|end|>"}, "deepseek_v3": {"<｜User｜>", "<｜Assistant｜>", "<｜tool▁calls▁begin｜>"},
		"gemma3": {"<start_of_turn>", "<end_of_turn>"}, "llama2": {"<s>", "</s>"},
	}
	for _, name := range models(t) {
		t.Run(name, func(t *testing.T) {
			if len(marks[name]) == 0 {
				t.Skipf("no marks known of %s", name)
			}
			tok := model(t, name)
			text := ""
			for _, m := range marks[name] {
				text += m + "user\nfoo  bar é\n" + m
			}
			if got, want := tryCuts(t, tok, text), 4*len(marks[name])-len(marks[name])+1; got != want {
				t.Errorf("%d boundaries, want %d: %s", got, want, boundaries(tok, text))
			}
		})
	}
}

func TestBoundaryAllocatesNothing(t *testing.T) {
	tok := made{added: []map[string]any{{"content": "<|end|>"}}}.read(t)
	text := []byte(strings.Repeat("a<|end|>", 50))
	tok.Boundary(text, 1) // finds the edges
	if got := testing.AllocsPerRun(20, func() {
		for i := range text {
			tok.Boundary(text, i)
		}
	}); got > 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func FuzzBoundary(f *testing.F) {
	toks := []*bpe.Tokenizer{
		made{merges: []string{"a b"}, normalizer: object{"type": "NFC"}, added: []object{{"content": "<|a|>"}, {"content": "|><"}, {"content": "é<", "normalized": true}}}.read(f),
		sentence{chars: "▁ab", merges: []string{"▁ a"}, change: llama, added: []object{{"content": "<s>"}, {"content": "ab", "normalized": true}}}.read(f),
	}
	for _, s := range []string{"", "a<|a|><b", "e\u0301<|a|>", " <s> a<s>", "\xf0<s>\x9f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 300 {
			return
		}
		for _, tok := range toks {
			tryCuts(t, tok, text)
		}
	})
}

func BenchmarkBoundary(b *testing.B) {
	for _, name := range models(b) {
		b.Run(name, func(b *testing.B) {
			tok := model(b, name)
			text := unpacked(b, "big.txt.gz")
			b.ReportAllocs()
			for b.Loop() {
				for i := range text {
					tok.Boundary(text, i)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*len(text)), "ns/place")
		})
	}
}
