package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestOverrides: a turn may name its strategy, in its body or by header; what
// does not count is told, or refused where strictness was asked for.
func TestOverrides(t *testing.T) {
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: aWord}, &puppet{name: "w2", caps: caps(4000), play: aWord})
	st.s.SetKeys([]turn.Key{key("may", "1", func(k *turn.Key) { k.Route = true }), key("maynot", "2")})
	for _, c := range []struct {
		name, secret, more, header string
		status                     int
		says                       string
		moves                      bool
	}{
		{"nothing", "1", ``, "", 200, "", false},
		{"ours", "1", `,"nvext":{"router":{"strategy":"round-robin"}}`, "", 200, "", true},
		{"Dynamo's", "1", `,"nvext":{"router_config_override":{"strategy":"round-robin","router_temperature":0}}`, "", 200, "", true},
		{"a header", "1", `,"nvext":{"router":{"strategy":"kv"}}`, "round-robin", 200, "", true},
		{"unknown", "1", ``, "best", 200, "no strategy is named best; there are dyn, kv, lmetric", false},
		{"with knobs", "1", ``, "dynamo:prefill=2:temperature=0", 200, "", false},
		{"with a knob that is none", "1", ``, "dynamo:prefil=2", 200, `strategy dynamo: no knob "prefil"; there are active`, false},
		{"a file", "1", ``, "/tmp/rule.star", 200, "no strategy is named /tmp/rule.star", false},
		{"unknown and strict", "1", `,"nvext":{"strict":true}`, "best", 400, "no strategy is named best", false},
		{"may not", "2", ``, "round-robin", 200, "the key maynot may not", false},
		{"may not and strict", "2", `,"nvext":{"strict":true}`, "round-robin", 403, "dyn key add --route", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[any]bool{}
			for range 4 {
				a := ask(t, "POST", st.url+chatPath, says(strings.Repeat("hello "+c.name, 100), `,"max_tokens":4`+strings.Replace(c.more, `"nvext":{`, `"nvext":{"extra_fields":["worker_id"],`, 1)),
					"x-api-key", c.secret, "x-dyn-router-strategy", c.header, "x-dyn-extra-fields", "worker_id")
				if said := a.header.Get(warnHeader) + a.body; a.status != c.status || !strings.Contains(said, c.says) || c.says == "" && a.header.Get(warnHeader) != "" {
					t.Fatalf("%d %q %s", a.status, a.header.Get(warnHeader), a.body)
				}
				seen[dig(doc(t, a.body), "nvext", "worker_id", "decode_worker_id")] = true
			}
			if len(seen) > 1 != c.moves {
				t.Errorf("it was at %v", seen)
			}
		})
	}
}

// TestOverridesAreKept: the decision tells by which strategy it was made, and
// what was set for it.
func TestOverridesAreKept(t *testing.T) {
	r := newRig(t, 1)
	r.post(chatPath, says("hi", `,"max_tokens":4,"nvext":{"router":{"strategy":"round-robin","temperature":0.5}}`))
	if d := r.rows(1)[0].Decision; !strings.Contains(d, `"strategy":"round-robin","set":{"temperature":0.5}`) {
		t.Errorf("decision %s", d)
	}
}

// TestBestWorker: what is told is what would be done, for a prompt in each of
// its forms, and nothing of another key's.
func TestBestWorker(t *testing.T) {
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: aWord}, &puppet{name: "w2", caps: caps(4000), play: aWord})
	st.s.SetKeys([]turn.Key{key("a", "1"), key("b", "2")})
	text := strings.Repeat("hello ", 500)
	ids := list(simModel(t).Tokenizer().EncodePrompt(nil, text))
	ask(t, "POST", st.url+"/v1/completions", `{"model":"sim","prompt":`+quote(text)+`,"max_tokens":4}`, "x-api-key", "1", "x-dyn-worker", "w2")
	ask(t, "POST", st.url+chatPath, says(text, ""), "x-api-key", "1", "x-dyn-worker", "w2")
	for _, body := range []string{
		`{"token_ids":` + ids + `}`, `{"model":"sim","prompt":` + quote(text) + `}`, `{"model":null,"prompt":` + ids + `,"messages":null}`, says(text, ""),
	} {
		a := ask(t, "POST", st.url+"/v1/route/best_worker", body, "x-api-key", "1")
		got := doc(t, a.body)
		block, held := num(got["block_size"]), num(got["overlap_tokens"])
		if a.status != 200 || got["worker_id"] != "w2" || block != 16 || held < 400 || num(got["overlap_blocks"]) != held/block || got["waits"] != false || got["strategy"] != "dyn" {
			t.Errorf("%.60s: %d %s", body, a.status, a.body)
		}
		if a := ask(t, "POST", st.url+"/v1/route/best_worker", body, "x-api-key", "2"); num(doc(t, a.body)["overlap_tokens"]) != 0 {
			t.Errorf("%.60s: another key is told %s", body, a.body)
		}
	}
	a := ask(t, "POST", st.url+"/v1/route/best_worker", `{"prompt":"hi"}`, "x-api-key", "1", "x-dyn-worker", "w1")
	if doc(t, a.body)["worker_id"] != "w1" || doc(t, a.body)["booked"] != false || a.header.Get(warnHeader) != "" {
		t.Errorf("pinned: %q %s", a.header.Get(warnHeader), a.body)
	}
	for body, says := range map[string]string{
		`{}`: "token_ids, prompt or messages must be given", `{"token_ids":"x"}`: "", `{"token_ids":[99999999]}`: "is no token of this model", `[]`: "the body must be an object, not array", `{"model":"other","prompt":"x"}`: "does not exist",
		`{"token_ids":[1,-1]}`: `"param":"token_ids[1]"`,
		`{"prompt":"x","router_config_override":{"router_temperature":-1}}`: "must be a number from 0",
	} {
		if a := ask(t, "POST", st.url+"/v1/route/best_worker", body, "x-api-key", "1"); a.status/100 != 4 || !strings.Contains(a.body, says) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if n := len(st.aloft()); n != 0 {
		t.Errorf("%d turns are aloft", n)
	}
}

