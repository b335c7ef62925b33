package trtllm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// told writes events as short words.
func told(events []turn.KVEvent) string {
	var b strings.Builder
	for _, e := range events {
		switch e.Kind {
		case turn.KVStored:
			parent := "root"
			if e.HasParent {
				parent = fmt.Sprint(e.Parent)
			}
			fmt.Fprintf(&b, "store %v on %s %v in %s; ", e.Hashes, parent, e.Tokens, e.Tier)
		case turn.KVRemoved:
			fmt.Fprintf(&b, "drop %v of %s; ", e.Hashes, e.Tier)
		case turn.KVRestart:
			b.WriteString("forget; ")
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// block is a stored block with tokens of one number each.
func block(hash, level int, tokens ...int) string {
	var list []string
	for _, id := range tokens {
		list = append(list, fmt.Sprintf(`{"type":"unique_token","token_id":%d,"token_extra_id":0}`, id))
	}
	return fmt.Sprintf(`{"type":"stored_block","block_hash":%d,"tokens":[%s],"cache_level":%d,"priority":35,"mm_keys":[]}`,
		hash, strings.Join(list, ","), level)
}

func stored(id int, parent string, blocks ...string) string {
	return fmt.Sprintf(`{"event_id":%d,"window_size":100,"data":{"type":"stored","parent_hash":%s,"blocks":[%s]}}`, id, parent, strings.Join(blocks, ","))
}

func other(id int, data string) string {
	return fmt.Sprintf(`{"event_id":%d,"window_size":100,"data":%s}`, id, data)
}

func TestMirror(t *testing.T) {
	two := stored(0, "null", block(1, 0, 5, 6), block(2, 0, 7, 8))
	moved := `{"type":"updated","block_hash":2,"cache_level":{"old_value":0,"new_value":1},"priority":null}`
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"a chain", []string{two}, "store [1 2] on root [5 6 7 8] in gpu"},
		{"a child", []string{two, stored(1, "2", block(3, 0, 9, 9))}, "store [1 2] on root [5 6 7 8] in gpu; store [3] on 2 [9 9] in gpu"},
		{"a part of a block", []string{stored(0, "null", block(1, 0, 5, 6), block(2, 0, 7))}, "store [1] on root [5 6] in gpu"},
		{
			"levels",
			[]string{stored(0, "null", block(1, 0, 5, 6), block(2, 1, 7, 8), block(3, 9, 1, 2))},
			"store [1] on root [5 6] in gpu; store [2] on 1 [7 8] in host; store [3] on 2 [1 2] in disk",
		},
		{"removed", []string{two, other(1, `{"type":"removed","block_hashes":[2,77]}`)}, "store [1 2] on root [5 6 7 8] in gpu; drop [2] of gpu"},
		{
			"moved, then removed",
			[]string{two, other(1, moved), other(2, `{"type":"removed","block_hashes":[1,2]}`)},
			"store [1 2] on root [5 6 7 8] in gpu; store [2] on root [] in host; drop [2] of gpu; drop [1] of gpu; drop [2] of host",
		},
		// https://github.com/NVIDIA/TensorRT-LLM/issues/4666
		{"only its priority", []string{two, other(1, `{"type":"updated","block_hash":2,"cache_level":null,"priority":null}`)}, "store [1 2] on root [5 6 7 8] in gpu"},
		// https://github.com/ai-dynamo/dynamo/pull/711
		{"a hole", []string{two, other(5, `{"type":"removed","block_hashes":[1]}`)}, "store [1 2] on root [5 6 7 8] in gpu; forget"},
		{"a new life", []string{two, other(1, `{"type":"created"}`), two}, "store [1 2] on root [5 6 7 8] in gpu; forget; store [1 2] on root [5 6 7 8] in gpu"},
		{"an image", []string{strings.Replace(two, `"mm_keys":[]`, `"mm_keys":["x"]`, 1)}, ""},
		{"another group of layers", []string{strings.Replace(two, `"event_id"`, `"layer_group_id":1,"event_id"`, 1)}, ""},
		{"a smaller window", []string{two, strings.Replace(stored(1, "null", block(4, 0, 1, 2)), "100", "50", 1)}, "store [1 2] on root [5 6 7 8] in gpu"},
		{
			"a larger window",
			[]string{two, strings.Replace(stored(1, "null", block(4, 0, 1, 2)), "100", "900", 1)},
			"store [1 2] on root [5 6 7 8] in gpu; forget; store [4] on root [1 2] in gpu",
		},
		{"a kind of tomorrow", []string{other(0, `{"type":"pinned","block_hashes":[1]}`)}, ""},
		{
			"ranks have numbers of their own",
			[]string{two, strings.Replace(other(7, `{"type":"created"}`), `"event_id"`, `"attention_dp_rank":1,"event_id"`, 1)},
			"store [1 2] on root [5 6 7 8] in gpu",
		},
		{"signed hashes", []string{stored(0, "-2", block(-1, 0, 5, 6))}, "store [18446744073709551615] on 18446744073709551614 [5 6] in gpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := newMirror(2)
			if got := told(whole.take([]byte("[" + strings.Join(c.events, ",") + "]"))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			single, got := newMirror(2), []turn.KVEvent(nil)
			for _, e := range c.events {
				got = append(got, single.take([]byte("["+e+"]"))...)
			}
			if told(got) != c.want {
				t.Errorf("one by one %s\nwant %s", told(got), c.want)
			}
		})
	}
}

// Where nobody tells how long a block is, the longest is whole.
// A server that tells of blocks and ranks without end fills no memory.
func TestMirrorForgetsTooMuch(t *testing.T) {
	m := newMirror(2)
	var events []string
	for rank := range 2 * maxRanks {
		events = append(events, fmt.Sprintf(`{"event_id":0,"attention_dp_rank":%d,"window_size":100,"data":{}}`, rank))
	}
	if got := told(m.take([]byte("[" + strings.Join(events, ",") + "]"))); got != "forget" || len(m.next) > maxRanks {
		t.Errorf("%d ranks, told %q", len(m.next), got)
	}
	for h := range uint64(maxLevels + 1) {
		m.level[h] = 0
	}
	if got := told(m.take([]byte("[" + stored(0, "null", block(1, 0, 5, 6)) + "]"))); got != "forget; store [1] on root [5 6] in gpu" || len(m.level) != 1 {
		t.Errorf("%d blocks, told %q", len(m.level), got)
	}
}

func TestMirrorLearns(t *testing.T) {
	m := newMirror(0)
	if got := told(m.take([]byte("[" + stored(0, "null", block(1, 0, 5)) + "]"))); got != "store [1] on root [5] in gpu" {
		t.Errorf("got %s", got)
	}
	two := stored(1, "null", block(2, 0, 5, 6), block(3, 0, 7))
	if got := told(m.take([]byte("[" + two + "]"))); got != "forget; store [2] on root [5 6] in gpu" || m.block != 2 {
		t.Errorf("got %s, a block is %d", got, m.block)
	}
}

// An answer that was cut may have held anything.
func TestMirrorOfACutAnswer(t *testing.T) {
	for _, answer := range []string{`[{"event_id":0,"data":{"type":"sto`, `{}`, ``, `[`} {
		if got := told(newMirror(2).take([]byte(answer))); got != "forget" {
			t.Errorf("%q: %s", answer, got)
		}
	}
}

func FuzzMirror(f *testing.F) {
	f.Add([]byte("[" + stored(0, "null", block(1, 0, 5, 6)) + "]"))
	f.Add([]byte(`[{"event_id":-1,"data":{"type":"updated","cache_level":{"new_value":-9}}}]`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		m := newMirror(2)
		for _, e := range append(m.take(answer), m.take(answer)...) {
			if e.Kind == turn.KVStored && len(e.Tokens) != 0 && len(e.Tokens) != len(e.Hashes)*e.BlockSize {
				t.Fatalf("%+v", e)
			}
		}
	})
}
