package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// The tests of this file are named for rows of a list of public bug reports of
// agents on self-hosted endpoints; each says where it was reported, and holds
// what is right. Those that need a server are in server/bugs_test.go.

// wireOf returns the stream of an answer.
func wireOf(tn *turn.Turn, events ...turn.Event) string {
	enc := For(tn.Dialect).Stream(tn)
	var wire []byte
	for _, e := range events {
		wire = enc.Event(wire, e)
	}
	return string(wire)
}

// inOrder fails the test unless s holds the words in this order.
func inOrder(t *testing.T, s string, words ...string) {
	t.Helper()
	rest := s
	for _, w := range words {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Fatalf("no %s where it should be in\n%s", w, s)
		}
		rest = after
	}
}

// TestBug19_TextThenThinking (ollama/ollama#17101): a text
// block is closed before thinking opens another, under the next number.
func TestBug19_TextThenThinking(t *testing.T) {
	wire := wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Messages},
		says("Hm."), think("so"), says("Yes."), done(turn.Ended))
	inOrder(t, wire, `"content_block_start","index":0`, `"content_block_stop","index":0`, `"content_block_start","index":1`,
		`"thinking_delta"`, `"signature_delta"`, `"content_block_stop","index":1`, `"content_block_start","index":2`, `"message_stop"`)
}

// TestBug21_CachedOnce (sgl-project/sglang#25876): input_tokens are those that
// were not cached; the three counts add up to the prompt.
func TestBug21_CachedOnce(t *testing.T) {
	wire := wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Messages}, says("x"), done(turn.Ended))
	inOrder(t, wire, `"message_delta"`, `"input_tokens":36,"cache_creation_input_tokens":0,"cache_read_input_tokens":64`)
}

// TestBug22_CallsEndAtOnce (ai-dynamo/dynamo#7114): the block of a call is
// stopped before the next one begins, not when the answer ends.
func TestBug22_CallsEndAtOnce(t *testing.T) {
	wire := wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Messages}, join(calls(0, "a", "{}"), calls(1, "b", "{}"), done(turn.Called))...)
	inOrder(t, wire, `"content_block_stop","index":0`, `"content_block_start","index":1`, `"content_block_stop","index":1`, `"message_delta"`)
}

// TestBug23_CacheCountsAlways (vllm-project/vllm#45079), TestBug25 and
// TestBug26 (BerriAI/litellm#31069, #24176): usage is whole in the first event
// already, and right in the last.
func TestBug23_CacheCountsAlways(t *testing.T) {
	fields := []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation", "output_tokens", "service_tier"}
	enc := messages{}.Stream(&turn.Turn{ID: "t", Model: "m"})
	wire := enc.Event(enc.Open(nil, turn.Usage{Prompt: 100, Cached: 48}), done(turn.Ended))
	for _, e := range parseSSE(t, wire) {
		usage, _ := e.data["usage"].(map[string]any)
		if message, ok := e.data["message"].(map[string]any); ok {
			usage = message["usage"].(map[string]any)
		}
		for _, f := range fields {
			if _, ok := usage[f]; usage != nil && !ok {
				t.Errorf("%s without %s: %s", e.name, f, e.raw)
			}
		}
	}
}

func TestBug25_CountsFromTheStart(t *testing.T) {
	enc := messages{}.Stream(&turn.Turn{ID: "t", Model: "m"})
	start := string(enc.Open(nil, turn.Usage{Prompt: 100, Cached: 48}))
	inOrder(t, start, `"input_tokens":52`, `"cache_read_input_tokens":48`)
	inOrder(t, string(enc.Event(nil, done(turn.Ended))), `"message_delta"`, `"cache_read_input_tokens":64`)
}

func TestBug26_WholeUsage(t *testing.T) {
	doc := messages{}.Document(&turn.Turn{ID: "t", Model: "m"})
	doc.Add(done(turn.Ended))
	_, body := doc.JSON()
	inOrder(t, string(body), `"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}`)
}

