package bpe_test

import (
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agentinfer/dyn/prompt/bpe"
)

func TestInvalidUTF8(t *testing.T) {
	tok := made{}.read(t)
	for _, c := range []struct{ name, text, want string }{
		{"stray byte", "a\x80b", "a\ufffdb"},
		{"two stray bytes", "\xff\xfe", "\ufffd\ufffd"},
		{"cut character", "\xf0\x9f\x99", "\ufffd"},
		{"cut, then a letter", "\xf0\x9f\x99a", "\ufffda"},
		{"surrogate", "\xed\xa0\xbd", "\ufffd\ufffd\ufffd"},
		{"too long a form", "\xc0\x80", "\ufffd\ufffd"},
		{"a real replacement", "\ufffd\xff", "\ufffd\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids := tok.Encode(nil, c.text)
			if got := string(tok.Decode(nil, ids)); got != c.want {
				t.Errorf("Encode: got %q, want %q", got, c.want)
			}
			d := tok.Decoder()
			var got []byte
			for _, b := range []byte(c.text + ".") {
				got = d.Push(got, uint32(b))
			}
			if string(got) != c.want+"." {
				t.Errorf("Decoder: got %q, want %q", got, c.want+".")
			}
		})
	}
}

func TestDecoderHoldsHalfCharacters(t *testing.T) {
	tok := made{}.read(t)
	d := tok.Decoder()
	for i, c := range []struct {
		id      uint32
		want    string
		pending int
	}{{'a', "a", 0}, {0xf0, "", 1}, {0x9f, "", 2}, {0x99, "", 3}, {0x82, "🙂", 0}, {0xc3, "", 1}, {0xc3, "\ufffd", 1}, {'x', "\ufffdx", 0}} {
		got := string(d.Push(nil, c.id))
		if got != c.want || d.Pending() != c.pending {
			t.Errorf("step %d: got %q, %d held, want %q, %d", i, got, d.Pending(), c.want, c.pending)
		}
	}
}

// TestDecoderPrefixes: what was pushed so far is always a beginning of the
// whole text, valid in itself.
func TestDecoderPrefixes(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	tok := made{merges: []string{"a b", "\xc3 \xa9", "\x82 a"}}.read(t)
	for range 500 {
		ids := make([]uint32, r.Intn(20))
		for i := range ids {
			ids[i] = [...]uint32{'a', 0xc3, 0xa9, 0xf0, 0x9f, 0x99, 0x82, 0xff, 256, 257, 258}[r.Intn(11)]
		}
		whole := []byte(strings.ToValidUTF8(string(tok.Decode(nil, ids)), "?"))
		d := tok.Decoder()
		var got []byte
		for _, id := range ids {
			got = d.Push(got, id)
			if !utf8.Valid(got) {
				t.Fatalf("%v: %q is not valid", ids, got)
			}
		}
		if d.Pending() == 0 && utf8.RuneCount(got) < utf8.RuneCount(whole) {
			t.Fatalf("%v: got %q of %q", ids, got, whole)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	own := made{merges: []string{"t h", "th e"}, added: []map[string]any{{"content": "<|end|>"}}}.read(f)
	for _, s := range []string{"", "the end<|end|> ", "naïve 🙂\r\n\n  x", "\xf0\x9f", "'S'ſ'll 123", "e\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := own.Encode(nil, text)
		got := string(own.Decode(nil, ids))
		if utf8.ValidString(text) && got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if !utf8.ValidString(got) {
			t.Errorf("%q: %q is not valid", text, got)
		}
		var parts []byte
		d := own.Decoder()
		for _, id := range ids {
			parts = d.Push(parts, id)
		}
		if string(parts) != got || d.Pending() != 0 {
			t.Errorf("Decoder: got %q and %d held, want %q", parts, d.Pending(), got)
		}
	})
}

// TestRoundTripOfReferenceTexts: a real vocabulary gives every text back, in
// its normal form.
func TestRoundTripOfReferenceTexts(t *testing.T) {
	for _, name := range models(t) {
		texts := decoded[[]sample](t, "texts.json")
		tok := model(t, name)
		composes := string(tok.Decode(nil, tok.Encode(nil, "e\u0301"))) == "é"
		spaces := string(tok.Decode(nil, tok.Encode(nil, "▁"))) == " "
		for _, s := range texts {
			want := s.Text
			if composes {
				want = norm.NFC.String(want)
			}
			if spaces {
				want = strings.ReplaceAll(want, "▁", " ")
			}
			if strings.ContainsRune(want, '\u034f') {
				continue // x/text put joiners in
			}
			if got := string(tok.Decode(nil, tok.Encode(nil, s.Text))); got != want {
				t.Errorf("%s: %s: got %q, want %q", name, s.Kind, got, want)
			}
		}
	}
}

// TestConcurrentUse: one tokenizer serves many goroutines, long pieces
// included.
func TestConcurrentUse(t *testing.T) {
	tok := made{merges: []string{"a b", "ab ab"}, added: []map[string]any{{"content": "<|end|>"}}}.read(t)
	text := strings.Repeat("abab ab<|end|> é", 20) + strings.Repeat("ab", 300)
	want := tok.Encode(nil, text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := tok.Encode(nil, text); !slices.Equal(got, want) {
					t.Error("another goroutine's text got in")
					return
				}
			}
		})
	}
	group.Wait()
}

