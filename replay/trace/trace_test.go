package trace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// public is a file of the traces that are not ours to ship.
func public(t testing.TB, name string) string {
	t.Helper()
	top := os.Getenv("DYN_TRACES")
	if top == "" {
		top = filepath.Join("..", "..", "..", "shared", "traces")
	}
	path := filepath.Join(top, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no trace at %s; set DYN_TRACES to run this test", path)
	}
	return path
}

func TestPublic(t *testing.T) {
	for _, c := range []struct {
		file, format           string
		sessions, turns, block int
	}{
		{"claude-code-weka/claude_code_710.compact.jsonl.gz", "claude-code", 773, 49334, 64},
		{"claude-code-weka/raw_trace_0291.json", "claude-code", 3, 0, 64},
		{"mooncake-fast25/conversation_trace.jsonl", "mooncake", 12031, 12031, 512},
		{"mooncake-fast25/synthetic_trace.jsonl", "mooncake", 3993, 3993, 512},
		{"azure-llm-2023/AzureLLMInferenceTrace_code.csv", "azure", 8819, 8819, 16},
		{"azure-llm-2023/AzureLLMInferenceTrace_conv.csv", "azure", 19366, 19366, 16},
		{"tracelab-samples/multi_session_large.csv", "tracelab", 0, 303, 16},
		{"tracelab-samples/session_workload_example.csv", "tracelab", 1, 11, 16},
		{"tracelab-samples/round_trace.sample.jsonl", "tracelab", 2, 19, 16},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			got, err := Open(public(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got.Format != c.format || got.Block != c.block || c.sessions > 0 && len(got.Sessions) != c.sessions || c.turns > 0 && got.Turns() != c.turns {
				t.Errorf("want %s, %d sessions, %d turns of %d; got %s, %d, %d of %d", c.format, c.sessions, c.turns, c.block,
					got.Format, len(got.Sessions), got.Turns(), got.Block)
			}
		})
	}
}