// TestBug29_TypedTools (vllm-project/vllm#46790): tools that run at Anthropic
// have no schema.
func TestBug29_TypedTools(t *testing.T) {
	got := decoded(t, turn.Messages, shortBodies[turn.Messages]+`,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":8},{"type":"mcp_toolset","mcp_server_name":"x"},{"type":"bash_20250124","name":"bash"},{"name":"mine","input_schema":{}}],"tool_choice":{"type":"auto"}}`)
	if len(got.Tools) != 1 || got.Tools[0].Name != "mine" {
		t.Errorf("got %+v", got.Tools)
	}
}

// TestBug31_NoGrammar (lmstudio-ai/lmstudio-bug-tracker#2236): schemas of tools
// hold what no grammar knows; nobody asks for one.
func TestBug31_NoGrammar(t *testing.T) {
	got := decoded(t, turn.Messages, shortBodies[turn.Messages]+`,"tools":[{"name":"x","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","type":["object",7],"propertyNames":{"pattern":"("},"additionalProperties":false,"anyOf":[]}}]}`)
	if got.Format.Kind != turn.FreeText || got.Tools[0].Strict || !json.Valid(got.Tools[0].Schema) {
		t.Errorf("got %+v", got)
	}
}

// TestBug34_OnlyFlaggedToolsAreDeferred (zai-org/feedback#172): the beta of
// tool search hides nothing by itself.
func TestBug34_OnlyFlaggedToolsAreDeferred(t *testing.T) {
	body := shortBodies[turn.Messages] + `,"tools":[{"name":"a"},{"name":"b","defer_loading":false},{"name":"c","defer_loading":null},{"name":"d","defer_loading":true},{"name":"DeferredToolPlaceholder","defer_loading":true}]}`
	got, err := messages{}.Decode([]byte(body), withHeaders("anthropic-beta: advanced-tool-use-2025-11-20"), nil)
	if err != nil || len(got.Tools) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, tool := range got.Tools {
		if tool.Deferred != (tool.Name == "d") {
			t.Errorf("%s: deferred %v", tool.Name, tool.Deferred)
		}
	}
}

// codexLike are tools as Codex sends them.
const codexLike = `"tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{}},` +
	`{"type":"namespace","name":"multi_agent_v1","tools":[{"type":"function","name":"spawn_agent","parameters":{}}]},` +
	`{"type":"web_search","external_web_access":true,"search_content_types":["text"]},{"type":"image_generation"},` +
	`{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}]`

// TestBug36_ToolsOfCodex (ggml-org/llama.cpp#20156): what is not supported is
// skipped, namespaces are flattened.
func TestBug36_ToolsOfCodex(t *testing.T) {
	got := decoded(t, turn.Responses, shortBodies[turn.Responses]+`,`+codexLike+`}`)
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
	}
	if s := strings.Join(names, " "); s != "exec_command multi_agent_v1__spawn_agent apply_patch" {
		t.Errorf("got %s", s)
	}
}

// TestBug39_Probe (ikawrakow/ik_llama.cpp#1964): metadata is tolerated, and an
// empty input that asks for one token.
func TestBug39_Probe(t *testing.T) {
	got := decoded(t, turn.Responses, `{"model":"m","input":[],"max_output_tokens":1,"client_metadata":{"a":"b"},"prompt_cache_key":"k","store":false,"include":["reasoning.encrypted_content"]}`)
	if got.Who.Kind != kindProbe {
		t.Errorf("got %+v", got.Who)
	}
}

