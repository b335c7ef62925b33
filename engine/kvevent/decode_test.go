package kvevent

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"

	"github.com/agentinfer/dyn/turn"
)

type (
	list []any
	dict []any // key, value, key, value …
	rawb []byte
)

// pack encodes values in msgpack; dicts keep their order.
func pack(v any) []byte {
	var out []byte
	switch v := v.(type) {
	case list:
		out = msgp.AppendArrayHeader(nil, uint32(len(v)))
		for _, e := range v {
			out = append(out, pack(e)...)
		}
	case dict:
		out = msgp.AppendMapHeader(nil, uint32(len(v)/2))
		for _, e := range v {
			out = append(out, pack(e)...)
		}
	case rawb:
		out = v
	default:
		var err error
		if out, err = msgp.AppendIntf(nil, v); err != nil {
			panic(err)
		}
	}
	return out
}

func ids(from, n int) (l list) {
	for i := range n {
		l = append(l, uint64(from+i))
	}
	return l
}

func batch(events ...any) []byte { return pack(list{1.5, list(events), 3}) }

// show is an event in one line.
func show(evs []turn.KVEvent) string {
	var b strings.Builder
	for _, e := range evs {
		fmt.Fprintf(&b, "%d %x p=%x/%v t=%d/%d %s %q; ", e.Kind, e.Hashes, e.Parent, e.HasParent, len(e.Tokens), e.BlockSize, e.Tier, e.Salt)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestForms(t *testing.T) {
	long := bytes.Repeat([]byte{0xab}, 32)
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"oldest array", list{"BlockStored", list{1}, nil, ids(0, 4), 4, nil}, `0 [1] p=0/false t=4/4 gpu ""`},
		{"array with all", list{"BlockStored", list{1, 2}, 9, ids(0, 8), 4, nil, "CPU", nil, list{nil, nil}, 0, "full_attention", nil, "more"}, `0 [1 2] p=9/true t=8/4 host ""`},
		{"array removed", list{"BlockRemoved", list{5}, "GPU", 0, "x"}, `1 [5] p=0/false t=0/0 gpu ""`},
		{"array removed, old", list{"BlockRemoved", list{5}}, `1 [5] p=0/false t=0/0 gpu ""`},
		{"array cleared", list{"AllBlocksCleared"}, `2 [] p=0/false t=0/0  ""`},
		{"negative hash", list{"BlockStored", list{-1}, -2, ids(0, 2), 2}, `0 [ffffffffffffffff] p=fffffffffffffffe/true t=2/2 gpu ""`},
		{"byte hashes", dict{"type", "BlockRemoved", "block_hashes", list{long}, "medium", "DISK"}, `1 [abababababababab] p=0/false t=0/0 disk ""`},
		{"type last, unknown fields", dict{"x", dict{"y", list{1}}, 7, 8, "block_hashes", list{3}, "type", "BlockRemoved"}, `1 [3] p=0/false t=0/0 gpu ""`},
		{"placeholder of an offload", dict{"type", "BlockStored", "block_hashes", list{3, 4}, "token_ids", list{}, "block_size", 0, "medium", "CPU"}, `0 [3 4] p=0/false t=0/0 host ""`},
		{"salt in extra keys", dict{"type", "BlockStored", "block_hashes", list{1, 2}, "token_ids", ids(0, 4), "block_size", 2, "extra_keys", list{list{"tenant"}, nil}}, `0 [1 2] p=0/false t=4/2 gpu "tenant"`},
		{"salt as a field", dict{"type", "BlockStored", "block_hashes", list{1}, "token_ids", ids(0, 2), "block_size", 2, "cache_salt", "s", "medium", "CPU_PINNED"}, `0 [1] p=0/false t=2/2 host "s"`},
		{"salt in place of a lora name", list{"BlockStored", list{1}, nil, ids(0, 2), 2, nil, "GPU", dict{"cache_salt", "s"}}, `0 [1] p=0/false t=2/2 gpu "s"`},
		{"elsewhere", dict{"type", "BlockStored", "block_hashes", list{1}, "token_ids", ids(0, 2), "block_size", 2, "locality", "REMOTE"}, `0 [1] p=0/false t=2/2 remote ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s, err := Decode(nil, batch(c.in))
			if err != nil || show(got) != c.want || s.Rank != 3 {
				t.Fatalf("got  %s (%+v, %v)\nwant %s", show(got), s, err, c.want)
			}
		})
	}
}

func TestLeftOut(t *testing.T) {
	good := list{"BlockRemoved", list{7}}
	for _, c := range []struct {
		name string
		in   any
		want Stats
	}{
		{"unknown type", dict{"type", "BlockMoved", "from", 1}, Stats{Unknown: 1}},
		{"no type", dict{"block_hashes", list{1}}, Stats{Malformed: 1, Blind: 1}},
		{"a number", 12, Stats{Malformed: 1, Blind: 1}},
		{"empty array", list{}, Stats{Malformed: 1, Blind: 1}},
		{"no hashes", list{"BlockStored", list{}, nil, list{}, 4}, Stats{Malformed: 1}},
		{"half a block", list{"BlockStored", list{1, 2}, nil, ids(0, 7), 4}, Stats{Malformed: 1}},
		{"pairs of ids", list{"BlockStored", list{1}, nil, list{list{1, 2}, list{2, 3}}, 2}, Stats{Malformed: 1}},
		{"id over 32 bits", list{"BlockStored", list{1}, nil, list{1 << 40}, 1}, Stats{Malformed: 1}},
		{"short byte hash", list{"BlockRemoved", list{[]byte{1, 2}}}, Stats{Malformed: 1, Blind: 1}},
		{"absurd block size", list{"BlockStored", list{1}, nil, nil, -1}, Stats{Malformed: 1}},
		{"lora", dict{"type", "BlockStored", "block_hashes", list{1}, "token_ids", ids(0, 2), "block_size", 2, "lora_name", "a"}, Stats{Foreign: 1}},
		{"window", dict{"type", "BlockStored", "block_hashes", list{1}, "token_ids", ids(0, 2), "block_size", 2, "kv_cache_spec_kind", "sliding_window"}, Stats{Foreign: 1}},
		{"image in block 0", dict{"type", "BlockStored", "block_hashes", list{1}, "token_ids", ids(0, 2), "block_size", 2, "extra_keys", list{list{"mm", 3}}}, Stats{Foreign: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s, err := Decode(nil, batch(good, c.in, good))
			c.want.Removed, c.want.Rank = 2, 3
			if err != nil || len(got) != 2 || s != c.want {
				t.Fatalf("%s, %+v, %v, want %+v", show(got), s, err, c.want)
			}
		})
	}
}

func TestImageCutsTheChain(t *testing.T) {
	got, s, err := Decode(nil, batch(dict{
		"type", "BlockStored", "block_hashes",
		list{1, 2, 3},
		"token_ids", ids(0, 6),
		"block_size", 2, "extra_keys",
		list{list{"salt"}, list{"image", 0}, nil},
	}))
	if want := `0 [1] p=0/false t=2/2 gpu "salt"`; err != nil || show(got) != want || s.Foreign != 1 || s.Stored != 1 {
		t.Fatalf("got %s, %+v, %v", show(got), s, err)
	}
}

func TestForeignGroupIsRemembered(t *testing.T) {
	var d Decoder
	store := dict{"type", "BlockStored", "block_hashes", list{1}, "token_ids", ids(0, 2), "block_size", 2, "group_idx", 1, "kv_cache_spec_kind", "sliding_window"}
	remove := func(group int) dict {
		return dict{"type", "BlockRemoved", "block_hashes", list{1}, "group_idx", group}
	}
	got, s, err := d.Decode(nil, batch(store, remove(1), remove(0)))
	if err != nil || len(got) != 1 || s.Foreign != 2 || s.Removed != 1 {
		t.Fatalf("%s, %+v, %v", show(got), s, err)
	}
}

func TestBrokenBatches(t *testing.T) {
	whole := batch(list{"BlockRemoved", list{7}}, list{"BlockRemoved", list{8}})
	for n := range whole {
		got, _, err := Decode(nil, whole[:n])
		if err == nil && n < len(whole)-1 { // without the rank it is still a batch
			t.Fatalf("%d of %d bytes: %s, no error", n, len(whole), show(got))
		}
	}
	if got, _, err := Decode(nil, pack(dict{"ts", 1.0, "events", list{list{"AllBlocksCleared"}}})); err != nil || len(got) != 1 {
		t.Fatalf("batch as a map: %s, %v", show(got), err)
	}
	many := rawb(append(msgp.AppendArrayHeader(nil, maxEvents+1), make([]byte, maxEvents+1)...))
	if _, _, err := Decode(nil, pack(list{1.0, many})); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("too many events: %v", err)
	}
	hashes := rawb(append(msgp.AppendArrayHeader(nil, maxHashes+1), make([]byte, maxHashes+1)...))
	if _, _, err := Decode(nil, batch(list{"BlockRemoved", hashes})); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("too many hashes: %v", err)
	}
	claim := rawb(msgp.AppendArrayHeader(nil, 1<<31))
	if _, _, err := Decode(nil, batch(list{"BlockRemoved", claim})); err == nil {
		t.Fatal("an array of 2^31 that is not there")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(batch(list{"BlockStored", list{1, 2}, 9, ids(0, 8), 4, nil, "CPU", nil, list{list{"s"}, nil}, 0, "full_attention"}))
	f.Add(batch(dict{"type", "BlockStored", "block_hashes", list{bytes.Repeat([]byte{1}, 32)}, "token_ids", ids(0, 4), "block_size", 4}))
	f.Add(pack(dict{"events", list{list{"AllBlocksCleared"}}}))
	f.Fuzz(func(t *testing.T, in []byte) {
		var d Decoder
		got, s, _ := d.Decode(nil, in)
		if len(got) != s.Stored+s.Removed+s.Cleared {
			t.Fatalf("%d events, %+v", len(got), s)
		}
		for _, e := range got {
			if len(e.Tokens) != 0 && len(e.Tokens) != len(e.Hashes)*e.BlockSize {
				t.Fatalf("%d tokens, %d hashes of %d", len(e.Tokens), len(e.Hashes), e.BlockSize)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var events list
	for i := range 8 {
		events = append(events, dict{"type", "BlockStored", "block_hashes", ids(i<<40, 16), "parent_block_hash", 1, "token_ids", ids(1000, 256), "block_size", 16, "medium", "GPU"})
	}
	in := pack(list{1.5, events, 0})
	var d Decoder
	var out []turn.KVEvent
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		out, _, _ = d.Decode(out[:0], in)
	}
}
