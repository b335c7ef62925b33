package bpe_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// made is a small tokenizer.json that a test puts together.
type made struct {
	merges     []string // "a b", as bytes, not in the file's alphabet
	added      []map[string]any
	normalizer any
	change     func(file map[string]any) // last word on the file
}

// json is the file. Its vocabulary is the 256 bytes, then what the merges
// make; added tokens without an id follow.
func (m made) json(t testing.TB) []byte {
	t.Helper()
	vocab, merges := map[string]int{}, []any{}
	for b := range 256 {
		vocab[string(bpe.Letter(byte(b)))] = b
	}
	for _, pair := range m.merges {
		left, right, _ := strings.Cut(pair, " ")
		left, right = letters(left), letters(right)
		if _, ok := vocab[left+right]; !ok {
			vocab[left+right] = len(vocab)
		}
		merges = append(merges, left+" "+right)
	}
	for i, a := range m.added {
		if _, ok := a["id"]; !ok {
			a["id"] = len(vocab) + i
		}
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}
	split := map[string]any{"type": "Split", "pattern": map[string]any{"Regex": bpe.Pattern}, "behavior": "Isolated"}
	file := map[string]any{
		"added_tokens":  m.added,
		"normalizer":    m.normalizer,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{split, level}},
		"decoder":       level,
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": nil},
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
func (m made) read(t testing.TB) *bpe.Tokenizer {
	t.Helper()
	tok, err := bpe.Read(m.json(t))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// letters spells bytes in the file's alphabet.
func letters(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(bpe.Letter(s[i]))
	}
	return b.String()
}

// spelled shows ids as their tokens, with bars between.
func spelled(tok *bpe.Tokenizer, ids []uint32) string {
	var parts [][]byte
	for _, id := range ids {
		parts = append(parts, []byte(tok.Token(id)))
	}
	return string(bytes.Join(parts, []byte("|")))
}

func TestMerges(t *testing.T) {
	tok := made{merges: []string{"b c", "a b", "ab c", "x x", "xx x"}}.read(t)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"lowest rank first", "abc", "a|bc"},
		{"leftmost of equals", "xxx", "xxx"},
		{"pairs from the left", "xxxxx", "xx|xxx"},
		{"no merge across pieces", "a bc", "a| |bc"},
		{"no merge at all", "éz", "\xc3|\xa9|z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spelled(tok, tok.Encode(nil, c.text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMergesAsLists(t *testing.T) {
	m := made{merges: []string{"b c", "a bc"}, change: func(file map[string]any) {
		model := file["model"].(map[string]any)
		var lists []any
		for _, pair := range model["merges"].([]any) {
			lists = append(lists, strings.Split(pair.(string), " "))
		}
		model["merges"] = lists
	}}
	tok := m.read(t)
	if got, want := spelled(tok, tok.Encode(nil, "abc")), "abc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestIgnoreMerges: a piece that is a token is that token, even where no
// merges lead to it.
func TestIgnoreMerges(t *testing.T) {
	for _, c := range []struct {
		ignore bool
		want   string
	}{{false, "a|bc"}, {true, "abc"}} {
		tok := made{merges: []string{"b c", "a b", "ab c"}, change: func(file map[string]any) {
			file["model"].(map[string]any)["ignore_merges"] = c.ignore
		}}.read(t)
		if got := spelled(tok, tok.Encode(nil, "abc")); got != c.want {
			t.Errorf("ignore_merges %v: got %q, want %q", c.ignore, got, c.want)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Hello world", "Hello| world"},
		{"it's IT'LL we'd 'tis x'ſ", "it|'s| IT|'LL| we|'d| '|tis| x|'ſ"},
		{"'tis 'Re'", "'t|is| '|Re|'"},
		{"f(x1, 23)", "f|(x|1|,| |2|3|)"},
		{"a  b\t c", "a| | b|\t| c"},
		{"a \n\n  b\n", "a| \n\n| | b|\n"},
		{"x := y;\r\n\tz", "x| :=| y|;\r\n|\tz"},
		{"end   ", "end|   "},
		{"¿qué? naïve—ok", "¿qué|?| naïve|—ok"},
		{"数字12 🙂🙂", "数字|1|2| 🙂🙂"},
		{"\u00a0x\u3000y", "\u00a0x|\u3000y"},
	} {
		var got []string
		for p := range bpe.Pieces(c.text) {
			got = append(got, p)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: got %q, want %q", c.text, strings.Join(got, "|"), c.want)
		}
	}
}

// TestOtherPattern: a pattern without a scanner cuts as it says.
func TestOtherPattern(t *testing.T) {
	tok := made{merges: []string{"a b", "ab ab", "1 2", "ab 1", "! !"}, change: func(file object) {
		split(file)["pattern"] = object{"Regex": `[\p{L}\p{N}&&[^b]]|b1?|[^\p{L}\p{N}]{1,2}`}
	}}.read(t)
	if got, want := spelled(tok, tok.Encode(nil, "ab12!!!")), "a|b|1|2|!!|!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLackingBytes: a vocabulary may lack control characters, which then give
// no token, as in SmolLM2's file; what is beside them is merged over them.
func TestLackingBytes(t *testing.T) {
	tok := made{merges: []string{"a b"}, change: func(file map[string]any) {
		delete(file["model"].(map[string]any)["vocab"].(map[string]int), letters("\x04"))
	}}.read(t)
	for _, c := range []struct{ text, want string }{
		{"\x04", ""},
		{"-\x04-", "-|-"},
		{strings.Repeat("\x04", 200), ""},
		{"a" + strings.Repeat("\x04", 200) + "b", "a|b"}, // three pieces
	} {
		if got := spelled(tok, tok.Encode(nil, c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
