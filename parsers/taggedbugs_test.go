package parsers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// bugTools are tools with the schemas that the reports are about.
var bugTools = []turn.Tool{
	{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"units":{"type":"string","enum":["metric","imperial"]}},"required":["city"]}`)},
	{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"overwrite":{"type":"boolean"},"mode":{"type":"integer"}},"required":["path","content"]}`)},
	{Name: "search", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"},"filters":{"type":"object"},"tags":{"type":"array","items":{"type":"string"}},"score":{"type":"number"}}}`)},
	{Name: "list_tabs", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	{Name: "edit", Schema: json.RawMessage(`{"type":"object","properties":{"count":{"anyOf":[{"type":"integer"},{"type":"null"}]},"regex":{"type":["boolean","null"]},"new":{"type":["string","null"]},"meta":{"$ref":"#/$defs/Meta"},"any":{}},
		"$defs":{"Meta":{"type":"object","properties":{"gift":{"type":"boolean"}}}}}`)},
	{Name: "patch", Custom: true},
	{Name: "task__run", Namespace: "task", Bare: "run", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)},
}

// report is a way in which parsers went wrong, and what is right.
type report struct {
	name, format string
	tail         string
	text         string
	calls        []string // name and arguments
	content      string
	reasoning    string
	flaws        turn.Flaw // of all calls
}

func (r *report) check(t *testing.T) {
	t.Helper()
	spec, err := Lookup(r.format, Tools)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Tools: r.format, Offered: bugTools, Tail: r.tail}
	if spec.Reasoning != nil {
		o.Reasoning = r.format
	}
	a := read(t, o, false, r.text)
	splits(t, o, false, r.text, a)
	var calls []string
	for _, c := range a.calls {
		calls = append(calls, c.name+c.args)
	}
	if got, want := strings.Join(calls, "\n"), strings.Join(r.calls, "\n"); got != want {
		t.Errorf("calls\n%s\nwant\n%s", got, want)
	}
	if got := strings.TrimSpace(a.content); got != r.content {
		t.Errorf("content %q, want %q", got, r.content)
	}
	if got := strings.TrimSpace(a.reasoning); got != r.reasoning {
		t.Errorf("reasoning %q, want %q", got, r.reasoning)
	}
	if got := flawsOf(t, o, r.text); got != r.flaws {
		t.Errorf("flaws %d, want %d", got, r.flaws)
	}
}

// flawsOf are the flaws of all calls of an answer.
func flawsOf(t *testing.T, o Options, text string) turn.Flaw {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var all turn.Flaw
	for _, e := range s.Close(s.Push(nil, text)) {
		all |= e.Call.Flaws
	}
	return all
}

