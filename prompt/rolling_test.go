package prompt

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// msg is a message of the given blocks.
func msg(role turn.Role, blocks ...turn.Block) turn.Message {
	return turn.Message{Role: role, Blocks: blocks}
}

func says(s string) turn.Block { return turn.Block{Kind: turn.Text, Text: s} }

func calls(name, args string) turn.Block {
	return turn.Block{Kind: turn.ToolUse, ID: "call_1", Name: name, Args: json.RawMessage(args)}
}

func result(s string) turn.Block {
	return turn.Block{Kind: turn.ToolResult, ID: "call_1", Text: s}
}

func TestSameOnReplay(t *testing.T) {
	asked := says("a")
	asked.Lease = time.Minute
	renamed := calls("f", `{"a": 1}`)
	renamed.ID = "toolu_2"
	image := turn.Block{Kind: turn.Image, Raw: json.RawMessage(`{"type":"image","source":"x"}`)}
	imageAsked := turn.Block{Kind: turn.Image, Raw: json.RawMessage(`{"cache_control": {"type": "ephemeral"}, "source": "x", "type": "image"}`)}
	for _, c := range []struct {
		name string
		a, b turn.Message
	}{
		{"string or blocks", msg(turn.User, says("a\nb")), msg(turn.User, says("a"), says("b"))},
		{"moved cache_control", msg(turn.User, says("a")), msg(turn.User, asked)},
		{"cache_control on an image", msg(turn.User, image), msg(turn.User, imageAsked)},
		{"outer white space", msg(turn.User, says(" \n a\tb \n")), msg(turn.User, says("a\tb"))},
		{"outer white space of blocks", msg(turn.User, says("\n"), says(" a"), says("b ")), msg(turn.User, says("a\nb"))},
		{"empty blocks", msg(turn.User, says("a"), says("")), msg(turn.User, says("a"))},
		{"attribution", msg(turn.System, says(attribution+" cc_version=2; cch=1a2b3;"), says("s")), msg(turn.System, says("s"))},
		{"attribution merged", msg(turn.System, says(attribution+" x\ns")), msg(turn.System, says("s"))},
		{"call id", msg(turn.Assistant, calls("f", `{"a": 1}`)), msg(turn.Assistant, renamed)},
		{"white space in arguments", msg(turn.Assistant, calls("f", `{"a": [1, {"b": "c d"}]}`)), msg(turn.Assistant, calls("f", "{\"a\":[1,{\n\"b\":\"c d\"}]}"))},
		{"key order", msg(turn.Assistant, calls("f", `{"a": {"x": 1, "y": 2}, "b": 3}`)), msg(turn.Assistant, calls("f", `{"b": 3, "a": {"y": 2, "x": 1}}`))},
		{"escapes", msg(turn.Assistant, calls("f", `{"a": "\u00e9\/\ud83d\ude00\n"}`)), msg(turn.Assistant, calls("f", `{"\u0061": "é/😀\u000a"}`))},
		{"numbers", msg(turn.Assistant, calls("f", `{"a": [1.0, 1e3, 0.10, -0]}`)), msg(turn.Assistant, calls("f", `{"a": [1, 1000, 0.1, 0]}`))},
		{"words in quotes", msg(turn.Assistant, calls("f", `{"a": "5", "b": "true", "c": "-1.50"}`)), msg(turn.Assistant, calls("f", `{"a": 5, "b": true, "c": -1.5}`))},
		{"flags that are not set", msg(turn.Assistant, calls("f", `{"a": 1, "b": "false"}`)), msg(turn.Assistant, calls("f", `{"c": null, "d": false, "a": 1}`))},
		{"white space at ends of lines", msg(turn.Assistant, calls("f", `{"a": "x  \n\ty\t\r\n\n "}`)), msg(turn.Assistant, calls("f", `{"a": "x\n\ty\n\n"}`))},
		{"a cd that goes nowhere", msg(turn.Assistant, calls("f", `{"a": "cd /home/x && make\ntest"}`)), msg(turn.Assistant, calls("f", `{"a": "make\ntest"}`))},
		{"escaped semicolons", msg(turn.Assistant, calls("f", `{"a": "x \\\\; y \\\\;"}`)), msg(turn.Assistant, calls("f", `{"a": "x \\; y \\;"}`))},
		{"no arguments", msg(turn.Assistant, calls("f", ``)), msg(turn.Assistant, calls("f", `{}`))},
		{"thinking dropped", msg(turn.Assistant, turn.Block{Kind: turn.ThinkingBlock, Text: "hm"}, says("a")), msg(turn.Assistant, says("a"))},
		{"answer in pieces", msg(turn.Assistant, says("a\n"), calls("f", `{}`), says("\nb  c")), msg(turn.Assistant, says("a\n\nb c"), calls("f", `{}`))},
		{"result id", msg(turn.ToolRole, result("r ")), msg(turn.ToolRole, turn.Block{Kind: turn.ToolResult, Text: "r"})},
	} {
		if Next(7, c.a) != Next(7, c.b) {
			t.Errorf("%s: hashes differ", c.name)
		}
	}
}

