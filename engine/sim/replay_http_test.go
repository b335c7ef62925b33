package sim

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/brain"
)

// recordedFlags are the flags of the recorded server.
var recordedFlags = []string{
	"--served-model-name", "tiny", "--max-model-len", "4096", "--block-size", "32",
	"--max-num-batched-tokens", "2048", "--scheduling-policy", "priority",
	"--num-gpu-blocks-override", "65536",
}

// The simulated engine refuses these kinds and says so, or compares by status
// alone where the words are a grammar engine's.
var (
	refusedKinds = []string{
		"completion-logprobs", "completion-n2", "completion-batch", "completion-structured-choice",
		"completion-structured-json", "completion-response-format-schema",
		"completion-structural-tag", "completion-structural-tag-legacy",
	}
	statusOnly = []string{
		"completion-structured-bad-regex", "completion-structured-bad-schema",
		"completion-structured-two", "completion-structural-tag-object",
	}
	sampledKinds = []string{"completion-default-sampling", "request-id-header-echo"}
)

func in(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

// TestRecordedCompletions replays every recorded completion exchange that
// stands alone.
func TestRecordedCompletions(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), recordedFlags...)
	played := 0
	for name, e := range all {
		if !strings.HasPrefix(name, "completion-") && name != "utf8-split-stream" {
			continue
		}
		played++
		t.Run(name, func(t *testing.T) {
			r.t = t
			want := recorded(t, e)
			r.script.say(scripted(want))
			if in(refusedKinds, name) {
				if got := r.play(e); got.Status != 400 || !strings.Contains(words(got), "not supported by the simulated engine") {
					t.Fatalf("want a refusal, got %+v", got)
				}
				return
			}
			got := r.play(e)
			if in(statusOnly, name) {
				want = outcome{Status: want.Status}
				got = outcome{Status: got.Status}
			}
			if in(sampledKinds, name) {
				unsay(&want)
				unsay(&got)
			}
			same(t, want, got)
		})
	}
	if played != 53 {
		t.Errorf("want 53 exchanges, got %d", played)
	}
	r.t = t
}

// scripted is what the recorded model said. Where it was stopped, more is
// scripted than is wanted, so that the engine has to stop by itself.
func scripted(o outcome) brain.Answer {
	var a brain.Answer
	for _, id := range o.IDs {
		a.IDs = append(a.IDs, uint32(id))
	}
	if o.Finish == "stop" && (len(a.IDs) == 0 || a.IDs[len(a.IDs)-1] != 151645) {
		a.IDs = append(a.IDs, 135378, 26798, 135378, 26798)
	}
	if len(a.IDs) == 0 {
		a.IDs = []uint32{135378, 26798, 135378, 26798, 135378, 26798, 135378, 26798}
	}
	return a
}

// words is the message of an error document.
func words(o outcome) string {
	doc, _ := o.Document.(map[string]any)
	e, _ := doc["error"].(map[string]any)
	m, _ := e["message"].(string)
	return m
}

// unsay takes out what was sampled.
func unsay(o *outcome) {
	o.Text, o.IDs = "", nil
	doc := o.Document.(map[string]any)
	doc["choices"].([]any)[0].(map[string]any)["text"] = ""
}

// TestRecordedRoutes replays the other routes.
func TestRecordedRoutes(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), append(recordedFlags, "--kv-events-config", ephemeral("kv"))...)
	for _, name := range []string{
		"tokenize-prompt", "tokenize-chat", "tokenize-chat-nothink", "detokenize", "models", "version", "health", "ping", "notfound",
		"kv_event_sources", "toolparser-kv_event_sources", "reset_prefix_cache", "tokenizer_info", "load",
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			want, got := recorded(t, all[name]), r.play(all[name])
			for _, o := range []*outcome{&want, &got} {
				doc, _ := o.Document.(map[string]any)
				forget(doc)
			}
			same(t, want, got)
		})
	}
	r.t = t
}

// forget takes out what differs from server to server.
func forget(doc map[string]any) {
	for _, key := range []string{"created", "root", "endpoint", "replay_endpoint"} {
		delete(doc, key)
	}
	if doc["object"] == "model_permission" {
		delete(doc, "id")
	}
	for _, v := range doc {
		switch v := v.(type) {
		case map[string]any:
			forget(v)
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					forget(m)
				}
			}
		}
	}
}

func ephemeral(topic string) string {
	return `{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0","topic":"` + topic + `"}`
}

// TestRecordedHeader replays what differs with --enable-request-id-headers.
func TestRecordedHeader(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), append(recordedFlags, "--enable-request-id-headers")...)
	r.script.say(brain.Answer{IDs: []uint32{135378}})
	e := all["request-id-header-echo"]
	want, got := recorded(t, e), r.play(e)
	unsay(&want)
	unsay(&got)
	same(t, want, got)
}

// TestRecordedKey replays the server with a key and first come, first served.
func TestRecordedKey(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), drainFlags...)
	r.script.say(brain.Answer{IDs: []uint32{52027, 115345}})
	for _, name := range []string{"auth-missing", "auth-wrong", "kv_event_sources-ephemeral"} {
		want, got := recorded(t, all[name]), r.play(all[name])
		for _, o := range []*outcome{&want, &got} {
			doc, _ := o.Document.(map[string]any)
			forget(doc)
		}
		same(t, want, got)
	}
	e := all["priority-under-fcfs"]
	r.play(e) // the 300 ids were sent before
	same(t, recorded(t, e), r.play(e))
}

// drainFlags are those of the server with a key.
var drainFlags = []string{
	"--served-model-name", "tiny", "--max-model-len", "4096", "--block-size", "128",
	"--max-num-batched-tokens", "2048", "--api-key", "secret", "--shutdown-timeout", "20",
	"--max-num-seqs", "2", "--kv-events-config", ephemeral(""),
}