// TestTaggedBugs has public reports; the numbers are those of our list of
// them.
func TestTaggedBugs(t *testing.T) {
	for _, r := range []report{
		{
			name: "2 arguments begin with a brace", format: "qwen3_coder", tail: "<think>\n",
			text:  "Go.\n</think>\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`get_weather{"city":"Rome"}`}, reasoning: "Go.",
		},
		{
			name: "5 several parameters at once", format: "minimax_m2",
			text:  "<minimax:tool_call>\n<invoke name=\"search\">\n<parameter name=\"query\">a</parameter>\n<parameter name=\"tags\">[\"x\"]</parameter><parameter name=\"limit\">3</parameter></invoke></minimax:tool_call>",
			calls: []string{`search{"query":"a","tags":["x"],"limit":3}`},
		},
		{
			name: "17 a malformed tag is part of the value", format: "qwen3_coder",
			text:  "<tool_call>\n<function=get_weather>\n<parameter=city>\nQuito\n</parameter>\n<parameter\nx\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`get_weather{"city":"Quito\n</parameter>\n<parameter\nx"}`},
		},
		{
			name: "17 a closing tag is missing", format: "qwen3_coder",
			text:  "<tool_call>\n<function=get_weather>\n<parameter=city>\nQuito\n<parameter=days>\n4\n</function>\n</tool_call>",
			calls: []string{`get_weather{"city":"Quito","days":4}`},
		},
		{
			name: "18 the value holds its own closing tag", format: "qwen3_coder",
			text:  "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nx </parameter> y\n</parameter>\n<parameter=fake>\nz\n</parameter>\n<parameter=mode>\n7\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`write_file{"path":"a","content":"x </parameter> y\n</parameter>\n<parameter=fake>\nz","mode":7}`},
		},
		{
			name: "23 the beginning of a closing tag at the end", format: "deepseek_v4", tail: "</think>",
			text:  "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Brno</｜DSML｜param",
			calls: []string{`get_weather{"city":"Brno"}`}, flaws: turn.Repaired,
		},
		{
			name: "24 no block around", format: "deepseek_v4", tail: "</think>",
			text:  "Now.\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Brno</｜DSML｜parameter>\n</｜DSML｜invoke>",
			calls: []string{`get_weather{"city":"Brno"}`}, content: "Now.",
		},
		{
			name: "24 the block of another version, ASCII", format: "deepseek_v4", tail: "</think>",
			text:  "<|DSML|function_calls><|DSML|invoke name=\"get_weather\"><|DSML|parameter name=\"city\" string=\"true\">Brno</|DSML|parameter></|DSML|invoke></|DSML|function_calls>",
			calls: []string{`get_weather{"city":"Brno"}`},
		},
		{
			name: "25 an empty block and text after it", format: "deepseek_v4", tail: "</think>",
			text: "<｜DSML｜tool_calls>\n</｜DSML｜tool_calls>\nNothing to do.", content: "Nothing to do.",
		},
		{
			name: "25 stray closers", format: "deepseek_v4", tail: "</think>",
			text: "Fine.</｜DSML｜invoke>\n</｜DSML｜tool_calls>", content: "Fine.",
		},
		{
			name: "26 spaced tags", format: "deepseek_v4", tail: "</think>",
			text:  "<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"get_weather\">\n<｜DSML｜ parameter name=\"city\" string=\"true\">Brno</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>",
			calls: []string{`get_weather{"city":"Brno"}`},
		},
		{
			name: "26 a JSON object as the body", format: "deepseek_v41", tail: "</think>",
			text:  "<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"get_weather\">{\"city\": \"Brno\", \"days\":  2}</｜DSML｜ invoke>\n</｜DSML｜ calls>",
			calls: []string{`get_weather{"city": "Brno", "days":  2}`},
		},
		{
			name: "26 a namespace", format: "deepseek_v41", tail: "</think>",
			text:  "<｜DSML｜ calls><｜DSML｜ invoke name=\"task::run\"></｜DSML｜ invoke></｜DSML｜ calls>",
			calls: []string{`task__run{}`},
		},
		{
			name: "28 text after the call", format: "qwen3_coder",
			text:  "<tool_call>\n<function=list_tabs>\n</function>\n</tool_call>\nThat was it.",
			calls: []string{`list_tabs{}`}, content: "That was it.",
		},
		{
			name: "38 closed by the wrong tag", format: "hy_v3", tail: "</think:opensource>",
			text:  "<tool_calls:opensource>\n<tool_call:opensource>list_tabs</arg_value:opensource>\n</tool_calls:opensource>",
			calls: []string{`list_tabs{}`},
		},
		{
			name: "42 the end of reasoning is not the calls' to swallow", format: "qwen3_coder", tail: "<think>\n",
			text:      "Mind </think> in this.\n</think>\n\nNow.\n<tool_call>\n<function=list_tabs>\n</function>\n</tool_call>",
			reasoning: "Mind", content: "in this.\n\n\nNow.", calls: []string{`list_tabs{}`},
		},
		{
			name: "43 a call inside open reasoning", format: "glm47", tail: "<think>",
			text:  "Just call.<tool_call>get_weather<arg_key>city</arg_key><arg_value>Turin</arg_value></tool_call>",
			calls: []string{`get_weather{"city":"Turin"}`}, reasoning: "Just call.",
		},
		{
			name: "47 a draft inside reasoning", format: "glm47", tail: "<think>",
			text:      "Like <tool_call>list_tabs</tool_call> perhaps.</think>No.",
			reasoning: "Like <tool_call>list_tabs</tool_call> perhaps.", content: "No.",
		},
		{
			name: "52 unions and references", format: "qwen3_coder",
			text:  "<tool_call>\n<function=edit>\n<parameter=count>\nNone\n</parameter>\n<parameter=regex>\nFalse\n</parameter>\n<parameter=new>\nnull\n</parameter>\n<parameter=meta>\n{'gift': True}\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`edit{"count":null,"regex":false,"new":null,"meta":{"gift": true}}`},
		},
		{
			name: "53 an object behind a reference", format: "qwen3_coder",
			text:  "<tool_call>\n<function=edit>\n<parameter=meta>\n{\"gift\": true}\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`edit{"meta":{"gift": true}}`},
		},
		{
			name: "56 code", format: "qwen3_coder",
			text:  "<tool_call>\n<function=write_file>\n<parameter=path>\nm.py\n</parameter>\n<parameter=content>\n  if a < b:\n    print(\"</div>\")\n\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`write_file{"path":"m.py","content":"  if a < b:\n    print(\"</div>\")\n"}`},
		},
		{
			name: "62 several invokes in one block", format: "minimax_m2",
			text:  "<minimax:tool_call><invoke name=\"list_tabs\"></invoke><invoke name=\"get_weather\"><parameter name=\"city\">A</parameter></invoke><invoke name=\"list_tabs\">\n</invoke></minimax:tool_call>",
			calls: []string{`list_tabs{}`, `get_weather{"city":"A"}`, `list_tabs{}`},
		},
	} {
		t.Run(r.name, r.check)
	}
}

// TestTaggedPeers has what published parsers get wrong; the numbers are those
// of our list of their defects.
func TestTaggedPeers(t *testing.T) {
	for _, r := range []report{
		{
			name: "1 entities are text", format: "minimax_m2",
			text:  "<minimax:tool_call><invoke name=\"search\"><parameter name=\"query\">a &amp; b &lt;</parameter></invoke></minimax:tool_call>",
			calls: []string{`search{"query":"a &amp; b &lt;"}`},
		},
		{
			name: "2 white space is data", format: "deepseek_v32", tail: "</think>",
			text:  "<｜DSML｜function_calls><｜DSML｜invoke name=\"write_file\"><｜DSML｜parameter name=\"content\" string=\"true\">\n  x\n\n</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
			calls: []string{`write_file{"content":"\n  x\n\n"}`},
		},
		{
			name: "3 the words null and None", format: "minimax_m2",
			text:  "<minimax:tool_call><invoke name=\"write_file\"><parameter name=\"path\">null</parameter><parameter name=\"content\">None</parameter></invoke></minimax:tool_call>",
			calls: []string{`write_file{"path":"null","content":"None"}`},
		},
		{
			name: "4 digits in a string", format: "glm45", tail: "<think></think>",
			text:  "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>12345</arg_value>\n</tool_call>",
			calls: []string{`search{"query":"12345"}`},
		},
		{
			name: "5 an integer or null", format: "minimax_m2",
			text:  "<minimax:tool_call><invoke name=\"edit\"><parameter name=\"count\">5</parameter></invoke></minimax:tool_call>",
			calls: []string{`edit{"count":5}`},
		},
		{
			name: "6 Python literals", format: "seed_oss",
			text:  "<seed:tool_call>\n<function=search>\n<parameter=filters>{'a': [1, None]}</parameter>\n<parameter=tags>['x', \"it's\"]</parameter>\n</function>\n</seed:tool_call>",
			calls: []string{`search{"filters":{"a": [1, null]},"tags":["x", "it's"]}`},
		},
		{
			name: "7 no boolean", format: "qwen3_coder",
			text:  "<tool_call>\n<function=write_file>\n<parameter=overwrite>\nabc\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`write_file{"overwrite":"abc"}`}, flaws: turn.Mistyped,
		},
		{
			name: "8 a string or null", format: "minimax_m2",
			text:  "<minimax:tool_call><invoke name=\"edit\"><parameter name=\"new\">5</parameter><parameter name=\"any\">\"x\"</parameter></invoke></minimax:tool_call>",
			calls: []string{`edit{"new":"5","any":"\"x\""}`},
		},
		{
			name: "14 text before a call", format: "minicpm5", tail: "</think>",
			text:  "First this.\n<function name=\"list_tabs\"></function>",
			calls: []string{`list_tabs{}`}, content: "First this.",
		},
		{
			name: "15 a marker in prose", format: "glm47", tail: "</think>",
			text:    "The marker `<tool_call>` begins a call, and <tool_call> too. <",
			content: "The marker `<tool_call>` begins a call, and <tool_call> too. <",
		},
		{
			name: "23 the last closer is missing", format: "glm47", tail: "</think>",
			text:  "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Faro</arg_value><arg_key>days</arg_key><arg_value>2</arg_value>",
			calls: []string{`get_weather{"city":"Faro","days":2}`},
		},
	} {
		t.Run(r.name, r.check)
	}
}

// TestTaggedOddities has forms that models were seen to write.
func TestTaggedOddities(t *testing.T) {
	for _, r := range []report{
		{
			name: "no wrapper", format: "qwen3_coder",
			text:  "Now: <function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>",
			calls: []string{`get_weather{"city":"Rome"}`}, content: "Now:",
		},
		{
			name: "on one line, with spaces in names", format: "qwen3_coder",
			text:  "<tool_call><function= get_weather ><parameter= city >Rome</parameter></function></tool_call>",
			calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "closers in the wrong order", format: "qwen3_coder",
			text:  "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</tool_call>\n</function>",
			calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "the end of the call is missing between two", format: "qwen3_coder",
			text:  "<tool_call>\n<function=list_tabs>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<tool_call>\n<function=list_tabs>\n</function>\n</tool_call>",
			calls: []string{`list_tabs{}`, `get_weather{"city":"Rome"}`, `list_tabs{}`},
		},
		{
			name: "an end of turn is left", format: "qwen3_coder",
			text:  "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call><|im_end|>",
			calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "no argument was declared", format: "minicpm5", tail: "</think>",
			text:  "<function name=\"get_weather\"><param name=\"place\">Rome</param></function>",
			calls: []string{`get_weather{"place":"Rome"}`},
		},
		{
			name: "one that is not declared behind a whole value", format: "qwen3_coder",
			text:  "<tool_call>\n<function=get_weather>\n<parameter=days>\n5\n</parameter>\n<parameter=place>\nRome\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`get_weather{"days":5,"place":"Rome"}`},
		},
		{
			name: "arguments wrapped in one", format: "deepseek_v4", tail: "</think>",
			text:  "<｜DSML｜invoke name=\"get_weather\"><｜DSML｜parameter name=\"arguments\" string=\"false\">{\"city\": \"Rome\", \"days\": 2}</｜DSML｜parameter></｜DSML｜invoke>",
			calls: []string{`get_weather{"city": "Rome", "days": 2}`}, flaws: turn.Repaired,
		},
		{
			name: "wrapped as a string", format: "deepseek_v4", tail: "</think>",
			text:  "<｜DSML｜invoke name=\"get_weather\"><｜DSML｜parameter name=\"input\" string=\"true\">{\"city\": \"Rome\"}</｜DSML｜parameter></｜DSML｜invoke>",
			calls: []string{`get_weather{"city": "Rome"}`}, flaws: turn.Repaired,
		},
		{
			name: "wrapped, but not arguments of the tool", format: "deepseek_v4", tail: "</think>",
			text:  "<｜DSML｜invoke name=\"get_weather\"><｜DSML｜parameter name=\"arguments\" string=\"false\">{\"town\": \"Rome\"}</｜DSML｜parameter></｜DSML｜invoke>",
			calls: []string{`get_weather{"arguments":{"town": "Rome"}}`},
		},
		{
			name: "the attribute decides, not the schema", format: "deepseek_v4", tail: "</think>",
			text:  "<｜DSML｜invoke name=\"search\"><｜DSML｜parameter name=\"limit\" string=\"true\">5</｜DSML｜parameter><｜DSML｜parameter name=\"query\" string=\"false\">5</｜DSML｜parameter></｜DSML｜invoke>",
			calls: []string{`search{"limit":"5","query":5}`},
		},
		{
			name: "a closing tag within JSON", format: "deepseek_v41", tail: "</think>",
			text:  "<｜DSML｜ invoke name=\"search\"><｜DSML｜ parameter name=\"filters\" string=\"false\">{\"k\": \"</｜DSML｜ parameter>\\n</｜DSML｜ invoke>\"}</｜DSML｜ parameter></｜DSML｜ invoke>",
			calls: []string{`search{"filters":{"k": "</｜DSML｜ parameter>\n</｜DSML｜ invoke>"}}`},
		},
		{
			name: "quotes that never end", format: "qwen3_coder",
			text:  "<tool_call>\n<function=search>\n<parameter=filters>\n{\"k\": \"x}\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>\nDone.",
			calls: []string{`search{"filters":{"k": "x}"},"limit":5}`}, content: "Done.", flaws: turn.Repaired,
		},
		{
			name: "a call as JSON", format: "dots",
			text:  "So: <dots_function_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</dots_function_call>",
			calls: []string{`get_weather{"city": "Rome"}`}, content: "So:",
		},
		{
			name: "free text that looks like JSON", format: "qwen3_coder",
			text:  "<tool_call>\n<function=patch>\n<parameter=input>\n{\"a\": 1}\n</parameter>\n</function>\n</tool_call>",
			calls: []string{`patch{"input":"{\"a\": 1}"}`},
		},
		{
			name: "a scalar is no body", format: "deepseek_v41", tail: "</think>",
			text:    "<｜DSML｜ invoke name=\"search\">5</｜DSML｜ invoke>",
			content: "<｜DSML｜ invoke name=\"search\">5</｜DSML｜ invoke>",
		},
		{
			name: "an object encoded twice", format: "glm47", tail: "</think>",
			text:  "<tool_call>search<arg_key>filters</arg_key><arg_value>\"{\\\"a\\\": 1}\"</arg_value></tool_call>",
			calls: []string{`search{"filters":{"a": 1}}`},
		},
		{
			name: "escapes in attributes", format: "kimi_k3", tail: "<|open|>response<|sep|>",
			text:  "<|open|>tools<|sep|><|open|>call tool=\"fly\" index=\"2\"<|sep|><|open|>argument key=\"a &amp;&quot;\" type=\"string\"<|sep|>&amp;<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
			calls: []string{`fly{"a &\"":"&amp;"}`}, flaws: turn.Unknown,
		},
		{
			name: "all arguments as JSON", format: "kimi_k3", tail: "<|open|>response<|sep|>",
			text:  "<|open|>tools<|sep|><|open|>call tool=\"get_weather\" index=\"1\"<|sep|><|open|>json type=\"object\"<|sep|>{\"city\": \"Rome\"}<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
			calls: []string{`get_weather{"city": "Rome"}`},
		},
		{
			name: "the first opening tag is missing", format: "minimax_m3",
			text:  `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="get_weather">Rome]<]minimax[>[</city>]<]minimax[>[<days>2]<]minimax[>[</days>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
			calls: []string{`get_weather{"city":"Rome","days":2}`},
		},
		{
			name: "half of it is", format: "minimax_m3",
			text:  `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="get_weather">city>Rome]<]minimax[>[</city>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
			calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "elements without schema", format: "minimax_m3",
			text:  `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="fly">]<]minimax[>[<a>]<]minimax[>[<b>1]<]minimax[>[</b>]<]minimax[>[<c>]<]minimax[>[<item>x]<]minimax[>[</item>]<]minimax[>[</c>]<]minimax[>[</a>]<]minimax[>[<e>]<]minimax[>[</e>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
			calls: []string{`fly{"a":{"b":"1","c":["x"]},"e":""}`}, flaws: turn.Unknown,
		},
		{
			name: "elements that are not closed", format: "minimax_m3",
			text:  `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="search">]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</item>]<]minimax[>[<item>b]<]minimax[>[</item>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
			calls: []string{`search{"tags":["a","b"]}`},
		},
		{
			name: "JSON where elements are expected", format: "minimax_m3",
			text:  `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="search">]<]minimax[>[<tags>["a"]]<]minimax[>[</tags>]<]minimax[>[<filters>]<]minimax[>[</filters>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
			calls: []string{`search{"tags":["a"],"filters":{}}`},
		},
		{
			name: "sections of CDATA in a row", format: "minicpm5", tail: "</think>",
			text:  "<function name=\"write_file\"><param name=\"content\"><![CDATA[a ]]]]><![CDATA[> </param></function> b]]></param></function>",
			calls: []string{`write_file{"content":"a ]]> </param></function> b"}`},
		},
		{
			name: "CDATA around what is no string", format: "minicpm5", tail: "</think>",
			text:  "<function name=\"search\"><param name=\"limit\"><![CDATA[5]]></param><param name=\"tags\"><![CDATA[['a']]]></param></function>",
			calls: []string{`search{"limit":5,"tags":["a"]}`},
		},
		{
			name: "a plain tag without a suffix", format: "hy_v3",
			text:  "<tool_calls><tool_call>get_weather<tool_sep><arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call></tool_calls>",
			calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "another suffix, as the prompt shows it", format: "hy_v3", tail: "<think:v2-pro>",
			text:      "Hm.</think:v2-pro>Now.<tool_calls:v2-pro>\n<tool_call:v2-pro>get_weather<tool_sep:v2-pro>\n<arg_key:v2-pro>city</arg_key:v2-pro>\n<arg_value:v2-pro>Rome</arg_value:v2-pro>\n</tool_call:v2-pro>\n</tool_calls:v2-pro>",
			reasoning: "Hm.", content: "Now.", calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "another suffix, as the answer shows it", format: "hy_v3",
			text:    "Use <tool_call: so. <tool_calls:x>\n<tool_call:x>get_weather<tool_sep:x>\n<arg_key:x>city</arg_key:x>\n<arg_value:x>Rome</arg_value:x>\n</tool_call:x>\n</tool_calls:x>",
			content: "Use <tool_call: so.", calls: []string{`get_weather{"city":"Rome"}`},
		},
		{
			name: "an id and types in attributes", format: "cohere_cofl",
			text:  "<cofl:tool_calls><cofl:tool_call id=\"0\" name=\"search\"><cofl:value name=\"query\" type=\"raw\">5</cofl:value><cofl:value name=\"limit\" type=\"json\">5</cofl:value></cofl:tool_call></cofl:tool_calls>",
			calls: []string{`search{"query":"5","limit":5}`},
		},
		{
			name: "a call without the step's frame", format: "step3", tail: "</think>",
			text:  "<steptml:invoke name=\"get_weather\"><steptml:parameter name=\"city\">Rome</steptml:parameter></steptml:invoke>",
			calls: []string{`get_weather{"city":"Rome"}`},
		},
	} {
		t.Run(r.name, r.check)
	}
}

// TestTaggedStreams checks that a string goes out as it comes (1, 4 and 6 of
// the reports): all but what may be its closing tag.
func TestTaggedStreams(t *testing.T) {
	for _, spec := range taggedSpecs() {
		g := &printer{spec: spec, gap: "\n"}
		text := g.write("write_file", given{"path", "p"}, given{"content", strings.Repeat("some words, ", 40)})
		s, err := New(taggedOptions(spec))
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(text, "some words")
		events := s.Push(nil, text[:at])
		if n := len(events); n == 0 || events[0].Kind != turn.CallStart || events[0].Call.Name != "write_file" {
			t.Fatalf("%s: %+v", spec.Name, events)
		}
		for i := at; i < at+480; i += 4 {
			events = s.Push(events[:0], text[i:i+4])
			if len(events) != 1 || !strings.HasSuffix(events[0].Text, text[i:i+4]) {
				t.Fatalf("%s: behind %q: %+v", spec.Name, text[i:i+4], events)
			}
		}
	}
}
