package kvevent

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// recording opens a file of the fixtures, or skips.
func recording(t testing.TB, name string) []byte {
	t.Helper()
	root := os.Getenv("DYN_FIXTURES")
	if root == "" {
		dir, _ := filepath.Abs(".")
		for dir != filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		root = filepath.Join(dir, "..", "shared", "fixtures")
	}
	b, err := os.ReadFile(filepath.Join(root, "engines", "vllm", name))
	if err != nil {
		t.Skipf("no recordings of a real engine (set DYN_FIXTURES): %v", err)
	}
	return b
}

// line is one line of a recording: an event with the payload in words.
type line struct {
	Frames  []string
	Payload json.RawMessage
}

func lines(t *testing.T, name string) (out []line) {
	t.Helper()
	sc := bufio.NewScanner(bytes.NewReader(recording(t, name)))
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		var l line
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if len(l.Frames) == 3 {
			out = append(out, l)
		}
	}
	return out
}

// told is a recorded event in words.
type told struct {
	Type      string          `json:"type"`
	Hashes    []hashWord      `json:"block_hashes"`
	Parent    *hashWord       `json:"parent_block_hash"`
	Tokens    []uint32        `json:"token_ids"`
	BlockSize int             `json:"block_size"`
	Medium    string          `json:"medium"`
	Extra     [][]interface{} `json:"extra_keys"`
}

// hashWord is a number, or bytes of which the first eight count.
type hashWord uint64

func (h *hashWord) UnmarshalJSON(b []byte) error {
	var o struct {
		Bytes string `json:"__bytes__"`
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		n, err = strconv.ParseUint(o.Bytes[:16], 16, 64)
	}
	*h = hashWord(n)
	return err
}

func (e told) event() turn.KVEvent {
	out := turn.KVEvent{Kind: map[string]turn.KVKind{
		"BlockStored": turn.KVStored, "BlockRemoved": turn.KVRemoved, "AllBlocksCleared": turn.KVCleared,
	}[e.Type], Tokens: e.Tokens, BlockSize: e.BlockSize}
	for _, h := range e.Hashes {
		out.Hashes = append(out.Hashes, uint64(h))
	}
	if e.Medium != "" {
		out.Tier = "gpu"
	}
	if e.Parent != nil {
		out.Parent, out.HasParent = uint64(*e.Parent), true
	}
	if len(e.Extra) > 0 && len(e.Extra[0]) > 0 {
		out.Salt = e.Extra[0][0].(string)
	}
	return out
}

func TestRecordings(t *testing.T) {
	for _, c := range []struct {
		name                     string
		batches, stored, removed int
		salts                    int
	}{
		{"kv-events-prefix.jsonl", 10, 10, 0, 2},
		{"kv-events-evict.jsonl", 9, 6, 86, 0},
		{"kv-events-restart.jsonl", 6, 5, 4, 0},
		{"kv-events-bytes-hash.jsonl", 6, 6, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Decoder
			var sum Stats
			salts, batches := 0, 0
			for _, l := range lines(t, c.name) {
				payload, _ := hex.DecodeString(l.Frames[2])
				got, s, err := d.Decode(nil, payload)
				if err != nil {
					t.Fatal(err)
				}
				if s.Unknown+s.Malformed+s.Foreign != 0 {
					t.Fatalf("left out: %+v", s)
				}
				sum.Stored, sum.Removed = sum.Stored+s.Stored, sum.Removed+s.Removed
				batches++
				var batch []json.RawMessage
				var events []told
				if json.Unmarshal(l.Payload, &batch) != nil || json.Unmarshal(batch[1], &events) != nil {
					t.Fatalf("payload in words: %s", l.Payload)
				}
				if len(events) != len(got) {
					t.Fatalf("%d events, want %d", len(got), len(events))
				}
				for i, e := range events {
					if w := e.event(); fmt.Sprint(got[i]) != fmt.Sprint(w) {
						t.Fatalf("got  %v\nwant %v", got[i], w)
					}
					if got[i].Salt != "" {
						salts++
					}
				}
			}
			got := fmt.Sprint(batches, sum.Stored, sum.Removed, salts)
			if want := fmt.Sprint(c.batches, c.stored, c.removed, c.salts); got != want {
				t.Fatalf("batches, stored, removed, salts = %s, want %s", got, want)
			}
		})
	}
}

func TestRecordedReplay(t *testing.T) {
	var asks []struct{ Replies [][]string }
	if err := json.Unmarshal(recording(t, "kv-replay.json"), &asks); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, a := range asks {
		for _, r := range a.Replies {
			if r[len(r)-1] == "" {
				continue // the end marker
			}
			payload, _ := hex.DecodeString(r[len(r)-1])
			events, s, err := Decode(nil, payload)
			if err != nil || len(events) == 0 || s.Malformed+s.Unknown+s.Foreign > 0 {
				t.Fatalf("%v: %d events, %+v, %v", r[:3], len(events), s, err)
			}
			n++
		}
	}
	if n == 0 {
		t.Fatal("no replies in the recording")
	}
}
