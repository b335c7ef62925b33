package bpe_test

import "testing"

func TestAddedTokens(t *testing.T) {
	tok := made{
		normalizer: map[string]any{"type": "NFC"},
		added: []map[string]any{
			{"content": "<|end|>", "special": true},
			{"content": "<|end|>2"},
			{"content": "<|e"},
			{"content": "word", "single_word": true},
			{"content": "[L]", "lstrip": true},
			{"content": "[R]", "rstrip": true},
			{"content": "e\u0301!", "normalized": true},
			{"content": "e\u0301?"},
		},
	}.read(t)
	for _, c := range []struct{ name, text, want string }{
		{"alone", "<|end|>", "<|end|>"},
		{"between", "a<|end|>b", "a|<|end|>|b"},
		{"longest", "<|end|>2<|end|>3", "<|end|>2|<|end|>|3"},
		{"shorter when the longer fails", "<|en", "<|e|n"},
		{"cut short", "<|", "<||"},
		{"twice", "<|end|><|end|>", "<|end|>|<|end|>"},
		{"a word alone", "a word.", "a| |word|."},
		{"inside a word", "swords", "s|w|o|r|d|s"},
		{"takes space before", "a \t[L] b", "a|[L]| |b"},
		{"takes space after", "a [R] \n b", "a| |[R]|b"},
		{"space between two", "[R]  [L]", "[R]|[L]"},
		{"matched after normalising", "e\u0301! é!", "e\u0301!| |e\u0301!"},
		{"matched before normalising", "e\u0301?", "e\u0301?"},
		{"not matched after", "é?", "\xc3|\xa9|?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spelled(tok, tok.Encode(nil, c.text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhoIsWho(t *testing.T) {
	tok := made{merges: []string{"a b"}, added: []map[string]any{
		{"content": "<|end|>", "special": true},
		{"content": "<call>", "id": 300},
	}}.read(t)
	if got, want := tok.Len(), 301; got != want {
		t.Errorf("Len: got %d, want %d", got, want)
	}
	for _, c := range []struct {
		id      uint32
		token   string
		special bool
	}{
		{'a', "a", false},
		{256, "ab", false},
		{257, "<|end|>", true},
		{258, "", false}, // a gap
		{300, "<call>", false},
		{301, "", false},
		{1<<32 - 1, "", false},
	} {
		if got := tok.Token(c.id); got != c.token || tok.Special(c.id) != c.special {
			t.Errorf("%d: got %q, special %v, want %q, %v", c.id, got, tok.Special(c.id), c.token, c.special)
		}
	}
	if id, ok := tok.ID("<call>"); id != 300 || !ok {
		t.Errorf("ID: got %d, %v", id, ok)
	}
	if _, ok := tok.ID("ab"); ok {
		t.Error("ID finds a token that is not an added one")
	}
	if got := string(tok.Decode(nil, []uint32{256, 9999, 258, 300})); got != "ab<call>" {
		t.Errorf("Decode: got %q", got)
	}
}
