package kvevent

import (
	"encoding/binary"

	"github.com/tinylib/msgp/msgp"
)

// raw holds an event's fields as they came; nil where a field is missing.
type raw struct {
	kind                                       string
	hashes, parent, tokens, size, lora, medium []byte
	loraName, extra, group, spec               []byte
	locality, salt                             []byte
}

// The positional forms, after the type.
var (
	storedFields  = []string{"block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name", "extra_keys", "group_idx", "kv_cache_spec_kind"}
	removedFields = []string{"block_hashes", "medium", "group_idx"}
)

// fields reads an event of either form; false means that it is neither.
func fields(b []byte) (raw, bool) {
	var f raw
	if msgp.NextType(b) == msgp.MapType {
		err := eachField(b, f.set)
		return f, err == nil && f.kind != ""
	}
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || n == 0 {
		return f, false
	}
	if f.kind = word(b); f.kind == "" {
		return f, false
	}
	names := storedFields
	if f.kind == "BlockRemoved" {
		names = removedFields
	}
	b, err = skip(b)
	for i := 0; err == nil && i < int(n)-1 && i < len(names); i++ {
		f.set(names[i], b)
		b, err = skip(b)
	}
	return f, err == nil
}

// set keeps one field. value may have other fields behind it.
func (f *raw) set(name string, value []byte) {
	switch name {
	case "type":
		f.kind = word(value)
	case "block_hashes":
		f.hashes = value
	case "parent_block_hash":
		f.parent = value
	case "token_ids":
		f.tokens = value
	case "block_size":
		f.size = value
	case "lora_id":
		f.lora = value
	case "medium":
		f.medium = value
	case "lora_name":
		f.loraName = value
	case "extra_keys":
		f.extra = value
	case "group_idx":
		f.group = value
	case "kv_cache_spec_kind":
		f.spec = value
	case "locality":
		f.locality = value
	case "cache_salt":
		f.salt = value
	}
}

// eachField walks a map with string keys; other keys are passed over.
func eachField(b []byte, do func(name string, value []byte)) error {
	n, b, err := msgp.ReadMapHeaderBytes(b)
	for i := uint32(0); err == nil && i < n; i++ {
		name := key(b)
		if b, err = skip(b); err != nil {
			break
		}
		if name != "" {
			do(name, b)
		}
		b, err = skip(b)
	}
	return err
}

// known are the names of fields that count.
var known = map[string]string{}

func init() {
	for _, names := range [][]string{
		storedFields,
		{"type", "locality", "cache_salt", "events", "data_parallel_rank", "dp_rank", "attn_dp_rank"},
	} {
		for _, n := range names {
			known[n] = n
		}
	}
}

// key returns a known field's name without allocating, "" for others.
func key(b []byte) string { return known[string(text(b))] }

// text returns a string's bytes, nil when b holds no string.
func text(b []byte) []byte {
	switch msgp.NextType(b) {
	case msgp.StrType:
		s, _, err := msgp.ReadStringZC(b)
		if err == nil {
			return s
		}
	case msgp.BinType:
		s, _, err := msgp.ReadBytesZC(b)
		if err == nil {
			return s
		}
	}
	return nil
}

// word is a short string field; longer ones are cut.
func word(b []byte) string {
	s := text(b)
	return string(s[:min(len(s), 256)])
}

// present reports whether a field is there and not nil.
func present(b []byte) bool { return len(b) > 0 && !msgp.IsNil(b) }

// number reads an integer; a negative one as its two's complement.
func number(b []byte) (uint64, bool) {
	n, _, ok := readNumber(b)
	return n, ok
}

func readNumber(b []byte) (uint64, []byte, bool) {
	switch msgp.NextType(b) {
	case msgp.IntType:
		v, rest, err := msgp.ReadInt64Bytes(b)
		return uint64(v), rest, err == nil
	case msgp.UintType:
		v, rest, err := msgp.ReadUint64Bytes(b)
		return v, rest, err == nil
	}
	return 0, b, false
}

// hash reads one block hash, an integer or at least 8 bytes.
func hash(b []byte) (uint64, bool) {
	h, _, ok := readHash(b)
	return h, ok
}

func readHash(b []byte) (uint64, []byte, bool) {
	if msgp.NextType(b) != msgp.BinType {
		return readNumber(b)
	}
	s, rest, err := msgp.ReadBytesZC(b)
	if err != nil || len(s) < 8 {
		return 0, b, false
	}
	return binary.BigEndian.Uint64(s), rest, true
}
