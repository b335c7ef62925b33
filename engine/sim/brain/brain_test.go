package brain

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// letters is a tokenizer with one token for each character.
type letters struct{}

func (letters) Encode(dst []uint32, text string) []uint32 {
	for _, r := range text {
		dst = append(dst, uint32(r))
	}
	return dst
}

func (letters) Decode(dst []byte, ids []uint32) []byte {
	for _, id := range ids {
		dst = append(dst, string(rune(id))...)
	}
	return dst
}

// noSpeaker is for brains that need none.
func noSpeaker() (Speaker, error) { return nil, errors.New("no voice") }

func said(a Answer) string { return string(letters{}.Decode(nil, a.IDs)) }

func ask(t *testing.T, b *Brain, prompt string) Answer {
	t.Helper()
	return b.Answer(letters{}.Encode(nil, prompt))
}

func TestRules(t *testing.T) {
	b, err := New([]byte(`
rules:
  - when: 'two\s*$'
    say: done
  - when: '(?s)one.*end$'
    say: |-
      <tool_call>
      {"name": "f"}
      </tool_call>
  - when: ids
    say_ids: [72, 105]
  - when: broken
    fault: slow
    fault_ms: 5
    after: 3
    token_ms: 1.5
`), letters{}, noSpeaker)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, prompt, want string }{
		{"nothing fits", "hello", Sentence},
		{"first", "one then two ", "done"},
		{"across lines", "one\n end", "<tool_call>\n{\"name\": \"f\"}\n</tool_call>"},
		{"ids", "ids", "Hi"},
		{"fault alone", "broken", Sentence},
		{"too far from the end", "ids" + strings.Repeat(".", 4000), Sentence},
		{"just near enough", "ids" + strings.Repeat("é", 3997), "Hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(ask(t, b, c.prompt)); got != c.want {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
	a := ask(t, b, "broken")
	if a.Fault != Slow || a.After != 3 || a.Slow != 5*time.Millisecond || a.Pause != 1500*time.Microsecond {
		t.Errorf("got %+v", a)
	}
}

func TestSeen(t *testing.T) {
	b, err := New([]byte(`
rules:
  - {seen: 0, prefix: 4, say: first}
  - {seen: 1, prefix: 4, say: second}
  - {say: later}
`), letters{}, noSpeaker)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ prompt, want string }{
		{"abcd", "first"},
		{"abcdefg", "second"},
		{"abce", "first"},
		{"abcdefgh", "later"},
		{"abc", "first"},
		{"abc", "second"},
	} {
		if got := said(ask(t, b, c.prompt)); got != c.want {
			t.Errorf("prompt %d, %s: want %s, got %s", i, c.prompt, c.want, got)
		}
	}
}

// TestSeenIsBounded: old kinds are forgotten, new ones are still counted.
func TestSeenIsBounded(t *testing.T) {
	b, err := New([]byte("rules: [{seen: 1, say: again}]"), letters{}, noSpeaker)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(2*maxKinds + 3) {
		b.Answer([]uint32{i})
	}
	if n := len(b.counts.n); n != maxKinds {
		t.Errorf("want %d kinds, got %d", maxKinds, n)
	}
	if got := said(b.Answer([]uint32{2*maxKinds + 2})); got != "again" {
		t.Errorf("got %q", got)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "rules: [{wen: a}]", "wen"},
		{"bad regexp", "rules: [{when: '('}]", "rule 1: when:"},
		{"two texts", "rules: [{say: a, say_ids: [1]}]", "exclude each other"},
		{"text and answer", "rules: [{say: a, answer: {content: b}}]", "exclude each other"},
		{"unknown part of an answer", "rules: [{answer: {text: b}}]", "text"},
		{"no name", "rules: [{answer: {calls: [{arguments: {a: 1}}]}}]", "rule 1: answer: a call has no name"},
		{"no voice", "rules: [{}, {answer: {content: b}}]", "rule 2: answer: no voice"},
		{"unknown fault", "rules: [{fault: sulk}]", `fault "sulk" is unknown`},
		{"negative", "rules: [{}, {after: -1}]", "rule 2: "},
		{"negative count", "rules: [{seen: -1}]", "seen must not be negative"},
		{"no list", "rules: 3", "3"},
		{"no yaml", "rules: [", "rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New([]byte(c.yaml), letters{}, noSpeaker)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

func FuzzBrain(f *testing.F) {
	f.Add([]byte("rules: [{when: a, say: b, seen: 1}]"), "abc")
	f.Fuzz(func(t *testing.T, data []byte, prompt string) {
		if b, err := New(data, letters{}, noSpeaker); err == nil {
			ask(t, b, prompt)
		}
	})
}

// TestDocumentedLoop keeps the example of the package comment true.
func TestDocumentedLoop(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, l := range strings.Split(string(doc), "\n") {
		if code, ok := strings.CutPrefix(l, "//\t"); ok {
			text.WriteString(code + "\n")
		}
	}
	b, err := New([]byte(text.String()), letters{}, noSpeaker)
	if err != nil {
		t.Fatal(err)
	}
	prompt := "<|im_start|>user\nlook at the files<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
	for _, c := range []struct{ want, then string }{
		{"echo one", "<tool_response>\none\n</tool_response>"},
		{"echo two", "<tool_response>\ntwo\n</tool_response>"},
		{"Both files", "go on"},
		{"nothing left", ""},
	} {
		got := said(ask(t, b, prompt))
		if !strings.Contains(got, c.want) {
			t.Fatalf("want %q, got %q", c.want, got)
		}
		prompt += got + "<|im_end|>\n<|im_start|>user\n" + c.then + "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
	}
}
