package bpe_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// metadata writes a GGUF file of these values and no tensors.
type metadata struct {
	bytes.Buffer
	count uint64
}

func (m *metadata) put(v any) { _ = binary.Write(&m.Buffer, binary.LittleEndian, v) }

func (m *metadata) text(s string) {
	m.put(uint64(len(s)))
	m.WriteString(s)
}

// add writes one value under a key.
func (m *metadata) add(key string, value any) {
	m.count++
	m.text(key)
	switch v := value.(type) {
	case string:
		m.put(uint32(8))
		m.text(v)
	case bool:
		m.put(uint32(7))
		m.put(v)
	case uint32:
		m.put(uint32(4))
		m.put(v)
	case uint64:
		m.put(uint32(10))
		m.put(v)
	case []string:
		m.put([]uint32{9, 8})
		m.put(uint64(len(v)))
		for _, s := range v {
			m.text(s)
		}
	case []int32:
		m.put([]uint32{9, 5})
		m.put(uint64(len(v)))
		m.put(v)
	case []float32:
		m.put([]uint32{9, 6})
		m.put(uint64(len(v)))
		m.put(v)
	}
}

// file is what was added, with its head.
func (m *metadata) file() []byte {
	var f metadata
	f.WriteString("GGUF")
	f.put(uint32(3))
	f.put([]uint64{0, m.count})
	return append(f.Bytes(), m.Bytes()...)
}

// published is the part of a tokenizer.json that a GGUF file repeats.
type published struct {
	Added []struct {
		ID      int
		Content string
		Special bool
	} `json:"added_tokens"`
	Model struct {
		Vocab  map[string]int
		Merges []json.RawMessage
	}
}

// asGGUF writes a tokenizer.json as GGUF metadata, of SentencePiece if pre is
// empty.
func asGGUF(t testing.TB, data []byte, pre string, prefix bool, more map[string]any) []byte {
	t.Helper()
	var p published
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, id := range p.Model.Vocab {
		last = max(last, id)
	}
	for _, a := range p.Added {
		last = max(last, a.ID)
	}
	tokens, kinds, scores := make([]string, last+1), make([]int32, last+1), make([]float32, last+1)
	for s, id := range p.Model.Vocab {
		tokens[id], kinds[id], scores[id] = s, 1, -1e7
	}
	for _, a := range p.Added {
		tokens[a.ID], kinds[a.ID] = a.Content, 4
		if a.Special {
			kinds[a.ID] = 3
		}
	}
	var merges []string
	for i, raw := range p.Model.Merges {
		var two []string
		if json.Unmarshal(raw, &two) != nil {
			var one string
			_ = json.Unmarshal(raw, &one)
			two = strings.Split(one, " ")
		}
		merges = append(merges, strings.Join(two, " "))
		id := p.Model.Vocab[two[0]+two[1]]
		scores[id] = max(scores[id], -float32(i))
	}
	var m metadata
	m.add("general.name", "made")
	m.add("tokenizer.ggml.tokens", tokens)
	m.add("tokenizer.ggml.token_type", kinds)
	m.add("general.languages", []string{"en"})
	m.add("general.size", uint64(7))
	if pre == "" {
		m.add("tokenizer.ggml.model", "llama")
		m.add("tokenizer.ggml.scores", scores)
		m.add("tokenizer.ggml.add_space_prefix", prefix)
	} else {
		m.add("tokenizer.ggml.model", "gpt2")
		m.add("tokenizer.ggml.pre", pre)
		m.add("tokenizer.ggml.merges", merges)
	}
	for key, value := range more {
		m.add(key, value)
	}
	return m.file()
}