// The share of blocks that a cache without bounds finds again, as published
// with the traces (Mooncake's paper, and the documentation of Dynamo).
func TestReuse(t *testing.T) {
	for _, c := range []struct {
		file       string
		all, again int
	}{
		{"mooncake-fast25/conversation_trace.jsonl", 288500, 288500 - 182790}, // 36.64 %
	} {
		got, err := Open(public(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if all, again := got.Reuse(); all != c.all || again != c.again {
			t.Errorf("%s: want %d of %d, got %d of %d", c.file, c.again, c.all, again, all)
		}
	}
}

// The compact form of a session and its original are one trace.
func TestCompact(t *testing.T) {
	raw, err := Open(public(t, "claude-code-weka/raw_trace_0291.json"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Open(public(t, "claude-code-weka/claude_code_710.compact.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for i, s := range all.Sessions {
		if s.ID == raw.Sessions[0].ID {
			at = i
		}
	}
	if at < 0 {
		t.Fatal("the session is not in the compact file")
	}
	for i, want := range raw.Sessions {
		got := all.Sessions[at+i]
		if len(want.Turns) != len(got.Turns) || want.Prefix != got.Prefix || want.After != got.After || (want.Parent > 0) != (got.Parent > 0) {
			t.Fatalf("session %d: want %d turns after %d, got %d after %d", i, len(want.Turns), want.After, len(got.Turns), got.After)
		}
		var a, b []uint64
		for j := range want.Turns {
			a, b = want.Turns[j].Contents(a), got.Turns[j].Contents(b)
			if len(a) != len(b) || want.Turns[j].Keep != got.Turns[j].Keep || want.Turns[j].Pause != got.Turns[j].Pause {
				t.Fatalf("session %d turn %d: want %d contents, %d kept; got %d, %d", i, j, len(a), want.Turns[j].Keep, len(b), got.Turns[j].Keep)
			}
			for k := range a {
				if a[k]&Common != b[k]&Common || a[k]&Common != 0 && a[k] != b[k] {
					t.Fatalf("session %d turn %d block %d: want %x, got %x", i, j, k, a[k], b[k])
				}
			}
		}
	}
}

func TestClaude(t *testing.T) {
	got, err := Read("x", strings.NewReader(`{"id":"a","block_size":10,"tool_tokens":20,"system_tokens":10,"requests":[
`+strings.Repeat(" ", 3)))
	if err == nil {
		t.Fatalf("half a line is read: %v", got)
	}
	got, err = Read("x", strings.NewReader(`{"id":"a","block_size":10,"tool_tokens":20,"system_tokens":10,"requests":[`+
		`{"t":0,"type":"n","in":52,"out":7,"stop":"end_turn","h":[0,[[1,5]]]},`+
		`{"t":3,"type":"subagent","agent_id":"g","tool_tokens":20,"system_tokens":0,"requests":[{"t":0,"in":30,"out":1,"h":[0,[[9,3]]]}]},`+
		`{"t":9,"type":"n","in":61,"out":7,"think_time":2.5,"h":[4,[[20,2]]]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a, g := got.Sessions[0], got.Sessions[1]
	if g.ID != "a/g" || g.Parent != 1 || g.After != 1 || len(a.Turns) != 2 || a.Turns[1].Pause != 2500*time.Millisecond || !a.Turns[1].Human {
		t.Errorf("got %+v and %+v", a, g)
	}
	one := a.Turns[0].Contents(nil)
	two := a.Turns[1].Contents(append([]uint64(nil), one...))
	sub := g.Turns[0].Contents(nil)
	if len(one) != 5 || len(two) != 6 || two[3] != one[3] || two[4] == one[4] {
		t.Errorf("the second turn keeps four of %x, and is %x", one, two)
	}
	if sub[0] != one[0] || sub[1] != one[1] || sub[2] == one[2] || sub[2]&Common != 0 || one[2]&Common == 0 || one[3]&Common != 0 {
		t.Errorf("two blocks of tools are common to %x and %x", one, sub)
	}
}

func TestAgentic(t *testing.T) {
	got, err := Read("x", strings.NewReader(`{"session_id":"s","request_id":"1","timestamp":5000,"input_length":1100,"output_length":3,"hash_ids":[1,2,3]}
{"session_id":"t","request_id":"2","timestamp":6000,"input_length":600,"output_length":3,"hash_ids":[1,7]}

{"session_id":"s","request_id":"3","delay":1500,"tool_wait_ms":500,"input_length":1600,"output_length":3,"hash_ids":[1,2,4,5]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := got.Sessions
	if len(s) != 2 || !got.Paused || s[1].At != time.Second || len(s[0].Turns) != 2 || s[0].Turns[1].Pause != 2*time.Second || s[0].Turns[1].Keep != 2 || s[0].Turns[1].Len() != 4 {
		t.Errorf("got %+v", got)
	}
}

func TestBad(t *testing.T) {
	ok := `{"timestamp":0,"input_length":600,"output_length":3,"hash_ids":[1,2]}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "it is empty"},
		{"another format", "a,b,c\n1,2,3", "no trace format"},
		{"another object", `{"a":1}`, "no trace format"},
		{"no rows", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "no turns"},
		{"cut off", ok + `{"timestamp":`, "x:2: unexpected end of JSON"},
		{"negative", ok + "\n" + `{"input_length":-1}`, "x:3: input_length -1 is not between"},
		{"too many ids", ok + `{"input_length":5,"hash_ids":[1,2,3]}`, "x:2: 3 hash_ids for 5 tokens"},
		{"twice", strings.Repeat(`{"request_id":"a","input_length":5}`+"\n", 2), `x:2: request_id "a" comes twice`},
		{"a run of a billion", `{"id":"a","block_size":64,"requests":[{"in":64,"out":1,"h":[0,[[1,1000000000]]]}]}`, "x:1: request 1: run [1 1000000000] does not fit"},
		{"keeps what was not there", `{"id":"a","block_size":64,"requests":[{"in":64,"out":1,"h":[1,[]]}]}`, "x:1: request 1: keeps 1 blocks of 0"},
		{"no block size", `{"id":"a","requests":[]}`, "x:1: block_size 0"},
		{"a cell of words", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,many,1", `x:2: ContextTokens "many"`},
		{"a cell is missing", "session_id,prefix_len,input_len,output_len\n1,2", `x:2: input_len ""`},
		{"a day that is none", "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1", "x:2: TIMESTAMP is not like"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("x", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
			if c.name == "another format" && !errors.Is(err, ErrFormat) {
				t.Errorf("not ErrFormat: %v", err)
			}
		})
	}
}

// FuzzRead: whatever a file holds, it is read or refused, and what was read
// keeps its promises.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id":"a","block_size":10,"tool_tokens":20,"system_tokens":10,"requests":[{"t":0,"type":"n","in":52,"out":7,"stop":"end_turn","h":[0,[[1,5]]]},{"type":"subagent","requests":[{"in":30,"h":[0,[[9,3]]]}]}]}`))
	f.Add([]byte(`{"id":"a","block_size":1,"requests":[{"in":4,"hash_ids":[1,2,3]},{"in":4,"hash_ids":[1,2,9,9]}]}`))
	f.Add([]byte(`{"session_id":"s","request_id":"1","timestamp":5000,"input_length":1100,"output_length":3,"hash_ids":[1,2,3]}` + "\n" + `{"session_id":"s","delay":1,"input_length":600,"hash_ids":[1,4]}`))
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44"))
	f.Add([]byte("session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n0,117,0,0,2318,200,300\n0,117,1,2518,348,131,154"))
	f.Add([]byte(`{"session_id":"a","prefix_tokens":3,"newly_append_tokens":50,"output_tokens":2,"tools":[{"tool_wall_latency_ms":860}]}`))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read("fuzz", strings.NewReader(string(data)))
		if err != nil {
			return
		}
		if got.Block < 1 || got.Turns() == 0 {
			t.Fatalf("a trace of %d turns, blocks of %d", got.Turns(), got.Block)
		}
		for i, s := range got.Sessions {
			if s.Parent > i || s.At < 0 || s.Parent > 0 && s.After > len(got.Sessions[s.Parent-1].Turns) {
				t.Fatalf("session %d: %+v", i, s)
			}
			had := 0
			for _, u := range s.Turns {
				if u.Prompt < 1 || u.Prompt > maxTokens || u.Output < 1 || u.Pause < 0 || u.At < 0 || u.Keep < 0 || u.Keep > had || u.Len() > u.Prompt/got.Block+1 {
					t.Fatalf("session %d had %d: %+v", i, had, u)
				}
				had = u.Len()
			}
		}
	})
}

// Made loads are what they say, and the same each time.
func TestMake(t *testing.T) {
	for _, name := range MadeNames() {
		a, err := Make(name)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Make(name)
		if a.Turns() < 1000 || a.Turns() != b.Turns() || a.Sessions[7].At != b.Sessions[7].At {
			t.Errorf("%s: %d and %d turns", name, a.Turns(), b.Turns())
		}
		for _, s := range a.Sessions {
			had := 0
			for _, u := range s.Turns {
				if u.Keep > had || u.Len() != u.Prompt/a.Block {
					t.Fatalf("%s %s: %d contents of %d tokens, %d kept of %d", name, s.ID, u.Len(), u.Prompt, u.Keep, had)
				}
				had = u.Len()
			}
		}
	}
	g, _ := Make("llm-d-73")
	seen := map[uint64]bool{}
	for _, s := range g.Sessions {
		seen[s.Turns[0].Runs[1].First] = true
	}
	if len(seen) != 750 {
		t.Errorf("%d prompts, want 150 groups of 5", len(seen))
	}
	if _, err := Make("x"); err == nil {
		t.Error("made")
	}
}