func TestDifferent(t *testing.T) {
	failed := result("r")
	failed.IsError = true
	ms := []turn.Message{
		msg(turn.User), msg(turn.User, says("a")), msg(turn.System, says("a")), msg(turn.Assistant, says("a")),
		msg(turn.User, says("a b")), msg(turn.User, says("a  b")), msg(turn.User, says("a\nb")), msg(turn.User, says("b\na")),
		msg(turn.Assistant, says("a b")), msg(turn.Assistant, says("ab")),
		msg(turn.Assistant, calls("f", `{}`)), msg(turn.Assistant, calls("g", `{}`)),
		msg(turn.Assistant, calls("f", `{"a": 1}`)), msg(turn.Assistant, calls("f", `{"a": "01"}`)),
		msg(turn.Assistant, calls("f", `{"a": "1x"}`)), msg(turn.Assistant, calls("f", `{"a": "-"}`)), msg(turn.Assistant, calls("f", `{"a": "nan"}`)),
		msg(turn.Assistant, calls("f", `{"a": true}`)), msg(turn.Assistant, calls("f", `{"a": ""}`)), msg(turn.Assistant, calls("f", `{"a": [null]}`)),
		msg(turn.Assistant, calls("f", `{"a": " x"}`)), msg(turn.Assistant, calls("f", `{"a": "x\n"}`)), msg(turn.Assistant, calls("f", `{"a": "x"}`)),
		msg(turn.Assistant, calls("f", `{"a": [1, 2]}`)), msg(turn.Assistant, calls("f", `{"a": [2, 1]}`)),
		msg(turn.Assistant, calls("f", `{"a": [[1], 2]}`)), msg(turn.Assistant, calls("f", `{"a": {}}`)), msg(turn.Assistant, calls("f", `{"a": []}`)),
		msg(turn.Assistant, calls("f", `{"a": "x y"}`)), msg(turn.Assistant, calls("f", `{"a": "x  y"}`)),
		msg(turn.Assistant, calls("f", `{"a": 9007199254740993}`)), msg(turn.Assistant, calls("f", `{"a": 9007199254740992}`)),
		msg(turn.Assistant, calls("f", `{}`), calls("g", `{}`)), msg(turn.Assistant, calls("g", `{}`), calls("f", `{}`)),
		msg(turn.Assistant, says("a"), calls("f", `{}`)), msg(turn.Assistant, calls("f", `no json`)),
		msg(turn.ToolRole, result("r")), msg(turn.ToolRole, result("s")), msg(turn.ToolRole, failed),
		msg(turn.ToolRole, result("r"), result("s")), msg(turn.ToolRole, result("r s")),
		msg(turn.User, turn.Block{Kind: turn.Image, Raw: json.RawMessage(`{"x":1}`)}),
	}
	seen := map[uint64]int{}
	for i, m := range ms {
		h := Next(0, m)
		if j, ok := seen[h]; ok {
			t.Errorf("messages %d and %d have one hash: %+v, %+v", j, i, ms[j], m)
		}
		seen[h] = i
	}
}

func TestRollingIsNext(t *testing.T) {
	tr := &turn.Turn{Messages: []turn.Message{msg(turn.System, says("s")), msg(turn.User, says("u")), msg(turn.Assistant, says("a"))}}
	var want []uint64
	var parent uint64
	for _, m := range tr.Messages {
		parent = Next(parent, m)
		want = append(want, parent)
	}
	if got := Rolling(nil, tr); !slices.Equal(got, want) {
		t.Errorf("Rolling = %x, Next gives %x", got, want)
	}
	if got := Rolling(slices.Clone(want[:2]), tr); !slices.Equal(got, want) {
		t.Errorf("Rolling goes on with %x, want %x", got, want)
	}
	tr.Messages[0] = msg(turn.System, says("t"))
	if got := Rolling(nil, tr); got[2] == want[2] {
		t.Error("a changed history has the same hash")
	}
}

func TestDeepArguments(t *testing.T) {
	for _, s := range []string{strings.Repeat(`[`, 1<<20), strings.Repeat(`{"a":`, 1<<18), `{"a": "\u12`, `{"a": "\`, `[1,,]`, "\xff"} {
		a := Next(0, msg(turn.Assistant, calls("f", s)))
		if b := Next(0, msg(turn.Assistant, calls("f", s+"1"))); a == b {
			t.Errorf("%.20q: no difference seen", s)
		}
	}
}