// TestBug40_ThereAndBack (gty111/gLLM#267): types, namespaces and raw input
// come back as they went, whatever stands between.
func TestBug40_ThereAndBack(t *testing.T) {
	tn := decoded(t, turn.Responses, `{"model":"m","input":[{"role":"user","content":"a"},{"role":"developer","content":"b"}],`+codexLike+`}`)
	if s := sketch(tn.Messages); s != "user \"a\"\nsystem \"b\"" {
		t.Errorf("got %s", s)
	}
	doc := responses{}.Document(tn)
	for _, e := range join(calls(0, "multi_agent_v1__spawn_agent", `{"n":1}`), calls(1, "apply_patch", `{"input":"*** Begin"}`), done(turn.Called)) {
		doc.Add(e)
	}
	_, body := doc.JSON()
	var answer struct{ Output json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	inOrder(t, string(answer.Output), `"type":"function_call"`, `"name":"spawn_agent","namespace":"multi_agent_v1","arguments":"{\"n\":1}"`,
		`"type":"custom_tool_call"`, `"name":"apply_patch","input":"*** Begin"`)
	back := decoded(t, turn.Responses, `{"model":"m","input":`+string(answer.Output)+`,`+codexLike+`}`)
	if s := sketch(back.Messages); s != `assistant call(id0 multi_agent_v1__spawn_agent {"n":1}) call(id1 apply_patch {"input":"*** Begin"})` {
		t.Errorf("back came %s", s)
	}
	if compact := decoded(t, turn.Responses, `{"model":"m","input":"x","tools":[],"tool_choice":"auto"}`); len(compact.Tools) != 0 || compact.ToolChoice.Mode != "auto" {
		t.Errorf("got %+v", compact)
	}
}

// TestBug41_UnknownToolFields (lidge-jun/opencodex#3204): they are ignored; a
// grammar that is not enforced is told to the model.
func TestBug41_UnknownToolFields(t *testing.T) {
	got := decoded(t, turn.Responses, shortBodies[turn.Responses]+`,`+codexLike+`}`)
	patch := got.Tools[2]
	if !patch.Custom || !strings.Contains(patch.Description, "start: x") || !strings.Contains(string(patch.Schema), `"input"`) {
		t.Errorf("got %+v", patch)
	}
}

// TestBug43_Items (vllm-project/vllm#33089): a loop is replayed as items.
func TestBug43_Items(t *testing.T) {
	got := decoded(t, turn.Responses, `{"model":"m","input":[{"type":"message","id":"msg_1","status":"completed","role":"user","content":[{"type":"input_text","text":"a"}]},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"theirs"},
		{"type":"function_call","id":"fc_1","status":"completed","call_id":"c","name":"ls","arguments":"{}"},
		{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"r"}]},
		{"type":"message","role":"assistant","content":null}]}`)
	want := "user \"a\"\nassistant think(\"\" \"theirs\") call(c ls {})\ntool result(c \"r\")\nassistant"
	if s := sketch(got.Messages); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// TestBug44_TerminalEvent (ollama/ollama#14600), TestBug45 (#17118) and
// TestBug46 (ai-dynamo/dynamo#12442): a response ends with completed,
// incomplete or failed, and a failure says what failed.
func TestBug44_TerminalEvent(t *testing.T) {
	for want, last := range map[string]turn.Event{
		"response.completed": done(turn.Ended), "response.incomplete": done(turn.Cut),
		"response.failed": fails(turn.ErrLost),
	} {
		events := parseSSE(t, []byte(wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Responses}, think("hm"), last)))
		if got := events[len(events)-1].name; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestBug45_FailsAfterReasoning(t *testing.T) {
	for _, d := range []turn.Dialect{turn.Messages, turn.Responses, turn.Chat} {
		wire := wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: d}, think("hm"), fails(turn.ErrLost))
		inOrder(t, wire, map[turn.Dialect]string{turn.Messages: `event: error`, turn.Responses: `response.failed`, turn.Chat: `data: {"error":`}[d], `worker was lost`)
	}
}

func TestBug46_FailureSaysWhy(t *testing.T) {
	wire := wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Responses}, fails(turn.ErrLost))
	inOrder(t, wire, `response.failed`, `"status":"failed"`, `"error":{"code":"server_error","message":"the worker was lost`)
}

// TestBug48_Heartbeat (openai/codex#31539) and TestBug49 (BenedictKing/ccx#67):
// a sign of life is an event with data, also before anything else was sent.
func TestBug48_Heartbeat(t *testing.T) {
	for d, want := range map[turn.Dialect]string{
		turn.Messages: `{"type":"ping"}`, turn.Responses: `"type":"response.in_progress"`, turn.Chat: `"delta":{}`,
	} {
		enc := For(d).Stream(&turn.Turn{ID: "t", Model: "m", Dialect: d})
		inOrder(t, string(enc.Ping(nil)), "data: ", want)
	}
}