// TestEncodeAppends: what is in dst stays, and nothing but dst is allocated.
func TestEncodeAppends(t *testing.T) {
	tok := made{merges: []string{"a b"}, normalizer: map[string]any{"type": "NFC"}, added: []map[string]any{{"content": "<|end|>"}}}.read(t)
	text := strings.Repeat("abba é <|end|> 12\n", 50) + strings.Repeat("ab", 100)
	want := tok.Encode(nil, text)
	if got := tok.Encode([]uint32{7}, text); got[0] != 7 || !slices.Equal(got[1:], want) {
		t.Error("Encode does not append")
	}
	buf := make([]uint32, 0, 2*len(text))
	out := make([]byte, 0, 2*len(text))
	d := tok.Decoder()
	for name, f := range map[string]func(){
		"Encode": func() { buf = tok.Encode(buf[:0], text) },
		"Decode": func() { out = tok.Decode(out[:0], want) },
		"Push": func() {
			out = out[:0]
			for _, id := range want {
				out = d.Push(out, id)
			}
		},
	} {
		if got := testing.AllocsPerRun(20, f); got > spare {
			t.Errorf("%s: %v allocations, want %d at most", name, got, spare)
		}
	}
}

// TestEncodeAllocatesNothing: whatever has to be done to a text, and in every
// form of file, only the result is allocated.
func TestEncodeAllocatesNothing(t *testing.T) {
	texts := map[string]string{
		"plain":       strings.Repeat("some words, 12 of them\n", 100),
		"not NFC":     strings.Repeat("e\u0301 \u1112\u1175\u11c2 \u212b ", 100),
		"many marks":  strings.Repeat("a\u0301\u0323", 10) + "b" + strings.Repeat("\u0323\u0301", 40),
		"not UTF-8":   strings.Repeat("ab\xff\xf0\x9f ", 100),
		"bars":        strings.Repeat("▁a▁", 100),
		"long pieces": strings.Repeat("ab", 1000) + " " + strings.Repeat("=", 1000),
		"added":       strings.Repeat("<s>a ", 100),
	}
	added := []object{{"content": "<s>"}, {"content": "[n]", "normalized": true}}
	chars := sentence{chars: "▁abe", merges: []string{"▁ a", "a b", "▁ ▁"}, added: added[:1]}
	toks := map[string]*bpe.Tokenizer{
		"bytes": made{merges: []string{"a b", "ab ab"}, normalizer: object{"type": "NFC"}, added: added}.read(t),
		"gemma": chars.read(t),
	}
	chars.change = llama
	toks["llama"] = chars.read(t)
	for name, tok := range toks {
		for kind, text := range texts {
			buf := make([]uint32, 0, 2*len(text))
			if got := testing.AllocsPerRun(20, func() { buf = tok.Encode(buf[:0], text) }); got > spare {
				t.Errorf("%s, %s: %v allocations, want %d at most", name, kind, got, spare)
			}
		}
	}
}
