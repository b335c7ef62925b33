package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/zmtp"
)

// line is one line of a recording of KV events.
type line struct {
	Seq    *uint64
	Frames []string
	Step   string
	Resp   struct {
		Prompt []uint32
		Out    json.RawMessage
		N      int
		Usage  struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	Payload []json.RawMessage
}

func lines(t *testing.T, name string) (all []line) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures(t, "engines/vllm"), "kv-events-"+name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var l line
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// batches are the recorded payloads.
func batches(t *testing.T, all []line) (payloads [][]byte) {
	t.Helper()
	for _, l := range all {
		if l.Seq == nil {
			continue
		}
		b, err := hex.DecodeString(l.Frames[2])
		if err != nil {
			t.Fatal(err)
		}
		payloads = append(payloads, b)
	}
	return payloads
}

// ask sends a completion as the recording's requests were sent and returns
// its cached tokens.
func (r *rig) ask(prompt []uint32, out int, more string) int {
	r.t.Helper()
	body := fmt.Sprintf(`{"prompt":%s,"max_tokens":%d,"temperature":0,"ignore_eos":true%s}`, appendIDs(nil, prompt), out, more)
	resp, err := http.Post("http://"+r.addr+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc struct {
		Usage struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != 200 {
		r.t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return doc.Usage.Details.Cached
}

// listen subscribes to the server's events.
func (r *rig) listen() *zmtp.Sub {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	sub, err := zmtp.DialSub(ctx, r.events.Config().Endpoint, "")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { sub.Close() })
	if err := sub.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	until(r.t, "the subscription arrives", func() bool { return r.events.Subscribers() == 1 })
	return sub
}

// match receives a batch for each wanted one and compares all of them, byte
// by byte but for time and hashes.
func match(t *testing.T, sub *zmtp.Sub, topic string, want [][]byte) {
	t.Helper()
	m := newMatcher()
	for i, w := range want {
		frames, err := sub.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if len(frames) != 3 || string(frames[0]) != topic || binary.BigEndian.Uint64(frames[1]) != uint64(i) {
			t.Fatalf("batch %d: frames %q", i, frames[:2])
		}
		if err := m.same(w, frames[2]); err != nil {
			t.Fatalf("batch %d: %v", i, err)
		}
	}
}

func TestRecordedPrefixEvents(t *testing.T) {
	all := lines(t, "prefix")
	r := start(t, qwen(t), append(recordedFlags, "--kv-events-config", ephemeral("kv"))...)
	sub := r.listen()
	more := map[string]string{
		"salt-a": `,"cache_salt":"tenant-a"`, "salt-a-again": `,"cache_salt":"tenant-a"`, "salt-b": `,"cache_salt":"tenant-b"`,
		"report-mode-full": `,"vllm_xargs":{"kv_cache_report_mode":"full"}`,
	}
	for _, l := range all {
		name, ended := strings.CutPrefix(l.Step, "end ")
		var out []uint32
		switch {
		case l.Step == "reset_prefix_cache":
			if !r.engine.Reset(context.Background()) {
				t.Fatal("the cache is in use")
			}
		case !ended, json.Unmarshal(l.Resp.Out, &out) != nil:
			continue // batch-n2 is an error and has no events
		default:
			r.script.say(brain.Answer{IDs: out})
			if got, want := r.ask(l.Resp.Prompt, len(out), more[name]), l.Resp.Usage.Details.Cached; got != want {
				t.Errorf("%s: want %d cached, got %d", name, want, got)
			}
		}
	}
	match(t, sub, "kv", batches(t, all))
}

func TestRecordedEvictEvents(t *testing.T) {
	all := lines(t, "evict")
	r := start(t, qwen(t), append(recordedFlags, "--num-gpu-blocks-override", "160", "--kv-events-config", ephemeral("kv"))...)
	sub := r.listen()
	prompts := wholePrompts(t, all)
	if !r.engine.Reset(context.Background()) {
		t.Fatal("the cache is in use")
	}
	for _, l := range all {
		name, ended := strings.CutPrefix(l.Step, "end ")
		if !ended {
			continue
		}
		prompt := prompts[name[len(name)-1]-'0']
		if got, want := r.ask(prompt, 2, ""), l.Resp.Usage.Details.Cached; got != want {
			t.Errorf("%s: want %d cached, got %d", name, want, got)
		}
	}
	match(t, sub, "kv", batches(t, all))
}

// wholePrompts are the ids of the events that store 50 blocks at once.
func wholePrompts(t *testing.T, all []line) (prompts [][]uint32) {
	t.Helper()
	for _, l := range all {
		if l.Seq == nil {
			continue
		}
		var events []struct {
			TokenIDs []uint32 `json:"token_ids"`
		}
		if err := json.Unmarshal(l.Payload[1], &events); err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if len(e.TokenIDs) == 1600 {
				prompts = append(prompts, e.TokenIDs)
			}
		}
	}
	return prompts
}

func TestRecordedRestartEvents(t *testing.T) {
	r := start(t, qwen(t), append(recordedFlags, "--kv-events-config", ephemeral("kv"))...)
	sub := r.listen()
	for _, from := range []uint32{7000, 7100, 7200} {
		r.ask(count(from, 40), 2, "")
	}
	match(t, sub, "kv", batches(t, lines(t, "restart"))[3:])
}

func TestRecordedBytesHashEvents(t *testing.T) {
	t.Setenv("VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES", "0")
	r := start(t, qwen(t), "--block-size", "128", "--max-model-len", "4096", "--served-model-name", "tiny",
		"--max-num-batched-tokens", "2048", "--kv-events-config", ephemeral(""))
	sub := r.listen()
	prompt := count(3000, 300)
	long := prompt
	for range 200 {
		long = append(long[:len(long):len(long)], 7)
	}
	r.script.say(brain.Answer{IDs: []uint32{52027, 115345}})
	r.ask(prompt, 2, "")
	r.ask(long, 2, "")
	r.ask(prompt, 2, `,"priority":5`)
	r.script.say(brain.Answer{IDs: []uint32{52027, 115345}, Pause: time.Millisecond})
	first, said := make(chan int), r.engine.Stats().Output
	go func() { first <- r.ask(prompt, 500, "") }()
	// In step with it the other one would store the same block in the same batch,
	// and on a busy machine it may gain some tokens; here the first block is stored.
	until(t, "the first one is ahead", func() bool { return r.engine.Stats().Output >= said+100 })
	r.ask(prompt, 300, "")
	if cached := <-first; cached != 256 {
		t.Errorf("want 256 cached, got %d", cached)
	}
	match(t, sub, "", batches(t, lines(t, "bytes-hash")))
}

func count(from uint32, n int) (ids []uint32) {
	for i := range uint32(n) {
		ids = append(ids, from+i)
	}
	return ids
}