func TestBug49_HeartbeatWhileThinking(t *testing.T) {
	enc := responses{}.Stream(&turn.Turn{ID: "t", Model: "m"})
	wire := enc.Event(nil, think("hm"))
	wire = enc.Ping(wire)
	wire = enc.Event(enc.Event(wire, think(" so")), done(turn.Ended))
	responsesClient{}.stream(t, parseSSE(t, (&script{events: []turn.Event{think("hm"), done(turn.Ended)}}).playSlowly(turn.Responses)))
	inOrder(t, string(wire), "reasoning_text.delta", "response.in_progress", "reasoning_text.delta")
}

// TestBug50_ReasoningThenCalls (musistudio/claude-code-router#1397): the
// arguments of a call after thinking arrive whole, however they were split.
func TestBug50_ReasoningThenCalls(t *testing.T) {
	s := script{events: join(think("let me"), calls(0, "ls", `{"p`, `ath"`, `:"a`, `\n"`, `}`), done(turn.Called))}
	for d, c := range clients {
		got := c.stream(t, parseSSE(t, s.play(d)))
		if len(got.Calls) != 1 || got.Calls[0].Args != `{"path":"a\n"}` || got.Thinking != "let me" {
			t.Errorf("%s: %+v", d, got)
		}
	}
}

// TestBug52_TooLong (jundot/omlx#26) and TestBug55
// (Alishahryar1/free-claude-code#391): the words by which clients compact.
func TestBug52_TooLong(t *testing.T) {
	p := &Problem{Kind: TooLong, Prompt: 9000, Limit: 8192}
	inOrder(t, string(messages{}.Problem(p, "req_1")), `"type":"error"`, `"type":"invalid_request_error"`, `"prompt is too long: 9000 tokens > 8192 maximum"`, `"request_id":"req_1"`)
	for _, d := range []turn.Dialect{turn.Chat, turn.Responses} {
		inOrder(t, string(For(d).Problem(p, "")), `maximum context length is 8192 tokens`, `"context_length_exceeded"`)
	}
}

func TestBug55_ErrorsOfAnthropic(t *testing.T) {
	for kind := Invalid; kind <= Internal; kind++ {
		var body struct {
			Type  string
			Error struct{ Type, Message string }
		}
		p := &Problem{Kind: kind, Message: "m"}
		if err := json.Unmarshal(messages{}.Problem(p, "r"), &body); err != nil || body.Type != "error" || !strings.HasSuffix(body.Error.Type, "_error") && body.Error.Type != "request_too_large" {
			t.Errorf("kind %d: %+v, %v", kind, body, err)
		}
	}
}

// TestBug54_LargeLimits (anthropics/claude-code#476): a limit over any context
// is no fault of the request, nor is a budget that fills it.
func TestBug54_LargeLimits(t *testing.T) {
	got := decoded(t, turn.Messages, `{"model":"m","max_tokens":128000,"thinking":{"type":"enabled","budget_tokens":128000},"messages":[{"role":"user","content":"hi"}]}`)
	if got.MaxTokens != 128000 || got.Thinking.Mode != "on" {
		t.Errorf("got %+v", got)
	}
}

// TestBug61_FinishReason (waybarrios/vllm-mlx#628): a natural end has a chunk
// that says so, then the mark of the end.
func TestBug61_FinishReason(t *testing.T) {
	inOrder(t, wireOf(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Chat}, says("x"), done(turn.Ended)), `"delta":{},"finish_reason":"stop"`, "data: [DONE]")
}

// TestBug65_ReasoningStays (ollama/ollama#12158): reasoning is kept when tool
// messages are in the history.
func TestBug65_ReasoningStays(t *testing.T) {
	got := decoded(t, turn.Chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`)
	inOrder(t, sketch(got.Messages), `assistant think("hm" "") call(c ls {})`, `tool result(c "r")`)
}

// TestBug67_Safeguards (docs.litellm.ai/docs/claude_code_auto_mode): the field
// does no harm, and no verdict is made up.
func TestBug67_Safeguards(t *testing.T) {
	got := decoded(t, turn.Messages, shortBodies[turn.Messages]+`,"safeguards":[{"type":"dangerous_tool_use","classifier_context":{"cwd":"/secret"}}]}`)
	wire := wireOf(got, says("x"), done(turn.Ended))
	if kept, _ := json.Marshal(got); strings.Contains(string(kept), "/secret") || strings.Contains(wire, "safeguard") {
		t.Errorf("kept %s, answered %s", kept, wire)
	}
}
