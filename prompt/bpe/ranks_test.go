package bpe_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// asRanks writes a tokenizer as a rank file and the config beside it.
func asRanks(t testing.TB, tok *bpe.Tokenizer, added []string) (ranks, config []byte) {
	t.Helper()
	decoder := map[string]any{}
	for _, a := range added {
		id, ok := tok.ID(a)
		if !ok {
			t.Fatalf("%q is no added token", a)
		}
		decoder[fmt.Sprint(id)] = object{"content": a, "special": true}
	}
	for id := range uint32(tok.Len()) {
		s := tok.Token(id)
		if _, ok := tok.ID(s); s == "" || ok {
			continue
		}
		ranks = fmt.Appendf(ranks, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(s)), id)
	}
	config, err := json.Marshal(object{"added_tokens_decoder": decoder})
	if err != nil {
		t.Fatal(err)
	}
	return ranks, config
}

// TestRanks: gpt-oss's vocabulary without its merges, as ranks alone, gives
// the same ids.
func TestRanks(t *testing.T) {
	texts := decoded[[]sample](t, "texts.json")
	want := decoded[[][]uint32](t, "ids-gptoss.json")
	from := model(t, "gptoss")
	ranks, config := asRanks(t, from, []string{"<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>", "<|endoftext|>", "<|startoftext|>"})
	tok, err := bpe.ReadRanks(ranks, bpe.GPT4Pattern, config)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range texts {
		if got := tok.Encode(nil, s.Text); !slices.Equal(got, want[i]) {
			t.Errorf("text %d (%s): %s", i, s.Kind, firstDifference(tok, got, want[i]))
		}
	}
	big := string(unpacked(t, "big.txt.gz"))
	if got, want := tok.Encode(nil, big), from.Encode(nil, big); !slices.Equal(got, want) {
		t.Errorf("big text: %s", firstDifference(tok, got, want))
	}
}

// small is a rank file of all bytes and the tokens given.
func small(tokens ...string) (ranks []byte) {
	for id := range 256 + len(tokens) {
		s := string([]byte{byte(id)})
		if id >= 256 {
			s = tokens[id-256]
		}
		ranks = fmt.Appendf(ranks, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(s)), id)
	}
	return ranks
}

func TestRanksKimi(t *testing.T) {
	config := []byte(`{"added_tokens_decoder":{"300":{"content":"<|im_end|>","special":true}}}`)
	tok, err := bpe.ReadRanks(small("ab", "bc", "abc", "漢", "漢字"), bpe.KimiPattern, config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"abc", "abc"},
		{"abcbc", "abc|bc"},
		{"漢字ab<|im_end|>漢ab", "漢字|ab|<|im_end|>|漢|ab"},
	} {
		if got := spelled(tok, tok.Encode(nil, c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if !tok.Special(300) || tok.Special(256) || tok.Len() != 301 {
		t.Errorf("special %v, %v, length %d", tok.Special(300), tok.Special(256), tok.Len())
	}
}

func TestRanksRefused(t *testing.T) {
	for name, c := range map[string]struct{ ranks, pattern, want string }{
		"pattern":    {string(small()), `\p{L}+`, "do not join"},
		"no rank":    {"YQ==", bpe.KimiPattern, "not a token and a rank"},
		"no base64":  {"? 1", bpe.KimiPattern, "token 1"},
		"huge id":    {"YQ== 99999999", bpe.KimiPattern, "not a token and a rank"},
		"twice":      {"YQ== 1\nYg== 1", bpe.KimiPattern, "two tokens"},
		"few bytes":  {"YQ== 0", bpe.KimiPattern, "without byte 0x09"},
		"long token": {base64.StdEncoding.EncodeToString(make([]byte, 2000)) + " 0", bpe.KimiPattern, "2000 bytes"},
	} {
		if _, err := bpe.ReadRanks([]byte(c.ranks), c.pattern, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := bpe.ReadRanks(small(), bpe.KimiPattern, []byte("[")); err == nil {
		t.Error("a broken config is taken")
	}
}

// tekken is a file of all bytes and the tokens given, after ten added tokens.
func tekken(t *testing.T, change func(object), tokens ...string) []byte {
	t.Helper()
	var vocab []object
	for rank := range 256 + len(tokens) {
		s := string([]byte{byte(rank)})
		if rank >= 256 {
			s = tokens[rank-256]
		}
		vocab = append(vocab, object{"rank": rank, "token_bytes": []byte(s), "token_str": nil})
	}
	file := object{
		"config": object{"pattern": bpe.Pattern, "default_vocab_size": 10 + 256 + 2, "default_num_special_tokens": 10},
		"vocab":  vocab,
	}
	change(file)
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTekken(t *testing.T) {
	listed := func(f object) {
		f["special_tokens"] = []object{{"rank": 3, "token_str": "<x>", "is_control": true}}
	}
	for _, c := range []struct {
		name   string
		change func(object)
		text   string
		want   []uint32
	}{
		{"more tokens than count", func(object) {}, "abcd", []uint32{10 + 257, 10 + 'd'}},
		{"old added tokens", func(object) {}, "<s>[INST]a", []uint32{1, 3, 10 + 'a'}},
		{"listed ones", listed, "<x><SPECIAL_4>", []uint32{3, 4}},
	} {
		tok, err := bpe.ReadTekken(tekken(t, c.change, "ab", "abc", "abcd"))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode(nil, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	for name, change := range map[string]func(object){
		"no config":    func(f object) { delete(f, "config") },
		"no vocab":     func(f object) { delete(f, "vocab") },
		"far special":  func(f object) { f["special_tokens"] = []object{{"rank": 10, "token_str": "<x>"}} },
		"vocab of ids": func(f object) { f["vocab"] = []int{1} },
	} {
		if _, err := bpe.ReadTekken(tekken(t, change)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
