package diff

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func tool(name, description, schema string) turn.Tool {
	return turn.Tool{Name: name, Description: description, Schema: []byte(schema)}
}

func TestTools(t *testing.T) {
	a, b, c := tool("a", "A", "{}"), tool("b", "B", "{}"), tool("c", "C", "{}")
	hidden := a
	hidden.Name, hidden.Deferred = "h", true
	for _, x := range []struct {
		name     string
		was, now []turn.Tool
		kind     Kind
		at       int
		field    string
	}{
		{"as they were", []turn.Tool{a, b}, []turn.Tool{a, b}, "", 2, FieldOrder},
		{"another order", []turn.Tool{a, b, c}, []turn.Tool{a, c, b}, ToolOrder, 1, FieldOrder},
		{"one more", []turn.Tool{a, b}, []turn.Tool{a, b, c}, ToolAdded, 2, FieldAdded},
		{"one more between", []turn.Tool{a, c}, []turn.Tool{a, b, c}, ToolAdded, 1, FieldAdded},
		{"one less", []turn.Tool{a, b, c}, []turn.Tool{b, c}, ToolRemoved, 0, FieldRemoved},
		{"none left", []turn.Tool{a, b}, nil, ToolRemoved, 0, FieldRemoved},
		{"another text", []turn.Tool{a, b}, []turn.Tool{a, tool("b", "B!", "{}")}, ToolChanged, 1, FieldDescription},
		{"another schema", []turn.Tool{a, b}, []turn.Tool{tool("a", "A", `{"x":1}`), b}, ToolChanged, 0, FieldSchema},
		{"another name", []turn.Tool{a, b}, []turn.Tool{a, tool("bb", "B", "{}")}, ToolChanged, 1, FieldName},
		{"hidden ones do not count", []turn.Tool{a, b}, []turn.Tool{hidden, a, b}, "", 3, FieldOrder},
		{"its place among all", []turn.Tool{a, b}, []turn.Tool{hidden, a, c}, ToolChanged, 2, FieldName},
	} {
		got, kind, ok := Tools(x.was, x.now)
		if kind != x.kind || ok != (x.kind != "") || got.Tool != x.at || got.Field != x.field {
			t.Errorf("%s: %+v %q %v", x.name, got, kind, ok)
		}
	}
}

// TestMessage changes one part of a block after the other.
func TestMessage(t *testing.T) {
	was := turn.Message{Role: turn.Assistant, Blocks: []turn.Block{
		{Kind: turn.ThinkingBlock, Text: "hm"},
		{Kind: turn.Text, Text: "so"},
		{Kind: turn.ToolUse, ID: "i", Name: "n", Args: []byte(`{}`)},
		{Kind: turn.ToolResult, ID: "i", Text: "r"},
		{Kind: turn.Image, Raw: []byte(`{"a":1}`)},
	}}
	var s Sketch
	s.Follow([]turn.Message{{Role: turn.User}, was}, 0)
	for _, c := range []struct {
		change func(m *turn.Message)
		want   string
	}{
		{func(*turn.Message) {}, "[]"},
		{func(m *turn.Message) { m.Role = turn.User }, "[-1 role]"},
		{func(m *turn.Message) { m.Blocks[0].Text = "hmm" }, "[0 thinking]"},
		{func(m *turn.Message) { m.Blocks = m.Blocks[1:] }, "[0 thinking]"},
		{func(m *turn.Message) { m.Blocks = m.Blocks[:2] }, "[2 blocks]"},
		{func(m *turn.Message) { m.Blocks[1].Text = "no" }, "[1 text]"},
		{func(m *turn.Message) { m.Blocks[1].Kind = turn.Other }, "[1 blocks]"},
		{func(m *turn.Message) { m.Blocks[2].Name = "m" }, "[2 name]"},
		{func(m *turn.Message) { m.Blocks[2].Args = []byte(`{"a":1}`) }, "[2 args]"},
		{func(m *turn.Message) { m.Blocks[2].ID = "j"; m.Blocks[3].ID = "j" }, "[2 id 3 id]"},
		{func(m *turn.Message) { m.Blocks[3].IsError = true }, "[3 is_error]"},
		{func(m *turn.Message) { m.Blocks[4].Raw = []byte(`{"a":2}`) }, "[4 content]"},
		{func(m *turn.Message) { m.Blocks[1].Lease, m.Blocks[0].Signature = 5, "x" }, "[]"},
	} {
		now := turn.Message{Role: was.Role, Blocks: slices.Clone(was.Blocks)}
		c.change(&now)
		var got []any
		for _, x := range s.Message(1, &now) {
			got = append(got, x.Block, x.Field)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
}

// TestKept tells what a turn that was cut and goes another way has kept.
func TestKept(t *testing.T) {
	say := func(s string) turn.Message {
		return turn.Message{Role: turn.User, Blocks: []turn.Block{{Text: s}}}
	}
	var s Sketch
	s.Follow([]turn.Message{say("a"), say("b"), say("c"), say("c")}, 0)
	got := s.Kept([]turn.Message{say("a"), say("x"), say("c"), say("c"), say("c"), say("b"), say("a")}, 1)
	if want := []bool{false, false, true, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
	clone := s.Clone()
	s.Follow([]turn.Message{say("a"), say("z")}, 1)
	if s.Len() != 2 || clone.Len() != 4 || len(clone.Message(1, ptr(say("b")))) != 0 || len(s.Message(1, ptr(say("z")))) != 0 {
		t.Errorf("%+v and its copy %+v", s, clone)
	}
}

func ptr(m turn.Message) *turn.Message { return &m }
