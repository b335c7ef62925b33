package dialect

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

const hello = `"messages":[{"role":"user","content":"hello"}]`

// bad is a table of bodies and where their problem is; "" is none. When param
// begins with ! the problem has no place and its text holds the rest.
type bad struct{ name, body, param string }

func runBad(t *testing.T, d turn.Dialect, cases []bad) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := For(d).Decode([]byte(c.body), nil, nil)
			if c.param == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var p *Problem
			if !errors.As(err, &p) || got != nil {
				t.Fatalf("got %+v, %v; want a problem at %s", got, err, c.param)
			}
			if text, ok := strings.CutPrefix(c.param, "!"); ok {
				if p.Param != "" || !strings.Contains(p.Error(), text) {
					t.Errorf("got %q (param %q), want %q", p.Error(), p.Param, text)
				}
			} else if p.Param != c.param || !strings.HasPrefix(p.Error(), c.param+": ") {
				t.Errorf("got param %q (%v), want %q", p.Param, p, c.param)
			}
			if p.StatusFor(turn.Chat) != 400 {
				t.Errorf("status %d", p.StatusFor(turn.Chat))
			}
		})
	}
}

// chatBody returns a chat body with the given rest.
func chatBody(rest string) string { return `{"model":"m","max_tokens":4,` + rest + `}` }

