package sim

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/brain"
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