// TestLoads: a key is told of its own turns, who needs none of all; one more
// turn adds what is not there.
func TestLoads(t *testing.T) {
	stall := func(ctx context.Context, _ turn.Job) (turn.Stream, error) { return &script{ctx: ctx}, nil }
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: stall}, &puppet{name: "w2", caps: caps(4000), play: stall})
	tell := func(path, body, secret string) (loads map[string]string) {
		a := ask(t, "POST", st.url+"/v1/route/"+path, body, "x-api-key", secret)
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		loads = map[string]string{}
		for _, w := range doc(t, a.body)["workers"].([]any) {
			prefill, blocks := dig(w, "active_prefill_tokens"), dig(w, "active_decode_blocks")
			if path == "potential_loads" {
				prefill, blocks = dig(w, "potential_prefill_tokens"), dig(w, "potential_decode_blocks")
			}
			loads[str(dig(w, "worker_id"))] = fmt.Sprint(dig(w, "active_requests"), " ", prefill, " ", blocks)
		}
		return loads
	}
	st.s.SetKeys([]turn.Key{key("a", "1"), key("b", "2")})
	prompt := func(tokens int) string {
		return `{"token_ids":[` + strings.Repeat("300,", tokens-1) + `300],"model":"sim","prompt":[` + strings.Repeat("300,", tokens-1) + `300]}`
	}
	for _, n := range []int{160, 168} { // they share ten blocks
		go st.post(t.Context(), "/v1/completions", prompt(n), "x-api-key", "1", "x-dyn-worker", "w1")
	}
	st.until("both are under way", func() bool { return st.s.Snapshot().Queue.Prefill == 2 })
	if got := fmt.Sprint(tell("loads", "", "1")); !strings.HasPrefix(got, "map[w1:2 ") || !strings.HasSuffix(got, " 11 w2:0 0 0]") {
		t.Errorf("loads: %s", got)
	}
	if got := fmt.Sprint(tell("loads", `{"model":"sim"}`, "2")); got != "map[w1:0 0 0 w2:0 0 0]" {
		t.Errorf("another key is told %s", got)
	}
	got := tell("potential_loads", prompt(176), "1")
	if !strings.HasPrefix(got["w1"], "2 ") || !strings.HasSuffix(got["w1"], " 12") || got["w2"] != "0 176 11" {
		t.Errorf("potential: %v", got)
	}
	if got := tell("potential_loads", prompt(176), "2"); got["w1"] != "0 176 11" {
		t.Errorf("another key is told %v", got)
	}
	st.s.SetKeys(nil)
	if a := ask(t, "GET", st.url+"/v1/route/loads", ""); a.status != 200 || !strings.Contains(a.body, `"active_requests":2`) {
		t.Errorf("without keys: %d %s", a.status, a.body)
	}
	st.s.AddModel(Model{ID: "other", Prompt: simModel(t)})
	for path, want := range map[string]string{"?model=sim": `"active_requests":2`, "?model=other": `"workers":[]`, "?model=no": "does not exist", "": "2 models are served"} {
		if a := ask(t, "GET", st.url+"/v1/route/loads"+path, ""); !strings.Contains(a.body, want) {
			t.Errorf("GET %s: %d %s", path, a.status, a.body)
		}
		if a := ask(t, "POST", st.url+"/v1/route/potential_loads"+path, `{"prompt":"hi"}`); path == "?model=sim" && a.status != 200 || path == "?model=no" && a.status != 404 {
			t.Errorf("POST %s: %d %s", path, a.status, a.body)
		}
	}
	if a := ask(t, "GET", st.url+"/openapi.json", ""); !strings.Contains(a.body, `{"in":"query","name":"model","schema":{"type":"string"}}`) {
		t.Error("the description does not have the parameter")
	}
}