// leased returns n parts that ask to be kept.
func leased(n int) string {
	return strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`, n), ",")
}

func TestChatBadInput(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	runBad(t, turn.Chat, []bad{
		{"control", chatBody(hello), ""},
		{"cut off", `{"model":"m","messages":[{"role":"user",`, "!unexpected end of document at byte 40"},
		{"empty body", ``, "!empty document"},
		{"an array", `[]`, "!must be an object"},
		{"model missing", `{` + hello + `}`, "model"},
		{"model null", `{"model":null,` + hello + `}`, "model"},
		{"model empty", `{"model":"",` + hello + `}`, "model"},
		{"model a number", `{"model":5,` + hello + `}`, "model"},
		{"max_tokens beyond 64 bits", `{"model":"m","max_tokens":99999999999999999999999,` + hello + `}`, ""},
		{"max_tokens beyond all bits", `{"model":"m","max_tokens":1e400,` + hello + `}`, ""},
		{"max_tokens far below", `{"model":"m","max_tokens":-99999999999999999999999,` + hello + `}`, "max_tokens"},
		{"64 leases", chatBody(`"messages":[{"role":"user","content":[` + leased(64) + `]}]`), ""},
		{"65 leases", chatBody(`"messages":[{"role":"user","content":[` + leased(65) + `]}]`), "messages[0].content[64].cache_control"},
		{"named without a name", chatBody(hello + `,"tool_choice":{"type":"function"}`), "tool_choice.function"},
		{"a thought and a part that is a string", chatBody(`"messages":[{"role":"assistant","reasoning_content":"t","content":["a"]}]`), "messages[0].content[0]"},
		{"a thought and a content that is a number", chatBody(`"messages":[{"role":"assistant","reasoning_content":"t","content":5}]`), "messages[0].content"},
		{"functions", chatBody(hello + `,"functions":[{"name":"f"}]`), "functions"},
		{"no functions", chatBody(hello + `,"functions":[]`), ""},
		{"functions a word", chatBody(hello + `,"functions":"f"`), "functions"},
		{"audio", chatBody(hello + `,"modalities":["text","audio"]`), "modalities"},
		{"text alone", chatBody(hello + `,"modalities":["text"]`), ""},
		{"required without tools", chatBody(hello + `,"tool_choice":"required"`), "tool_choice"},
		{"required with no tools", chatBody(hello + `,"tools":[],"tool_choice":"required"`), "tool_choice"},
		{"none without tools", chatBody(hello + `,"tool_choice":"none"`), ""},
		{"max_tokens negative", `{"model":"m","max_tokens":-5,` + hello + `}`, "max_tokens"},
		{"max_tokens zero", `{"model":"m","max_tokens":0,` + hello + `}`, "max_tokens"},
		{"max_tokens a fraction", `{"model":"m","max_tokens":1.5,` + hello + `}`, "max_tokens"},
		{"max_tokens a string", `{"model":"m","max_tokens":"5",` + hello + `}`, "max_tokens"},
		{"max_tokens huge", `{"model":"m","max_tokens":9007199254740991,` + hello + `}`, ""},
		{"max_completion_tokens zero", chatBody(`"max_completion_tokens":0,` + hello), "max_completion_tokens"},
		{"messages missing", chatBody(`"x":1`), "messages"},
		{"messages null", chatBody(`"messages":null`), "messages"},
		{"messages empty", chatBody(`"messages":[]`), "messages"},
		{"messages a string", chatBody(`"messages":"hello"`), "messages"},
		{"a message is a string", chatBody(`"messages":["hello"]`), "messages[0]"},
		{"content a number", chatBody(`"messages":[{"role":"user","content":5}]`), "messages[0].content"},
		{"content missing", chatBody(`"messages":[{"role":"user"}]`), "messages[0].content"},
		{"a part is a string", chatBody(`"messages":[{"role":"user","content":["a"]}]`), "messages[0].content[0]"},
		{"a part without type", chatBody(`"messages":[{"role":"user","content":[{"text":"a"}]}]`), "messages[0].content[0].type"},
		{"a part without text", chatBody(`"messages":[{"role":"user","content":[{"type":"text"}]}]`), "messages[0].content[0].text"},
		{"unknown role", chatBody(`"messages":[{"role":"wizard","content":"hi"}]`), "messages[0].role"},
		{"role missing", chatBody(`"messages":[{"content":"hi"}]`), "messages[0].role"},
		{"temperature a string", chatBody(`"temperature":"hot",` + hello), "temperature"},
		{"temperature too high", chatBody(`"temperature":3,` + hello), "temperature"},
		{"temperature null", chatBody(`"temperature":null,` + hello), ""},
		{"stream a string", chatBody(`"stream":"yes",` + hello), "stream"},
		{"stream_options a list", chatBody(`"stream_options":[],` + hello), "stream_options"},
		{"two answers", chatBody(`"n":2,` + hello), ""},
		{"no answer", chatBody(`"n":0,` + hello), "n"},
		{"too many answers", chatBody(`"n":129,` + hello), "n"},
		{"alternatives", chatBody(`"logprobs":true,"top_logprobs":21,` + hello), "top_logprobs"},
		{"alternatives of nothing", chatBody(`"top_logprobs":2,` + hello), "top_logprobs"},
		{"no alternatives of nothing", chatBody(`"logprobs":false,"top_logprobs":0,` + hello), ""},
		{"logprobs a number", chatBody(`"logprobs":5,` + hello), "logprobs"},
		{"bias of a word", chatBody(`"logit_bias":{"word":1},` + hello), "logit_bias"},
		{"bias too strong", chatBody(`"logit_bias":{"5":101},` + hello), "logit_bias.5"},
		{"bias a list", chatBody(`"logit_bias":[],` + hello), "logit_bias"},
		{"a stop id below zero", chatBody(`"stop_token_ids":[1,-1],` + hello), "stop_token_ids[1]"},
		{"min_p too high", chatBody(`"min_p":2,` + hello), "min_p"},
		{"repetition_penalty zero", chatBody(`"repetition_penalty":0,` + hello), "repetition_penalty"},
		{"min_tokens below zero", chatBody(`"min_tokens":-1,` + hello), "min_tokens"},
		{"ignore_eos a word", chatBody(`"ignore_eos":"yes",` + hello), "ignore_eos"},
		{"stops without end", chatBody(`"stop":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 257), ",") + `],` + hello), "stop"},
		{"format unknown", chatBody(`"response_format":{"type":"novel"},` + hello), "response_format.type"},
		{"format without type", chatBody(`"response_format":{},` + hello), "response_format.type"},
		{"format without schema", chatBody(`"response_format":{"type":"json_schema","json_schema":{"name":"x"}},` + hello), "response_format.json_schema.schema"},
		{"format without anything", chatBody(`"response_format":{"type":"json_schema"},` + hello), "response_format.json_schema"},
		{"schema of a novel type", chatBody(`"response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"a":{"type":"novel"}}}}},` + hello), "response_format.json_schema.schema.properties.a.type"},
		{"schema in a list", chatBody(`"response_format":{"type":"json_schema","json_schema":{"schema":{"anyOf":[{},5]}}},` + hello), "response_format.json_schema.schema.anyOf[1]"},
		{"required a word", chatBody(`"response_format":{"type":"json_schema","json_schema":{"schema":{"required":"a"}}},` + hello), "response_format.json_schema.schema.required"},
		{"schema of all kinds", chatBody(`"response_format":{"type":"json_schema","json_schema":{"schema":{"$schema":"x","type":["object","null"],"properties":{"a":{"$ref":"#/$defs/b"}},"additionalProperties":false,"items":[{}],"$defs":{"b":true},"allOf":[{}],"x":1}}},` + hello), ""},
		{"stop a number", chatBody(`"stop":5,` + hello), "stop"},
		{"stop holds a number", chatBody(`"stop":["a",5],` + hello), "stop[1]"},
		{"seed a fraction", chatBody(`"seed":1.5,` + hello), "seed"},
		{"broken UTF-8", chatBody("\"messages\":[{\"role\":\"user\",\"content\":\"a\xff\xfe\xc3b\"}]"), "!invalid UTF-8"},
		{"half an emoji", chatBody(`"messages":[{"role":"user","content":"a\ud800b"}]`), ""},
		{"tool without schema", chatBody(`"tools":[{"type":"function","function":{"name":"x"}}],` + hello), ""},
		{"tool without name", chatBody(`"tools":[{"type":"function","function":{}}],` + hello), "tools[0].function.name"},
		{"tool without function", chatBody(`"tools":[{"type":"function"}],` + hello), "tools[0].function"},
		{"tool a string", chatBody(`"tools":["x"],` + hello), "tools[0]"},
		{"schema a string", chatBody(`"tools":[{"type":"function","function":{"name":"x","parameters":"y"}}],` + hello), "tools[0].function.parameters"},
		{"tools an object", chatBody(`"tools":{},` + hello), "tools"},
		{"tools empty, choice auto", chatBody(`"tools":[],"tool_choice":"auto",` + hello), ""},
		{"choice unknown", chatBody(`"tool_choice":"maybe",` + hello), "tool_choice"},
		{"choice of no tool", chatBody(`"tool_choice":{"type":"function","function":{"name":"x"}},` + hello), "tool_choice.function.name"},
		{"arguments no JSON", chatBody(`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"x","arguments":"{oops"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]`), ""},
		{"arguments an object", chatBody(`"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"x","arguments":{}}}]}]`), "messages[0].tool_calls[0].function.arguments"},
		{"nested 5000 deep", chatBody(`"x":` + deep + `,` + hello), "!nested too deep"},
		{"arguments nested 5000 deep", chatBody(`"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"x","arguments":"` + deep + `"}}]}]`), ""},
		{"ttl no time", chatBody(`"nvext":{"cache_control":{"type":"ephemeral","ttl":"soon"}},` + hello), "nvext.cache_control.ttl"},
		{"priority a string", chatBody(`"nvext":{"agent_hints":{"priority":"high"}},` + hello), "nvext.agent_hints.priority"},
		{"a band below zero", chatBody(`"nvext":{"agent_hints":{"strict_priority":-1}},` + hello), "nvext.agent_hints.strict_priority"},
		{"nvext unknown fields", chatBody(`"nvext":{"x":[]},` + hello), ""},
		{"nvext unknown fields, strictly", chatBody(`"nvext":{"agent_hints":{"x":[]},"strict":true},` + hello), "nvext"},
		{"agent_hints a list", chatBody(`"nvext":{"agent_hints":[]},` + hello), "nvext.agent_hints"},
		{"osl a word", chatBody(`"nvext":{"agent_hints":{"osl":"many"}},` + hello), "nvext.agent_hints.osl"},
		{"extra_fields a word", chatBody(`"nvext":{"extra_fields":"timing"},` + hello), "nvext.extra_fields"},
		{"a worker of lists", chatBody(`"nvext":{"backend_instance_id":[]},` + hello), "nvext.backend_instance_id"},
	})
}

