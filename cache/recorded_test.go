package cache

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// recLine is a line of a recording of a real engine: an event batch in words,
// or the beginning or end of a request.
type recLine struct {
	Step    string
	Payload []json.RawMessage
	Resp    struct {
		Prompt []uint32
		Usage  struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
}

type recEvent struct {
	Type      string     `json:"type"`
	Hashes    []uint64   `json:"block_hashes"`
	Parent    *uint64    `json:"parent_block_hash"`
	Tokens    []uint32   `json:"token_ids"`
	BlockSize int        `json:"block_size"`
	Extra     [][]string `json:"extra_keys"`
}

func (e recEvent) event() turn.KVEvent {
	ev := turn.KVEvent{Hashes: e.Hashes, Tokens: e.Tokens, BlockSize: e.BlockSize, Tier: "gpu"}
	switch e.Type {
	case "BlockRemoved":
		ev.Kind = turn.KVRemoved
	case "AllBlocksCleared":
		ev.Kind = turn.KVCleared
	}
	if e.Parent != nil {
		ev.Parent, ev.HasParent = *e.Parent, true
	}
	if len(e.Extra) > 0 && len(e.Extra[0]) > 0 {
		ev.Salt = e.Extra[0][0]
	}
	return ev
}

func readRecording(t *testing.T, name string) (out []recLine) {
	t.Helper()
	root := os.Getenv("DYN_FIXTURES")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "fixtures")
	}
	b, err := os.ReadFile(filepath.Join(root, "engines", "vllm", name))
	if err != nil {
		t.Skipf("no recordings of a real engine (set DYN_FIXTURES): %v", err)
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		var l recLine
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// apply feeds a batch and returns the tokens of its whole-prompt stores.
func (l recLine) apply(t *testing.T, x *Index, h Holder) (prompts [][]uint32) {
	var events []recEvent
	if err := json.Unmarshal(l.Payload[1], &events); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		x.Apply(h, e.event())
		if e.Parent == nil && len(e.Tokens) > 0 {
			prompts = append(prompts, e.Tokens)
		}
	}
	return prompts
}

func saltOf(step string) string {
	for _, s := range []string{"a", "b"} {
		if strings.Contains(step, "salt-"+s) {
			return "tenant-" + s
		}
	}
	return ""
}

// What a real engine found cached is what its events made us predict, before
// each request.
func TestPredictionsEqualRecordedHits(t *testing.T) {
	lines := readRecording(t, "kv-events-prefix.jsonl")
	x := NewIndex(32, Options{})
	h := join(t, x, "w")
	asked := 0
	for i, l := range lines {
		switch {
		case l.Payload != nil:
			l.apply(t, x, h)
		case l.Step == "reset_prefix_cache":
			// The engine tells of it with the next request's batch only.
			x.Apply(h, turn.KVEvent{Kind: turn.KVCleared})
		case strings.HasPrefix(l.Step, "begin ") && l.Step != "begin batch-n2":
			end := lines[i+slices.IndexFunc(lines[i:], func(l recLine) bool { return strings.HasPrefix(l.Step, "end ") })]
			p := end.Resp.Prompt
			got := 0
			for _, o := range x.Overlap(nil, Extend(nil, x.Seed(saltOf(l.Step)), p[:len(p)-1], 32)) {
				got = o.Tokens
			}
			if want := end.Resp.Usage.Details.Cached; got != want {
				t.Fatalf("%s: predicted %d, was %d", l.Step, got, want)
			}
			asked++
		}
	}
	if s := x.Stats(); asked != 14 || s.Dropped() != 0 || s.Unknown != 0 {
		t.Fatalf("%d requests, %+v", asked, s)
	}
	verify(t, x)
}

// The same in a cache that overflows: of the prompts that filled it, the first
// keeps seven blocks.
func TestPredictionsAfterRecordedEviction(t *testing.T) {
	x := NewIndex(32, Options{})
	h := join(t, x, "w")
	var prompts [][]uint32
	overlap := func(prompt int) int {
		for _, o := range x.Overlap(nil, Extend(nil, x.Seed(""), prompts[prompt][:1599], 32)) {
			return o.Tokens
		}
		return 0
	}
	for _, l := range readRecording(t, "kv-events-evict.jsonl") {
		switch {
		case l.Payload != nil:
			prompts = append(prompts, l.apply(t, x, h)...)
		case l.Step == "begin again-3" && overlap(3) != 1568:
			t.Fatalf("last prompt: predicted %d, was 1568", overlap(3))
		case l.Step == "begin again-0" && overlap(0) != 224:
			t.Fatalf("first prompt: predicted %d, was 224", overlap(0))
		}
	}
	if s := x.Stats(); len(prompts) != 4 || s.Dropped() != 0 || s.Unknown != 0 {
		t.Fatalf("%d prompts, %+v", len(prompts), s)
	}
	verify(t, x)
}
