package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// simModel is the simulated engine's own model folder.
func simModel(t testing.TB) *Model {
	t.Helper()
	m, err := Open(filepath.Join("..", "engine", "sim", "model"), Options{})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// text makes strings with what is hard: white space at the ends, tags, other
// scripts.
var text = rapid.SampledFrom([]string{
	"hello", " leading and trailing \n", "", "two\n\nparagraphs", "<tool_call>", "</think> hm", "日本語 🗼",
	"if x < 3 {\n\treturn\n}", "<|im_end|>", "<tool_response>\nx\n</tool_response>", "  ", "é 👩‍👩‍👧",
})

// block makes one block that fits a role.
func block(t *rapid.T, role turn.Role) turn.Block {
	b := turn.Block{Kind: turn.Text, Text: text.Draw(t, "text")}
	switch {
	case role == turn.ToolRole:
		b.Kind = turn.ToolResult
	case role == turn.Assistant && rapid.Bool().Draw(t, "call"):
		args := rapid.SampledFrom([]string{`{}`, `{"a": 1}`, `{"b":[1,2.50,{"c":"é\n"}]}`, `no json`}).Draw(t, "args")
		b = turn.Block{Kind: turn.ToolUse, Name: "f", Args: json.RawMessage(args)}
	case role == turn.Assistant && rapid.Bool().Draw(t, "thought"):
		b.Kind = turn.ThinkingBlock
	}
	if rapid.IntRange(0, 5).Draw(t, "ask") == 0 {
		b.Lease = 5 * time.Minute
	}
	return b
}

// message makes one message.
func message(t *rapid.T, role turn.Role) turn.Message {
	m := turn.Message{Role: role}
	for range rapid.IntRange(1, 3).Draw(t, "blocks") {
		m.Blocks = append(m.Blocks, block(t, role))
	}
	return m
}

// TestStateSavesWorkOnly grows, cuts and changes conversations at random, and
// forks them: the prompt built with the state of the turn before is the prompt
// built from nothing, its marks are the same, and ids that were handed out
// stay.
func TestStateSavesWorkOnly(t *testing.T) {
	m := simModel(t)
	rapid.Check(t, func(t *rapid.T) { savesWorkOnly(t, m) })
}

// TestStateSavesWorkOnlyEverywhere is the same on the templates of the
// fixtures, drawn at random. They refuse some conversations.
func TestStateSavesWorkOnlyEverywhere(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	files, _ := filepath.Glob(filepath.Join(fixtures(t), "templates", "*.jinja"))
	if len(files) == 0 {
		t.Skip("no templates in the fixtures")
	}
	models := map[string]*Model{}
	rapid.Check(t, func(rt *rapid.T) {
		file := rapid.SampledFrom(files).Draw(rt, "template")
		m := models[file]
		if m == nil {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if m, err = OpenFS(withTemplate(t, string(source)), Options{}); err != nil {
				t.Fatal(err)
			}
			models[file] = m
		}
		savesWorkOnly(rt, m)
	})
}

func savesWorkOnly(t *rapid.T, m *Model) {
	s := new(State)
	raw := NewRaw("m", 1<<16, nil)
	tr := &turn.Turn{}
	if rapid.Bool().Draw(t, "tools") {
		tr.Tools = []turn.Tool{{Name: "f", Description: text.Draw(t, "description"), Schema: json.RawMessage(`{"type":"object"}`)}}
	}
	var outs []turn.IDs
	var openings, copies [][]uint32
	for range rapid.IntRange(1, 6).Draw(t, "turns") {
		change(t, tr)
		if Steady(tr); len(tr.Messages) == 0 {
			continue
		}
		if rapid.IntRange(0, 4).Draw(t, "fork") == 0 {
			s = s.Clone()
		} else if rapid.IntRange(0, 4).Draw(t, "rest") == 0 {
			s.Rest()
		}
		before := s.ids.Flat()
		got, err := m.Build(s, tr, nil, raw)
		var fresh State
		want, again := m.Build(&fresh, tr, &Hashes{Keys(nil, tr), Rolling(nil, tr)}, raw)
		if (err == nil) != (again == nil) {
			t.Fatalf("with state %v, from nothing %v", err, again)
		}
		if errors.Is(err, template.ErrRefused) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.Spliced > want.Spliced {
			continue // an answer whose place the template does not tell any more stays as it was
		}
		if !slices.Equal(got.IDs.Flat(), want.IDs.Flat()) || slices.Equal(s.page.Spans, fresh.page.Spans) && !slices.Equal(got.Marks, want.Marks) || got.Thinks != want.Thinks ||
			!slices.Equal(got.Opening, want.Opening) || !slices.Equal(got.Rolling, Rolling(nil, tr)) {
			t.Fatalf("with state\n%q\n%+v\nfrom nothing\n%q\n%+v", m.tok.Decode(nil, got.IDs.Flat()), got, m.tok.Decode(nil, want.IDs.Flat()), want)
		}
		if got.Same > len(before) || !slices.Equal(got.IDs.Flat()[:got.Same], before[:got.Same]) {
			t.Fatalf("%d are said to be the same of %v and %v", got.Same, before, got.IDs.Flat())
		}
		outs, openings, copies = append(outs, got.IDs), append(openings, got.Opening), append(copies, got.IDs.Flat())
		if rapid.Bool().Draw(t, "answer") {
			said := message(t, turn.Assistant)
			before := got.Rolling[len(got.Rolling)-1]
			raw.Put(before, turn.RawTurn{Key: Next(before, said), Opening: got.Opening, IDs: m.tok.Encode(nil, "<tool_call>so it  is"), At: time.Now()})
			tr.Messages = append(slices.Clone(tr.Messages), said)
		}
	}
	for i := range outs {
		if all := copies[i]; !slices.Equal(outs[i].Flat(), all) || !slices.Equal(openings[i], all[len(all)-len(openings[i]):]) {
			t.Fatalf("prompt %d was written after it was handed out", i)
		}
	}
}

// change alters a conversation as a client might.
func change(t *rapid.T, tr *turn.Turn) {
	roles := []turn.Role{turn.System, turn.User, turn.Assistant, turn.ToolRole}
	switch n := len(tr.Messages); {
	case n > 0 && rapid.IntRange(0, 4).Draw(t, "how") == 0:
		tr.Messages = slices.Clone(tr.Messages[:rapid.IntRange(1, n).Draw(t, "keep")])
	case n > 0 && rapid.IntRange(0, 4).Draw(t, "how") == 0:
		i := rapid.IntRange(0, n-1).Draw(t, "which")
		tr.Messages[i] = message(t, tr.Messages[i].Role)
	}
	tr.Thinking.Mode = rapid.SampledFrom([]string{"", "off"}).Draw(t, "mode")
	for range rapid.IntRange(1, 3).Draw(t, "new") {
		tr.Messages = append(tr.Messages, message(t, rapid.SampledFrom(roles).Draw(t, "role")))
	}
}

// TestPromptsGrow plays a conversation the way the server does: each prompt
// begins with the one before and the answer to it, exactly, whatever the
// model wrote and whichever way the client sends it back.
func TestPromptsGrow(t *testing.T) {
	m := simModel(t)
	rapid.Check(t, func(t *rapid.T) {
		var s State
		raw := NewRaw("m", 1<<20, nil)
		tr := &turn.Turn{Messages: []turn.Message{{Role: turn.System, Blocks: []turn.Block{{Text: "Be short."}}}}}
		var before []uint32
		for range rapid.IntRange(1, 6).Draw(t, "turns") {
			role := rapid.SampledFrom([]turn.Role{turn.User, turn.ToolRole}).Draw(t, "role")
			tr.Messages = append(tr.Messages, message(t, role))
			tr.Thinking.Mode = rapid.SampledFrom([]string{"", "on", "off"}).Draw(t, "mode")
			Steady(tr)
			p, err := m.Build(&s, tr, nil, raw)
			if err != nil {
				t.Fatal(err)
			}
			if p.IDs.Len() < len(before) || !slices.Equal(p.IDs.Flat()[:len(before)], before) {
				t.Fatalf("prompt\n%q\ndoes not begin with\n%q", m.tok.Decode(nil, p.IDs.Flat()), m.tok.Decode(nil, before))
			}
			if p.Break != nil {
				t.Fatalf("it goes on, and is said to part: %+v %+v", p.Break, p.Break.Text)
			}
			out := m.tok.Encode(nil, rapid.SampledFrom([]string{"fine", "<think>\nhm\n</think>\n\nOdd  spacing \n", "x<tool_call>{\"name\":\"f\"}"}).Draw(t, "out"))
			said := message(t, turn.Assistant)
			last := p.Rolling[len(p.Rolling)-1]
			raw.Put(last, turn.RawTurn{Key: Next(last, said), Opening: p.Opening, IDs: out})
			before = append(p.IDs.Flat(), out...)
			tr.Messages = append(slices.Clone(tr.Messages), replayed(said))
		}
	})
}

// replayed is an answer as clients send it back: trimmed, without thinking,
// arguments written anew, other ids.
func replayed(m turn.Message) turn.Message {
	out := turn.Message{Role: m.Role}
	for _, b := range m.Blocks {
		if b.Kind == turn.ThinkingBlock {
			continue
		}
		b.ID = "another"
		b.Text = strings.TrimSpace(b.Text)
		var v any
		if json.Unmarshal(b.Args, &v) == nil {
			b.Args, _ = json.Marshal(v)
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

func TestMarks(t *testing.T) {
	m := simModel(t)
	text := func(s string, ttl time.Duration) turn.Block {
		return turn.Block{Kind: turn.Text, Text: s, Lease: ttl}
	}
	tr := &turn.Turn{
		Tools: []turn.Tool{{Name: "f", Lease: 1}},
		Messages: []turn.Message{
			{Role: turn.System, Blocks: []turn.Block{text("a", 2), text("b", 3)}},
			{Role: turn.User, Blocks: []turn.Block{text("c", 0)}},
			{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, Text: "d", Lease: 4}}},
			{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, Text: "e", Lease: 5}}},
		},
		Hints: turn.Hints{Lease: 6},
	}
	p, err := m.Build(nil, tr, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := string(m.tok.Decode(nil, p.IDs.Flat()))
	for i, want := range []string{"<|im_start|>user\nc", "<|im_start|>user\nc", "<|im_start|>user\nc", "\n<tool_response>\ne", "<|im_start|>assistant\n", ""} {
		mark := p.Marks[i]
		rest := string(m.tok.Decode(nil, p.IDs.Flat()[mark.Tokens:]))
		if mark.TTL != time.Duration(i+1) || !strings.HasPrefix(rest, want) || want == "" && rest != "" {
			t.Errorf("mark %d: %+v before %q, want before %q, of %q", i, mark, rest, want, all)
		}
	}
	if n, err := m.Count(tr, nil); n != p.IDs.Len() || err != nil {
		t.Errorf("Count = %d, %v; the prompt has %d", n, err, p.IDs.Len())
	}
}

// conversation is one of about the given bytes, as agents have them: half
// tool results, the rest calls and text.
func conversation(bytes int) *turn.Turn {
	tr := &turn.Turn{}
	for i := range 24 {
		tr.Tools = append(tr.Tools, turn.Tool{
			Name: fmt.Sprint("tool_", i), Description: strings.Repeat("Does a thing, well. ", 40),
			Schema: json.RawMessage(`{"type":"object","properties":{` + strings.Repeat(`"key":{"type":"string","description":"A word."},`, 20) + `"z":{"type":"integer"}}}`),
		})
	}
	add := func(role turn.Role, b turn.Block) {
		tr.Messages = append(tr.Messages, turn.Message{Role: role, Blocks: []turn.Block{b}})
	}
	code := "func add(a, b int) int {\n\treturn a + b // sums\n}\n\n"
	add(turn.System, turn.Block{Text: strings.Repeat("You are a coding agent. ", 300)})
	add(turn.User, turn.Block{Text: "Fix the build."})
	for i, n := 0, 0; n < bytes; i++ {
		args := fmt.Sprintf(`{"path": "pkg/file_%d.go", "content": %q}`, i, strings.Repeat(code, 6))
		tr.Messages = append(tr.Messages, turn.Message{Role: turn.Assistant, Blocks: []turn.Block{
			{Kind: turn.Text, Text: fmt.Sprintf("Step %d: I read the file and change it.", i)},
			{Kind: turn.ToolUse, ID: "x", Name: "edit", Args: json.RawMessage(args)},
		}})
		result := strings.Repeat(fmt.Sprintf("line %d: ", i)+code, 35)
		add(turn.ToolRole, turn.Block{Kind: turn.ToolResult, Text: result})
		n += len(args) + len(result)
	}
	return tr
}

func BenchmarkRolling240KB(b *testing.B) {
	tr := conversation(240 << 10)
	var dst []uint64
	b.ReportAllocs()
	for b.Loop() {
		dst = Rolling(dst[:0], tr)
	}
}

// BenchmarkKeys240KB is what a turn of a client without names costs before its
// new messages are hashed.
func BenchmarkKeys240KB(b *testing.B) {
	tr := conversation(240 << 10)
	var keys []Key
	var sums []uint64
	b.SetBytes(240 << 10)
	for b.Loop() {
		keys = Keys(keys[:0], tr)
		sums = Sums(sums[:0], tr, keys)
	}
}