func TestMessagesBadInput(t *testing.T) {
	body := func(rest string) string { return `{"model":"m","max_tokens":4,` + rest + `}` }
	runBad(t, turn.Messages, []bad{
		{"control", body(hello), ""},
		{"no max_tokens", `{"model":"m",` + hello + `}`, "max_tokens"},
		{"max_tokens zero", `{"model":"m","max_tokens":0,` + hello + `}`, "max_tokens"},
		{"max_tokens a fraction", `{"model":"m","max_tokens":0.5,` + hello + `}`, "max_tokens"},
		{"messages empty", body(`"messages":[]`), "messages"},
		{"messages an object", body(`"messages":{}`), "messages"},
		{"unknown role", body(`"messages":[{"role":"user","content":"a"},{"role":"tool","content":"b"}]`), "messages.1.role"},
		{"content null", body(`"messages":[{"role":"user","content":null}]`), "messages.0.content"},
		{"content a number", body(`"messages":[{"role":"user","content":5}]`), "messages.0.content"},
		{"block a string", body(`"messages":[{"role":"user","content":["a"]}]`), "messages.0.content.0"},
		{"block without type", body(`"messages":[{"role":"user","content":[{"text":"a"}]}]`), "messages.0.content.0.type"},
		{"text a number", body(`"messages":[{"role":"user","content":[{"type":"text","text":5}]}]`), "messages.0.content.0.text"},
		{"call without id", body(`"messages":[{"role":"assistant","content":[{"type":"tool_use","name":"x","input":{}}]}]`), "messages.0.content.0.id"},
		{"result without id", body(`"messages":[{"role":"user","content":[{"type":"tool_result"}]}]`), "messages.0.content.0.tool_use_id"},
		{"result content a number", body(`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":5}]}]`), "messages.0.content.0.content"},
		{"result holds a string", body(`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":["x"]}]}]`), "messages.0.content.0.content.0"},
		{"system a number", body(`"system":5,` + hello), "system"},
		{"system holds a string", body(`"system":["a"],` + hello), "system.0"},
		{"tool without name", body(`"tools":[{"input_schema":{}}],` + hello), "tools.0.name"},
		{"tool without schema", body(`"tools":[{"name":"x"}],` + hello), ""},
		{"hosted tool without anything", body(`"tools":[{"type":"mcp_toolset"}],` + hello), ""},
		{"thinking a string", body(`"thinking":"on",` + hello), "thinking"},
		{"unknown thinking", body(`"thinking":{"type":"novel"},` + hello), ""},
		{"budget over max_tokens", body(`"thinking":{"type":"enabled","budget_tokens":32000},` + hello), ""},
		{"effort a number", body(`"output_config":{"effort":5},` + hello), "output_config.effort"},
		{"choice unknown", body(`"tool_choice":{"type":"maybe"},` + hello), "tool_choice.type"},
		{"choice of no tool", body(`"tool_choice":{"type":"tool","name":"x"},` + hello), "tool_choice.name"},
		{"choice any without tools", body(`"tool_choice":{"type":"any"},` + hello), "tool_choice"},
		{"choice any with no tools", body(`"tools":[],"tool_choice":{"type":"any"},` + hello), "tool_choice"},
		{"choice any of hosted tools", body(`"tools":[{"type":"mcp_toolset"}],"tool_choice":{"type":"any"},` + hello), ""},
		{"choice auto without tools", body(`"tool_choice":{"type":"auto"},` + hello), ""},
		{"cache_control a string", body(`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":"x"}]}]`), "messages.0.content.0.cache_control"},
		{"private fields", body(`"safeguards":[{"type":"x"}],"context_management":{"edits":[]},"speed":1,` + hello), ""},
		{"format without schema", body(`"output_config":{"format":{"type":"json_schema"}},` + hello), "output_config.format.schema"},
		{"format of the beta", body(`"output_format":{"type":"json_schema","schema":{"type":5}},` + hello), "output_format.schema.type"},
		{"too many tools", body(`"tools":[` + manyTools(toolsMost+1) + `],` + hello), "tools.2048"},
	})
}

