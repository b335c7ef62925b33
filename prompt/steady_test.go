package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// texts lists the texts of messages, one string each, blocks joined by |.
func texts(ms []turn.Message) (out []string) {
	for _, m := range ms {
		s := string(m.Role) + ":"
		for i, b := range m.Blocks {
			if i > 0 {
				s += "|"
			}
			s += b.Text
		}
		out = append(out, s)
	}
	return out
}

// steady runs Steady on copies of the given messages.
func steady(tools []turn.Tool, ms ...turn.Message) *turn.Turn {
	t := &turn.Turn{Tools: tools, Messages: ms}
	Steady(t)
	return t
}

func reminder(s string) string { return "<system-reminder>\n" + s + "\n</system-reminder>" }

func TestAttribution(t *testing.T) {
	for _, c := range []struct {
		name string
		in   turn.Message
		want []string
	}{
		{"a block of its own", msg(turn.System, says(attribution+" cc_version=2.1.332.9d8; cc_entrypoint=sdk-cli;"), says("identity")), []string{"system:identity"}},
		{"with the hash of old clients", msg(turn.System, says(attribution+" cc_version=2.1.150.d0d; cc_entrypoint=cli; cch=91737;"), says("identity")), []string{"system:identity"}},
		{"of a subagent", msg(turn.System, says(attribution+" cc_version=2.1.332.cf6; cc_entrypoint=cli; cc_is_subagent=true;"), says("x")), []string{"system:x"}},
		{"in a block with others", msg(turn.System, says(attribution+" x;\n\nmerged\nlines")), []string{"system:merged\nlines"}},
		{"nothing else", msg(turn.System, says(attribution+" x;")), nil},
		{"quoted later in the text", msg(turn.System, says("see "+attribution+" x;")), []string{"system:see " + attribution + " x;"}},
		{"of a user", msg(turn.User, says(attribution+" is quoted")), []string{"user:" + attribution + " is quoted"}},
	} {
		if got := texts(steady(nil, c.in).Messages); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBlanks(t *testing.T) {
	asked := says(" ")
	asked.Lease = time.Minute
	tr := steady(nil, msg(turn.System, says("\n"), says("a"), asked), msg(turn.Assistant, says(""), calls("f", "{}")), msg(turn.User, says("")))
	if got, want := texts(tr.Messages), []string{"system:a", "assistant:", "user:"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tr.Messages[0].Blocks[0].Lease; got != time.Minute {
		t.Errorf("the ask of a dropped block went to %v", got)
	}
	if n := len(tr.Messages[1].Blocks); n != 1 {
		t.Errorf("the answer has %d blocks, want its call", n)
	}
}

func TestMergeLeading(t *testing.T) {
	got := texts(steady(nil, msg(turn.System, says("prompt")), msg(turn.System, says("skills"), says("more")), msg(turn.User, says("u"))).Messages)
	if want := []string{"system:prompt|skills|more", "user:u"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFoldReminders(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []turn.Message
		want []string
	}{
		{"after the first user message", []turn.Message{msg(turn.System, says("s")), msg(turn.User, says("u")), msg(turn.System, says("cwd"), says("date")), msg(turn.Assistant, says("a"))}, []string{"system:s", "user:u|" + reminder("cwd") + "|" + reminder("date"), "assistant:a"}},
		{"after results", []turn.Message{msg(turn.User, says("u")), msg(turn.ToolRole, result("r"), result("q")), msg(turn.System, says("x"))}, []string{"user:u", "tool:r|q\n" + reminder("x")}},
		{"after an answer", []turn.Message{msg(turn.User, says("u")), msg(turn.Assistant, says("a")), msg(turn.System, says("x")), msg(turn.System, says("y"))}, []string{"user:u", "assistant:a", "user:" + reminder("x") + "|" + reminder("y")}},
		{"marked by the client", []turn.Message{msg(turn.User, says("u")), msg(turn.System, says(reminder("x")))}, []string{"user:u|" + reminder("x")}},
		{"several developer messages after compaction", []turn.Message{msg(turn.System, says("a")), msg(turn.System, says("b")), msg(turn.User, says("u")), msg(turn.System, says("c")), msg(turn.User, says("v"))}, []string{"system:a|b", "user:u|" + reminder("c"), "user:v"}},
	} {
		if got := texts(steady(nil, c.in...).Messages); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFoldingKeepsPrefix checks that what was folded stays as it is when the
// conversation goes on, with one more system message or without.
func TestFoldingKeepsPrefix(t *testing.T) {
	ms := func() []turn.Message {
		return []turn.Message{
			msg(turn.System, says("s")), msg(turn.User, says("u")), msg(turn.System, says("cwd")), msg(turn.Assistant, calls("f", `{}`)),
			msg(turn.ToolRole, result("r")), msg(turn.System, says("reminder")), msg(turn.Assistant, says("a")), msg(turn.User, says("v")), msg(turn.System, says("w")),
		}
	}
	all := texts(steady(nil, ms()...).Messages)
	for n := 1; n <= len(ms()); n++ {
		if n < len(ms()) && ms()[n].Role == turn.System {
			continue // clients send these together with what is before them
		}
		if got := texts(steady(nil, ms()[:n]...).Messages); !slices.Equal(got, all[:len(got)]) {
			t.Errorf("the first %d: %q, want the start of %q", n, got, all)
		}
	}
}

func TestExpandRefs(t *testing.T) {
	tools := []turn.Tool{
		{Name: "Read"},
		{Name: "WebSearch", Description: "Finds <pages>.", Schema: json.RawMessage("{\n \"type\": \"object\"}"), Deferred: true},
	}
	found := turn.Block{Kind: turn.ToolResult, Refs: []string{"WebSearch", "Gone"}}
	added := turn.Block{Kind: turn.Other, Raw: json.RawMessage(`{"type":"tool_addition"}`), Refs: []string{"WebSearch"}}
	const want = "<functions>\n" + `<function>{"description":"Finds <pages>.","name":"WebSearch","parameters":{"type":"object"}}</function>` + "\n"
	tr := steady(tools, msg(turn.User, says("u")), msg(turn.ToolRole, found), msg(turn.User, says("v")), msg(turn.System, added))
	got := texts(tr.Messages)
	if got[1] != "tool:"+want+`<function>{"name":"Gone"}</function>`+"\n</functions>" {
		t.Errorf("the result is %q", got[1])
	}
	if got[2] != "user:v|"+reminder(want+"</functions>") {
		t.Errorf("the addition is %q", got[2])
	}
	if len(tr.Tools) != 2 {
		t.Error("the parser needs the deferred tool")
	}
}

func TestUnknownBlocks(t *testing.T) {
	raw := func(s string) turn.Block { return turn.Block{Kind: turn.Other, Raw: json.RawMessage(s)} }
	for in, want := range map[string]string{
		`{"type": "new", "b": [1, 2], "a": "x y"}`:                `{"type":"new","b":[1,2],"a":"x y"}`,
		`{"type":"new","cache_control":{"type":"ephemeral"}}`:     `{"type":"new"}`,
		`{"cache_control": {}, "type":"new", "x": {"deep": 1e3}}`: `{"type":"new","x":{"deep":1e3}}`,
		`no json`: `no json`,
	} {
		tr := steady(nil, msg(turn.User, raw(in)))
		if b := tr.Messages[0].Blocks[0]; b.Kind != turn.Text || b.Text != want {
			t.Errorf("%s: %q, want %q", in, b.Text, want)
		}
	}
}

func TestFormer(t *testing.T) {
	tools := []turn.Tool{{Name: "f"}}
	ask := func(kind string, own ...turn.Tool) *turn.Turn {
		return &turn.Turn{Tools: own, Who: turn.Who{Kind: kind}}
	}
	for _, c := range []struct {
		t      *turn.Turn
		former []turn.Tool
		ok     bool
		n      int
	}{
		{ask("compaction"), tools, true, 1},
		{ask("compaction"), nil, false, 0},
		{ask("compaction", turn.Tool{Name: "own"}, turn.Tool{Name: "more"}), tools, false, 2},
		{ask("user"), tools, false, 0},
	} {
		got, ok := Former(c.t, c.former)
		if ok != c.ok || len(got.Tools) != c.n || ok && len(c.t.Tools) != 0 {
			t.Errorf("%+v with %d former tools: %v, %d tools", c.t.Who, len(c.former), ok, len(got.Tools))
		}
	}
}

// TestSteadyIsSteady checks of random conversations that a second Steady
// changes nothing, that the client's blocks are not written, and that system
// messages are only at the start.
func TestSteadyIsSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := &turn.Turn{}
		change(t, tr)
		change(t, tr)
		shared := slices.Clone(tr.Messages)
		before := fmt.Sprint(shared)
		Steady(tr)
		if fmt.Sprint(shared) != before {
			t.Fatal("shared blocks were written")
		}
		once := fmt.Sprint(tr.Messages)
		if Steady(tr); fmt.Sprint(tr.Messages) != once {
			t.Fatalf("once %s\ntwice %v", once, tr.Messages)
		}
		for i, m := range tr.Messages {
			if i > 0 && m.Role == turn.System {
				t.Fatalf("message %d of %q is the system's", i, texts(tr.Messages))
			}
			for _, b := range m.Blocks {
				if b.Kind == turn.Text && strings.TrimSpace(b.Text) == "" {
					t.Fatalf("message %d holds nothing: %q", i, texts(tr.Messages))
				}
			}
		}
	})
}

// BenchmarkSteady: a conversation of 200 messages that stays as it is.
func BenchmarkSteady(b *testing.B) {
	tn := turn.Turn{Messages: []turn.Message{msg(turn.System, says("be terse")), msg(turn.User, says("go"))}}
	for i := range 100 {
		id := strconv.Itoa(i)
		tn.Messages = append(tn.Messages,
			msg(turn.Assistant, says("next"), turn.Block{Kind: turn.ToolUse, ID: id, Name: "Read", Args: []byte("{}")}),
			msg(turn.ToolRole, turn.Block{Kind: turn.ToolResult, ID: id, Text: "a line of a file"}))
	}
	b.ReportAllocs()
	for b.Loop() {
		Steady(&tn)
	}
}

// TestBlank: blank is what strings.TrimSpace leaves nothing of.
func TestBlank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{" ", "\t", "\n", "\u00a0", "\u0085", "\x85", "\u2003", "\ufeff", "\x7f", "\x00", "a", "é"}), 0, 4).Draw(t, "parts"), "")
		if got, want := blank(s), strings.TrimSpace(s) == ""; got != want {
			t.Fatalf("%q: got %v, want %v", s, got, want)
		}
	})
}
