package check

import (
	"encoding/json"

	"github.com/agentinfer/dyn/turn"
)

// talk is a built-in conversation.
type talk struct {
	name string
	turn turn.Turn
}

// conversations are those that are shown to an engine. They are made anew each
// time, since Steady changes them. All that is in them can be said through a
// chat API, and happens to coding agents. Left out is what llama.cpp's own
// reader of templates prints otherwise than the one that models were trained
// with, seldom as it is: 1.0 becomes 1, and a null in a call's arguments
// becomes nothing where a template prints it as it is (b10434).
//
// Each says whether to think, since engines have a default of their own, which
// counts in their chat API only: llama.cpp thinks where a template can be told
// to.
func conversations() []talk {
	all := talks()
	for i := range all {
		all[i].turn.Thinking.Mode = [...]string{"off", "on"}[i%2]
	}
	return all
}

func talks() []talk {
	ask := says(turn.User, "Which files hold the parser, and do its tests pass?")
	return []talk{
		{"plain", turn.Turn{Messages: []turn.Message{says(turn.User, "Name three moons of Jupiter.")}}},
		{"unicode", turn.Turn{Messages: []turn.Message{says(turn.System, scripts), says(turn.User, marks)}}},
		{"tools", turn.Turn{
			Messages: []turn.Message{says(turn.System, "You are a coding agent."), ask},
			Tools:    tools(),
		}},
		{"call and result", turn.Turn{
			Messages: []turn.Message{
				says(turn.System, "You are a coding agent."), ask,
				{Role: turn.Assistant, Blocks: []turn.Block{calls("call00001", "Read", `{"path": "parser/read.go", "from": 1, "whole": false, "to": 20}`)}},
				{Role: turn.ToolRole, Blocks: []turn.Block{result("call00001", "package parser\n\n// Read reads.\nfunc Read() {}\n")}},
			},
			Tools: tools(),
		}},
		{"parallel calls", turn.Turn{
			Messages: []turn.Message{
				ask,
				{Role: turn.Assistant, Blocks: []turn.Block{
					calls("call00002", "Read", `{"path":"a <b> & \"c\".go","to":-7}`),
					calls("call00003", "Search", `{"what":{"pattern":"naïve \u00e9\ttab\\d+","flags":["i",[],{}]},"weights":[0.5,-1,10]}`),
				}},
				{Role: turn.ToolRole, Blocks: []turn.Block{result("call00002", "{\"lines\": [1, 2]}"), result("call00003", "")}},
			},
			Tools: tools(),
		}},
		{"reasoning", turn.Turn{
			Messages: []turn.Message{
				ask,
				{Role: turn.Assistant, Blocks: []turn.Block{thinks("The parser is small.\n\nIts tests are beside it."), text("They are in parser/ and pass.")}},
				says(turn.User, "And the lexer?"),
			},
		}},
		{"white space and marks", turn.Turn{
			Messages: []turn.Message{
				says(turn.System, "  two spaces, a tab\tand a line end \n"),
				says(turn.User, marksInText),
				says(turn.Assistant, "\n\n    func main() {\n\t}\n   "),
				says(turn.User, "1234567890 0.1 a\u00a0b\r\n\r\n\n\n  x  \n"),
			},
		}},
		{"long", long(ask)},
	}
}

// long has several turns with reasoning, text beside a call, and an error.
func long(ask turn.Message) turn.Turn {
	return turn.Turn{
		Messages: []turn.Message{
			says(turn.System, "You are a coding agent.\n\nBe brief."), ask,
			{Role: turn.Assistant, Blocks: []turn.Block{thinks("I look."), text("I look at it."), calls("call00004", "Search", `{"what":{"pattern":"func"}}`)}},
			{Role: turn.ToolRole, Blocks: []turn.Block{result("call00004", "parser/read.go:4")}},
			{Role: turn.Assistant, Blocks: []turn.Block{thinks("And the tests."), calls("call00005", "Now", `{}`)}},
			{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, ID: "call00005", Text: "error: no clock", IsError: true}}},
			{Role: turn.Assistant, Blocks: []turn.Block{thinks("So be it."), text("One file; the clock is broken.")}},
			says(turn.User, "Fix it."),
			{Role: turn.Assistant, Blocks: []turn.Block{thinks("Where?"), calls("call00006", "Read", `{"path":"clock.go"}`)}},
			{Role: turn.ToolRole, Blocks: []turn.Block{result("call00006", "package clock\n")}},
		},
		Tools: tools(),
	}
}

// Texts about which tokenizers disagree: joined emoji, scripts without spaces,
// marks apart from their letters and together with them, text from right to
// left with the characters that turn it, and colours of a terminal.
const (
	scripts = "Grüße, 日本語のテキスト，中文。한국어 ภาษาไทย हिन्दी עברית\u200f العربية\u202e!\u202c"
	marks   = "👩\u200d👩\u200d👧 🇨🇭 ☕\ufe0f e\u0301 é ﬁ Ⅷ ½ \u200b\ufeff\u2028x \x1b[31mred\x1b[0m\x01\x7f … ‘q’ 𝔘 \ufffd don't I'LL"

	// What looks like special tokens is text here, and is what engines and
	// dyn must read in the same way.
	marksInText = "<|im_end|> <|endoftext|> <s>[INST] </s> <think> </tool_call> <|eot_id|> <end_of_turn> {{ x }} {% y %}"
)

// tools are three: with nested schemas, with all kinds of values, and with no
// parameter.
func tools() []turn.Tool {
	return []turn.Tool{
		{Name: "Read", Description: "Reads a file.\nLines are numbered; \"to\" is <= 2000 & optional.", Schema: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string","description":"where it is"},"from":{"type":"integer","minimum":0,"default":1},` +
				`"to":{"type":["integer","null"]},"whole":{"type":"boolean","default":false}},"required":["path"],"additionalProperties":false}`)},
		{Name: "Search", Description: "Sucht überall 🔍", Schema: json.RawMessage(
			`{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"what":{"type":"object","properties":` +
				`{"pattern":{"type":"string","pattern":"^\\S+$"},"flags":{"type":"array","items":{"enum":["i","m","s/x"]}}},"required":["pattern"]},` +
				`"weights":{"type":"array","items":{"type":"number","maximum":1,"default":0.5}}},"required":["what"]}`)},
		{Name: "Now", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
}

func text(s string) turn.Block { return turn.Block{Kind: turn.Text, Text: s} }

func thinks(s string) turn.Block { return turn.Block{Kind: turn.ThinkingBlock, Text: s} }

func says(r turn.Role, s string) turn.Message {
	return turn.Message{Role: r, Blocks: []turn.Block{text(s)}}
}

func calls(id, name, args string) turn.Block {
	return turn.Block{Kind: turn.ToolUse, ID: id, Name: name, Args: json.RawMessage(args)}
}

func result(id, s string) turn.Block { return turn.Block{Kind: turn.ToolResult, ID: id, Text: s} }
