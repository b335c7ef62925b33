package dialect

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// withHeaders returns a look-up of "name: value" lines.
func withHeaders(lines string) func(string) string {
	return func(name string) string {
		if name == OurHeaders {
			var names []string
			for line := range strings.Lines(lines) {
				names = append(names, strings.ToLower(line[:strings.Index(line, ": ")]))
			}
			return strings.Join(names, ",")
		}
		for line := range strings.Lines(lines) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.EqualFold(k, name) {
				return v
			}
		}
		return ""
	}
}

// TestHints reads hints in every spelling, the same in every dialect.
func TestHints(t *testing.T) {
	zero, half, two := 0.0, 0.5, 2.0
	for _, c := range []struct {
		name, body, headers string
		want                turn.Hints
		salt                string
	}{
		{"none", ``, ``, turn.Hints{}, ""},
		{
			"all of agent_hints", `"nvext":{"agent_hints":{"osl":512,"speculative_prefill":true,"priority":3,"strict_priority":2,"agent_state":"testing","turns_left":4,"latency_class":"batch","tool_eta_ms":1500,"session_final":true,"ephemeral":true}}`, ``,
			turn.Hints{Ephemeral: true, OSL: 512, Prefill: true, Priority: 3, Strict: 2, State: "testing", TurnsLeft: 4, Batch: true, ToolETA: 1500 * time.Millisecond, Final: true},
			"",
		},
		{"no turns left", `"nvext":{"agent_hints":{"turns_left":0}}`, ``, turn.Hints{Final: true}, ""},
		{"no turns left, in a header", ``, "x-dyn-turns-left: 0\nx-dyn-ephemeral: true", turn.Hints{Final: true, Ephemeral: true}, ""},
		{
			"nulls", `"nvext":{"agent_hints":{"osl":null,"priority":null,"session_final":null},"cache_control":null,"annotations":null,"extra_fields":null,"novel":null}`, ``,
			turn.Hints{},
			"",
		},
		{
			"of old", `"nvext":{"agent_hints":{"latency_sensitivity":2.5},"cache_control":{"type":"ephemeral","ttl":"30m"},"session_control":{"session_id":"s","action":"close","timeout":300},"backend_instance_id":7,"greed_sampling":false}`, ``,
			turn.Hints{Priority: 2, Lease: 30 * time.Minute, Final: true, Worker: "7"},
			"",
		},
		{
			"asks", `"nvext":{"extra_fields":["worker_id","timing"],"worker":"w2","cache_salt":"a"},"cache_salt":"b"`, ``,
			turn.Hints{Extra: []string{"worker_id", "timing"}, Worker: "w2"},
			"a",
		},
		{
			"not known", `"nvext":{"token_data":[1],"annotations":["llm_metrics"],"agent_hints":{"mood":1},"session_control":{"x":1}}`, ``,
			turn.Hints{Unknown: []string{"token_data", "annotations.llm_metrics", "agent_hints.mood", "session_control.x"}},
			"",
		},
		{
			"headers of Dynamo", `"nvext":{"agent_hints":{"priority":3},"worker":"w2"}`,
			"x-dynamo-request-priority: 5\nx-dynamo-request-strict-priority: 1\nX-Dynamo-Worker-Instance-Id: 9\nX-Dynamo-Session-Final: true\nx-tenant-id: t",
			turn.Hints{Priority: 5, Strict: 1, Worker: "9", Final: true},
			"t",
		},
		{
			"our headers", `"cache_salt":"b"`,
			"x-dyn-agent-state: planning\nx-dyn-turns-left: 2\nx-dyn-latency-class: batch\nx-dyn-tool-eta-ms: 250\nx-dyn-session-final: 1\nx-dyn-osl: 9\nx-dyn-priority: -1\nx-dyn-strict-priority: 3\nx-dyn-speculative-prefill: true\nx-dyn-worker: w1\nx-dyn-extra-fields: timing, hit\nx-tenant-id: t",
			turn.Hints{State: "planning", TurnsLeft: 2, Batch: true, ToolETA: 250 * time.Millisecond, Final: true, OSL: 9, Priority: -1, Strict: 3, Prefill: true, Worker: "w1", Extra: []string{"timing", "hit"}},
			"b",
		},
		{
			"headers that cannot be read", ``, "x-dyn-turns-left: many\nx-dyn-session-final: perhaps\nx-dynamo-request-strict-priority: -1",
			turn.Hints{Unknown: []string{"x-dynamo-request-strict-priority", "x-dyn-session-final", "x-dyn-turns-left"}},
			"",
		},
		{
			"headers of ours that are none", ``, "X-Dyn-Mood: good\nx-dyn-osl: 9\nx-dyn-session-id: s\nx-dyn-strict: false\nx-dynamo-mood: bad",
			turn.Hints{OSL: 9, Unknown: []string{"x-dyn-mood"}},
			"",
		},
		{
			"the router's, ours", `"nvext":{"router":{"strategy":"kv","temperature":0,"prefill_weight":2,"overlap_credit":0.5,"ttft_target":1}}`, ``,
			turn.Hints{Route: turn.Overrides{Strategy: "kv", Temperature: &zero, PrefillWeight: &two, OverlapCredit: &half}, Unknown: []string{"router.ttft_target"}},
			"",
		},
		{
			"the router's, of Dynamo", `"router_config_override":{"router_temperature":0.5,"overlap_score_weight":0,"assume_kv_reuse":true}`, ``,
			turn.Hints{Route: turn.Overrides{Temperature: &half, PrefillWeight: &zero, OverlapCredit: &zero}, Unknown: []string{"router_config_override.assume_kv_reuse"}},
			"",
		},
		{
			"the router's, by header", `"nvext":{"router_config_override":{"strategy":"kv","prefill_load_scale":2,"overlap_score_credit":0.5}}`,
			"x-dyn-router-strategy: random\nx-dyn-router-temperature: 2\nx-dyn-router-prefill-weight: much\nx-dyn-router-overlap-credit: 0",
			turn.Hints{Route: turn.Overrides{Strategy: "random", Temperature: &two, PrefillWeight: &two, OverlapCredit: &zero}, Unknown: []string{"x-dyn-router-prefill-weight"}},
			"",
		},
		{
			"a class that there is not", `"nvext":{"agent_hints":{"latency_class":"soon"}}`, "x-dyn-latency-class: later",
			turn.Hints{Unknown: []string{"latency_class.soon", "x-dyn-latency-class"}},
			"",
		},
		{
			"the class of who waits", `"nvext":{"agent_hints":{"latency_class":"interactive"}}`, "x-dyn-latency-class: interactive",
			turn.Hints{},
			"",
		},
	} {
		for d, start := range shortBodies {
			got, err := For(d).Decode([]byte(start+strings.TrimSuffix(","+c.body, ",")+`}`), withHeaders(c.headers), nil)
			if err != nil {
				t.Errorf("%s, %s: %v", d, c.name, err)
				continue
			}
			if !reflect.DeepEqual(got.Hints, c.want) || got.Salt != c.salt {
				t.Errorf("%s, %s: got\n%+v, salt %q\nwant\n%+v, salt %q", d, c.name, got.Hints, got.Salt, c.want, c.salt)
			}
		}
	}
}

