package sim

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/voice"
)

// TestBrainAnswersInSequence drives a tool loop of three calls, as a harness
// would: each prompt is the one before, what was said, and a tool's answer.
func TestBrainAnswersInSequence(t *testing.T) {
	s, err := dry()
	if err != nil {
		t.Fatal(err)
	}
	b, err := brain.New([]byte(`
rules:
  - when: '(?s)<tool_response>\s*three\s*</tool_response><\|im_end\|>\s*<\|im_start\|>assistant\s*$'
    say: All three are done.
  - when: '(?s)<tool_response>\s*two\s*</tool_response>'
    say: "<tool_call>\n{\"name\": \"Bash\", \"arguments\": {\"command\": \"echo three\"}}\n</tool_call>"
  - when: '(?s)<tool_response>\s*one\s*</tool_response>'
    say: "<tool_call>\n{\"name\": \"Bash\", \"arguments\": {\"command\": \"echo two\"}}\n</tool_call>"
  - when: count
    say: "<tool_call>\n{\"name\": \"Bash\", \"arguments\": {\"command\": \"echo one\"}}\n</tool_call>"
`), s.folder.tok, s.voice)
	if err != nil {
		t.Fatal(err)
	}
	tok := s.folder.tok
	prompt := tok.Encode(nil, "<|im_start|>user\ncount<|im_end|>\n<|im_start|>assistant\n")
	for _, word := range []string{"one", "two", "three"} {
		a := b.Answer(prompt)
		if text := string(tok.Decode(nil, a.IDs)); !strings.Contains(text, "echo "+word) {
			t.Fatalf("want a call that says %s, got %q", word, text)
		}
		prompt = append(prompt, a.IDs...)
		prompt = tok.Encode(prompt, "<|im_end|>\n<|im_start|>user\n<tool_response>\n"+word+
			"\n</tool_response><|im_end|>\n<|im_start|>assistant\n")
	}
	if text := string(tok.Decode(nil, b.Answer(prompt).IDs)); text != "All three are done." {
		t.Errorf("got %q", text)
	}
}

// TestBrainWritesAnswers: what an answer holds is written as the folder's model
// writes it, and reasoning as the prompt's end wants it.
func TestBrainWritesAnswers(t *testing.T) {
	s, err := dry()
	if err != nil {
		t.Fatal(err)
	}
	tok := s.folder.tok
	b, err := brain.New([]byte(`
rules:
  - when: done
    answer: {content: All is done.}
  - answer:
      reasoning: Two are needed.
      content: Here they are.
      calls:
        - {name: Bash, arguments: {command: "echo <b> \"é\"", n: 2}}
        - {name: Read}
`), tok, s.voice)
	if err != nil {
		t.Fatal(err)
	}
	const (
		asks    = "<|im_start|>user\ndo it<|im_end|>\n<|im_start|>assistant\n"
		thought = "Two are needed.\n</think>\n\n"
		calls   = "Here they are.\n<tool_call>\n{\"name\": \"Bash\", \"arguments\": {\"command\": \"echo <b> \\\"é\\\"\", \"n\": 2}}\n</tool_call>\n" +
			"<tool_call>\n{\"name\": \"Read\", \"arguments\": {}}\n</tool_call><|im_end|>"
	)
	for _, c := range []struct{ prompt, want string }{
		{asks, "<think>\n" + thought + calls},
		{asks + "<think>\n", thought + calls},
		{asks + "<think>\n\n</think>\n\n", calls},
		{asks + "done<think>", "\n\n</think>\n\nAll is done.<|im_end|>"},
		{asks + "done", "All is done.<|im_end|>"},
	} {
		if got := string(tok.Decode(nil, b.Answer(tok.Encode(nil, c.prompt)).IDs)); got != c.want {
			t.Errorf("%q\ngot  %q\nwant %q", c.prompt, got, c.want)
		}
	}
}

// TestBrainCannotWrite: an answer that the folder's model has no way to write
// is told before anybody asks for it.
func TestBrainCannotWrite(t *testing.T) {
	s, err := dry()
	if err != nil {
		t.Fatal(err)
	}
	const plain = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
	s.folder.fsys = fstest.MapFS{"chat_template.jinja": {Data: []byte(plain)}}
	if _, err = brain.New([]byte(`rules: [{answer: {content: Yes.}}]`), s.folder.tok, s.voice); err != nil {
		t.Error(err)
	}
	_, err = brain.New([]byte(`rules: [{answer: {calls: [{name: Bash}]}}]`), s.folder.tok, s.voice)
	if !errors.Is(err, voice.ErrUnwritable) || !strings.Contains(err.Error(), "rule 1: answer: ") {
		t.Errorf("got %v", err)
	}
}
