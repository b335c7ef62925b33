package kvevent

import (
	"encoding/binary"

	"github.com/tinylib/msgp/msgp"

	"github.com/agentinfer/dyn/turn"
)

// hashes reads a list of hashes. ok is false for anything else, fits for a
// batch over its limit.
func (d *Decoder) hashes(b []byte) (out []uint64, ok, fits bool) {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || int(n) > len(b) {
		return nil, false, true
	}
	if int(n) > d.left.hashes {
		return nil, false, false
	}
	d.left.hashes -= int(n)
	out = make([]uint64, n)
	for i := range out {
		if out[i], b, ok = readHash(b); !ok {
			return nil, false, true
		}
	}
	return out, true, true
}

// tokens reads a list of ids; a missing one is empty.
func (d *Decoder) tokens(b []byte) (out []uint32, ok, fits bool) {
	if !present(b) {
		return nil, true, true
	}
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || int(n) > len(b) {
		return nil, false, true
	}
	if int(n) > d.left.tokens {
		return nil, false, false
	}
	d.left.tokens -= int(n)
	if n == 0 {
		return nil, true, true
	}
	out = make([]uint32, n)
	for i := range out {
		if out[i], b, ok = readToken(b); !ok {
			return nil, false, true
		}
	}
	return out, true, true
}

// readToken reads one id. Most bytes of a feed are ids, so the forms that
// engines choose for them are read here, without a library call.
func readToken(b []byte) (uint32, []byte, bool) {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return uint32(b[0]), b[1:], true
	case len(b) > 2 && b[0] == 0xcd:
		return uint32(binary.BigEndian.Uint16(b[1:])), b[3:], true
	case len(b) > 4 && b[0] == 0xce:
		return binary.BigEndian.Uint32(b[1:]), b[5:], true
	}
	v, rest, ok := readNumber(b)
	return uint32(v), rest, ok && v <= 1<<32-1
}

// salted sets the event's salt and cuts off the blocks from the first one
// whose extra keys are more than a salt; false means that some were cut.
func salted(ev *turn.KVEvent, f *raw) bool {
	if !ev.HasParent {
		ev.Salt = string(text(f.salt))
		if msgp.NextType(f.loraName) == msgp.MapType {
			// SGLang's positional form has its salt where vLLM has a name.
			_ = eachField(f.loraName, func(name string, v []byte) {
				if name == "cache_salt" {
					ev.Salt = string(text(v))
				}
			})
		}
	}
	if !present(f.extra) {
		return true
	}
	n, b, err := msgp.ReadArrayHeaderBytes(f.extra)
	for i := 0; err == nil && i < int(n) && i < len(ev.Hashes); i++ {
		salt, plain := extra(b)
		if !plain || (salt != "" && (i > 0 || ev.HasParent)) {
			ev.Hashes = ev.Hashes[:i]
			ev.Tokens = ev.Tokens[:i*ev.BlockSize]
			return false
		}
		if salt != "" {
			ev.Salt = salt
		}
		b, err = skip(b)
	}
	return err == nil
}

// extra reads one block's extra keys: nothing, or one string, the salt.
func extra(b []byte) (salt string, plain bool) {
	if !present(b) {
		return "", true
	}
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || n > 1 {
		return "", false
	}
	if n == 0 {
		return "", true
	}
	s := text(b)
	return string(s), s != nil
}

// tier names the level of the cache that a medium means.
func tier(medium, locality []byte) string {
	if string(text(locality)) == "REMOTE" {
		return "remote"
	}
	switch m := string(text(medium)); m {
	case "", "GPU":
		return "gpu"
	case "CPU", "CPU_PINNED":
		return "host"
	case "DISK", "STORAGE", "FS":
		return "disk"
	}
	return "remote"
}