// shortBodies are bodies of each dialect, without their closing brace.
var shortBodies = map[turn.Dialect]string{
	turn.Messages:  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`,
	turn.Responses: `{"model":"m","input":"hi"`,
	turn.Chat:      `{"model":"m","messages":[{"role":"user","content":"hi"}]`,
}

// TestStrictHints: who asks for strictness is told what is not known, be it by
// header.
func TestStrictHints(t *testing.T) {
	for d, start := range shortBodies {
		for _, c := range []struct{ body, headers string }{
			{`,"nvext":{"mood":1,"strict":true}}`, ``},
			{`,"nvext":{"mood":1}}`, `x-dyn-strict: true`},
			{`,"nvext":{"mood":1}}`, `x-dyn-strict: 1`},
			{`}`, "x-dyn-strict: true\nX-Dyn-Mood: good"},
			{`,"nvext":{"strict":true}}`, `x-dyn-mood: good`},
		} {
			_, err := For(d).Decode([]byte(start+c.body), withHeaders(c.headers), nil)
			if err == nil || !strings.Contains(err.Error(), "mood") {
				t.Errorf("%s: %v", d, err)
			}
		}
		if _, err := For(d).Decode([]byte(start+`,"nvext":{"worker":"w","strict":true}}`), nil, nil); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
}

// TestBadOverrides: a weight that is none is an error, whichever way it is
// written.
func TestBadOverrides(t *testing.T) {
	for _, bad := range []string{`"temperature":-1`, `"prefill_weight":1e300`, `"overlap_credit":"all"`, `"strategy":7`} {
		for _, at := range []string{`,"nvext":{"router":{` + bad + `}}}`, `,"router_config_override":{` + bad + `}}`} {
			if got, err := For(turn.Chat).Decode([]byte(shortBodies[turn.Chat]+at), nil, nil); err == nil {
				t.Errorf("%s is taken: %+v", at, got.Hints.Route)
			}
		}
	}
}

// TestHintsAreBounded: what is not known takes little room.
func TestHintsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"%s%d":1,`, strings.Repeat("n", 1000), i)
	}
	got := decoded(t, turn.Chat, shortBodies[turn.Chat]+`,"nvext":{`+b.String()+`"x":1}}`)
	if n := len(got.Hints.Unknown); n != unknownMost || len(got.Hints.Unknown[0]) > identityMost {
		t.Errorf("%d names, the first %q", n, got.Hints.Unknown[0])
	}
}