func manyTools(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(",", min(i, 1)) + `{"name":"` + NewID("t") + `"}`)
	}
	return b.String()
}

func TestResponsesBadInput(t *testing.T) {
	body := func(rest string) string { return `{"model":"m",` + rest + `}` }
	runBad(t, turn.Responses, []bad{
		{"control", body(`"input":"hi"`), ""},
		{"input missing", body(`"stream":true`), "input"},
		{"input empty", body(`"input":[]`), "input"},
		{"input unknown", body(`"input":[{"type":"novel"}]`), "input"},
		{"input a number", body(`"input":5`), "input"},
		{"an item is a string", body(`"input":["a"]`), "input[0]"},
		{"unknown role", body(`"input":[{"role":"wizard","content":"a"}]`), "input[0].role"},
		{"content missing", body(`"input":[{"role":"user"}]`), "input[0].content"},
		{"content a number", body(`"input":[{"role":"user","content":5}]`), "input[0].content"},
		{"a call without id", body(`"input":[{"type":"function_call","name":"x","arguments":"{}"}]`), "input[0].call_id"},
		{"an output without output", body(`"input":[{"type":"function_call_output","call_id":"x"}]`), "input[0].output"},
		{"max_output_tokens zero", body(`"input":"hi","max_output_tokens":0`), "max_output_tokens"},
		{"previous_response_id", body(`"input":"hi","previous_response_id":"resp_1"`), ""},
		{"previous_response_id a number", body(`"input":"hi","previous_response_id":5`), "previous_response_id"},
		{"prompt", body(`"input":"hi","prompt":{"id":"x"}`), "prompt"},
		{"store a word", body(`"input":"hi","store":"yes"`), "store"},
		{"format without schema", body(`"input":"hi","text":{"format":{"type":"json_schema","name":"x"}}`), "text.format.schema"},
		{"previous_response_id null", body(`"input":"hi","previous_response_id":null,"conversation":null`), ""},
		{"conversation", body(`"input":"hi","conversation":{"id":"x"}`), "conversation"},
		{"background", body(`"input":"hi","background":true`), "background"},
		{"a reference", body(`"input":[{"type":"item_reference","id":"x"}]`), "input[0]"},
		{"store and include", body(`"input":"hi","store":true,"include":["x"],"client_metadata":{"a":1}`), ""},
		{"tool without name", body(`"input":"hi","tools":[{"type":"function"}]`), "tools[0].name"},
		{"tool without type", body(`"input":"hi","tools":[{"name":"x"}]`), "tools[0].type"},
		{"an inner tool without name", body(`"input":"hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]`), "tools[0].tools[0].name"},
		{"hosted tools", body(`"input":"hi","tools":[{"type":"mcp"},{"type":"image_generation"}],"tool_choice":{"type":"mcp"}`), ""},
		{"choice of no tool", body(`"input":"hi","tool_choice":{"type":"function","name":"x"}`), "tool_choice.name"},
		{"choice unknown", body(`"input":"hi","tool_choice":"maybe"`), "tool_choice"},
		{"include a flag", body(`"input":"hi","include":true`), "include"},
		{"include a number", body(`"input":"hi","include":[5]`), "include[0]"},
		{"alternatives a word", body(`"input":"hi","top_logprobs":"x"`), "top_logprobs"},
		{"alternatives that nobody asked for", body(`"input":"hi","top_logprobs":2`), ""},
		{"no alternatives", body(`"input":"hi","top_logprobs":0`), ""},
		{"choice required without tools", body(`"input":"hi","tool_choice":"required"`), "tool_choice"},
		{"choice required of allowed tools without tools", body(`"input":"hi","tools":[],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[]}`), "tool_choice"},
		{"choice required of hosted tools", body(`"input":"hi","tools":[{"type":"mcp"}],"tool_choice":"required"`), ""},
		{"choice auto with no tools", body(`"input":"hi","tools":[],"tool_choice":"auto"`), ""},
		{"reasoning a string", body(`"input":"hi","reasoning":"high"`), "reasoning"},
	})
}
