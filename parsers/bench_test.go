package parsers

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// benchPush pushes one text in pieces of some size.
func benchPush(b *testing.B, o Options, text string, size int) {
	b.Helper()
	pieces := bursts(text, func() int { return size })
	var events []turn.Event
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := New(o)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range pieces {
			events = s.Push(events[:0], p)
		}
		events = s.Close(events[:0])
	}
}

// code is source text of about n bytes.
func code(n int) string {
	return strings.Repeat("func f(a, b int) string {\n\treturn \"x < y\" // and more\n}\n", n/56)
}

func BenchmarkPush(b *testing.B) {
	const size = 1 << 18
	prose := strings.Repeat("The quick fix is to hold the lock a little longer; a < b is no marker. ", size/70)
	quoted := strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(code(size))
	for _, c := range []struct {
		name, text string
		o          Options
	}{
		{"plain", prose, Options{Tools: "qwen3", Reasoning: "qwen3"}},
		{"plain-tagged", prose, Options{Tools: "qwen3_coder", Reasoning: "qwen3_coder"}},
		{"plain-many-markers", prose, Options{Tools: "tool_calls_list", Reasoning: "tool_calls_list"}},
		{"reasoning", "<think>\n" + prose, Options{Tools: "qwen3", Reasoning: "qwen3"}},
		{"code", code(size), Options{Tools: "qwen3", Reasoning: "qwen3"}},
		{"json-call", "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.go\", \"content\": \"" + quoted + "\"}}\n</tool_call>", Options{Tools: "hermes"}},
		{"json-numbers", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [" + strings.Repeat("1, 22, ", size/7) + "3]}}\n</tool_call>", Options{Tools: "hermes"}},
		{"name-json", "<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>{\"content\": \"" + quoted + "\"}<|tool_call_end|><|tool_calls_section_end|>", Options{Tools: "kimi_k2"}},
		{"python-call", "<|tool_call_start|>[write_file(content='" + quoted + "')]<|tool_call_end|>", Options{Tools: "lfm2"}},
		{"python-numbers", "[f(a=[" + strings.Repeat("1, 22, ", size/7) + "3])]", Options{Tools: "pythonic", Offered: []turn.Tool{{Name: "f"}}}},
		{"pseudo-call", "<|tool_call>call:write_file{content:<|\"|>" + code(size) + "<|\"|>}<tool_call|>", Options{Tools: "gemma4"}},
		{"pseudo-numbers", "<|tool_call>call:f{a:[" + strings.Repeat("1,22, ", size/6) + "3]}<tool_call|>", Options{Tools: "gemma4"}},
		{"message-call", "<|channel|>commentary to=functions.f<|message|>{\"content\": \"" + quoted + "\"}<|call|>", Options{Tools: "harmony", Tail: "<|start|>assistant"}},
		{"message-text", "<|channel|>final<|message|>" + prose, Options{Tools: "harmony", Tail: "<|start|>assistant"}},
		{"tagged-call", "<tool_call>\n<function=write_file>\n<parameter=content>\n" + code(size) + "\n</parameter>\n</function>\n</tool_call>", Options{Tools: "qwen3_coder"}},
	} {
		for _, step := range []struct {
			name string
			n    int
		}{{"4B", 4}, {"64B", 64}, {"16K", 16 << 10}} {
			b.Run(c.name+"/"+step.name, func(b *testing.B) { benchPush(b, c.o, c.text, step.n) })
		}
	}
}

// TestPlainAllocates: a piece of plain text costs no allocation.
func TestPlainAllocates(t *testing.T) {
	for _, name := range []string{"qwen3", "qwen3_coder", "mistral", "kimi_k2", "tool_calls_list"} {
		s, err := New(Options{Tools: name, Reasoning: name})
		if err != nil {
			t.Fatal(err)
		}
		events := s.Push(make([]turn.Event, 0, 16), "So this is it:")
		pieces := []string{" the next", " word", " a < b and", " more\n", "of it", " {x}"}
		if n := testing.AllocsPerRun(200, func() {
			for _, p := range pieces {
				events = s.Push(events[:0], p)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations for %d pieces", name, n, len(pieces))
		}
	}
}

// BenchmarkOpen is what a short answer costs beside its text: one Stream.
func BenchmarkOpen(b *testing.B) {
	offered := []turn.Tool{{Name: "f", Schema: []byte(`{"type": "object", "properties": {"a": {"type": "integer"}}}`)}}
	for _, name := range []string{"qwen3", "qwen3_coder", "kimi_k2", "gemma4", "harmony"} {
		b.Run(name, func(b *testing.B) {
			f, err := Builtin().Format(name, name)
			if err != nil {
				b.Fatal(err)
			}
			id := func() string { return "call" }
			var events []turn.Event
			b.ReportAllocs()
			for b.Loop() {
				s := f.Open(Options{Tail: "<|im_start|>assistant\n<think>\n", Offered: offered, NewID: id})
				events = s.Close(s.Push(events[:0], "Yes."))
			}
		})
	}
}