// TestGGUFAround: whether a text begins with a token is said by the file, or
// by its kind.
func TestGGUFAround(t *testing.T) {
	const bos, eos = "tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"
	for _, c := range []struct {
		name          string
		more          map[string]any
		before, after []uint32
	}{
		{"nothing", nil, nil, nil},
		{"tokens alone", map[string]any{bos: uint32(256), eos: uint32(255)}, nil, nil},
		{"both", map[string]any{bos: uint32(256), eos: uint32(255), "tokenizer.ggml.add_bos_token": true, "tokenizer.ggml.add_eos_token": true}, []uint32{256}, []uint32{255}},
		{"neither", map[string]any{bos: uint32(256), eos: uint32(255), "tokenizer.ggml.add_bos_token": false, "tokenizer.ggml.add_eos_token": false}, nil, nil},
		{"no token to add", map[string]any{"tokenizer.ggml.add_bos_token": true}, nil, nil},
	} {
		tok, err := bpe.ReadGGUF(bytes.NewReader(asGGUF(t, made{merges: []string{"a b"}}.json(t), "gpt-2", false, c.more)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if before, after := tok.Around(); !slices.Equal(before, c.before) || !slices.Equal(after, c.after) {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, before, after, c.before, c.after)
		}
	}
}

// TestGGUFBegins: a SentencePiece file that does not say it begins texts with
// its token.
func TestGGUFBegins(t *testing.T) {
	data := unpacked(t, "llama2/tokenizer.json.gz")
	for says, want := range map[string][]uint32{"": {1}, "no": nil} {
		more := map[string]any{"tokenizer.ggml.bos_token_id": uint32(1)}
		if says == "no" {
			more["tokenizer.ggml.add_bos_token"] = false
		}
		tok, err := bpe.ReadGGUF(bytes.NewReader(asGGUF(t, data, "", true, more)))
		if err != nil {
			t.Fatal(err)
		}
		if before, after := tok.Around(); !slices.Equal(before, want) || len(after) > 0 {
			t.Errorf("%q: %v and %v, want %v", says, before, after, want)
		}
	}
}

// TestGGUF: the vocabularies of the folder written as GGUF give the ids that
// the tokenizer.json gives.
func TestGGUF(t *testing.T) {
	names := map[string]string{
		"qwen3": "qwen2", "llama3": "llama-bpe", "gptoss": "gpt-4o", "deepseek_v3": "deepseek-v3", "llama2": "", "gemma3": "",
	}
	for _, name := range models(t) {
		t.Run(name, func(t *testing.T) {
			pre, ok := names[name]
			if !ok {
				t.Skipf("no name for the split of %s", name)
			}
			texts := decoded[[]sample](t, "texts.json")
			from := model(t, name)
			tok, err := bpe.ReadGGUF(bytes.NewReader(asGGUF(t, unpacked(t, name+"/tokenizer.json.gz"), pre, name == "llama2", nil)))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range append(texts, sample{"big", string(unpacked(t, "big.txt.gz"))}) {
				got, want := tok.Encode(nil, s.Text), from.Encode(nil, s.Text)
				if !slices.Equal(got, want) {
					t.Errorf("text %d (%s): %s", i, s.Kind, firstDifference(tok, got, want))
				}
			}
		})
	}
}

func TestGGUFRefused(t *testing.T) {
	few := func(model, pre string) []byte {
		var m metadata
		m.add("tokenizer.ggml.model", model)
		m.add("tokenizer.ggml.pre", pre)
		m.add("tokenizer.ggml.tokens", []string{"a", "b"})
		m.add("tokenizer.ggml.scores", []float32{0, float32(math.Inf(-1))})
		return m.file()
	}
	good := few("gpt2", "gpt-2")
	for _, c := range []struct {
		name        string
		data        []byte
		want        string
		unsupported bool
	}{
		{"unigram", few("t5", ""), `model "t5"`, true},
		{"wordpiece", few("bert", ""), `model "bert"`, true},
		{"unknown split", few("gpt2", "newest"), `split named "newest"`, true},
		{"few bytes", good, "without byte", true},
		{"few pieces", few("llama", ""), "without byte", true},
		{"cut", good[:len(good)-3], "metadata", false},
		{"other file", []byte("PK\x03\x04 and more"), "no GGUF", false},
		{"empty", nil, "EOF", false},
		{"old", append([]byte("GGUF\x01"), make([]byte, 40)...), "version 1", true},
		{"no tokens", append([]byte("GGUF\x03"), make([]byte, 19)...), "0 tokens", false},
		{"endless", append([]byte("GGUF\x03\x00\x00\x00"), bytes.Repeat([]byte{0xff}, 60)...), "string of", false},
	} {
		_, err := bpe.ReadGGUF(bytes.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, bpe.ErrUnsupported) != c.unsupported {
			t.Errorf("%s: got %v, want %q, unsupported %v", c.name, err, c.want, c.unsupported)
		}
	}
}

func FuzzReadGGUF(f *testing.F) {
	var m metadata
	m.add("tokenizer.ggml.model", "llama")
	m.add("tokenizer.ggml.tokens", []string{"a", "<0x00>", "aa"})
	m.add("tokenizer.ggml.scores", []float32{0, 1, 2})
	f.Add(m.file())
	f.Fuzz(func(t *testing.T, data []byte) {
		if tok, err := bpe.ReadGGUF(bytes.NewReader(data)); err == nil {
			tok.Decode(nil, tok.Encode(nil, string(data)))
		}
	})
}