// TestSamplingOfOpenModels reads what the APIs themselves do not have.
func TestSamplingOfOpenModels(t *testing.T) {
	for d, start := range shortBodies {
		got := decoded(t, d, start+`,"min_p":0.1,"repetition_penalty":1.1,"stop_token_ids":[1,4294967295],"min_tokens":3,"ignore_eos":true,"logit_bias":{"5":-100,"6":1.5},"nvext":{"greed_sampling":true}}`)
		s := got.Sampling
		if *s.MinP != 0.1 || *s.Repetition != 1.1 || !reflect.DeepEqual(s.StopIDs, []uint32{1, 1<<32 - 1}) || s.MinTokens != 3 ||
			!s.IgnoreEnd || string(s.Bias) != `{"5":-100,"6":1.5}` || s.Temperature == nil || *s.Temperature != 0 {
			t.Errorf("%s: %+v", d, s)
		}
	}
}

// TestFormats reads the forms that answers must have.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		d    turn.Dialect
		body string
		want turn.Format
	}{
		{turn.Chat, `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"a": 1},"strict":true}}`, turn.Format{Kind: turn.JSONSchema, Name: "n", Schema: []byte(`{"a": 1}`), Strict: true}},
		{turn.Chat, `"response_format":{"type":"json_object"}`, turn.Format{Kind: turn.JSONObject}},
		{turn.Chat, `"response_format":{"type":"text"}`, turn.Format{}},
		{turn.Chat, `"response_format":null`, turn.Format{}},
		{turn.Responses, `"text":{"format":{"type":"json_schema","name":"n","schema":{},"strict":false},"verbosity":"low"}`, turn.Format{Kind: turn.JSONSchema, Name: "n", Schema: []byte(`{}`)}},
		{turn.Responses, `"text":{"verbosity":"low"}`, turn.Format{}},
		{turn.Messages, `"output_config":{"effort":"low","format":{"type":"json_schema","schema":{}}}`, turn.Format{Kind: turn.JSONSchema, Schema: []byte(`{}`)}},
		{turn.Messages, `"output_format":{"type":"json_schema","schema":{}}`, turn.Format{Kind: turn.JSONSchema, Schema: []byte(`{}`)}},
	} {
		if got := decoded(t, c.d, shortBodies[c.d]+","+c.body+"}"); !reflect.DeepEqual(got.Format, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.body, got.Format, c.want)
		}
	}
}
