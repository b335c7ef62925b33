package wire

import (
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/agentinfer/dyn/engine/sim/kv"
)

// Hashes says how block hashes are written.
type Hashes uint8

// The forms of hashes.
const (
	Short Hashes = iota // 64-bit numbers
	Bytes               // 32 raw bytes
)

// Encode appends one batch of events as vLLM writes it.
func Encode(dst []byte, at time.Time, events []kv.Event, block int, form Hashes) []byte {
	dst = msgp.AppendArrayHeader(dst, 3)
	dst = msgp.AppendFloat64(dst, float64(at.UnixNano())/1e9)
	dst = msgp.AppendArrayHeader(dst, uint32(len(events)))
	for i := range events {
		switch e := &events[i]; e.Kind {
		case kv.Stored:
			dst = appendStored(dst, e, block, form)
		case kv.Removed:
			dst = appendRemoved(dst, e, form)
		case kv.Cleared:
			dst = msgp.AppendMapHeader(dst, 1)
			dst = appendTag(dst, "AllBlocksCleared")
		}
	}
	return msgp.AppendUint64(dst, 0)
}

func appendTag(dst []byte, name string) []byte {
	return msgp.AppendString(msgp.AppendString(dst, "type"), name)
}

func appendStored(dst []byte, e *kv.Event, block int, form Hashes) []byte {
	dst = msgp.AppendMapHeader(dst, 11)
	dst = appendTag(dst, "BlockStored")
	dst = appendHashes(dst, e.Hashes, form)
	dst = msgp.AppendString(dst, "parent_block_hash")
	if e.HasParent {
		dst = appendHash(dst, e.Parent, form)
	} else {
		dst = msgp.AppendNil(dst)
	}
	dst = msgp.AppendString(dst, "token_ids")
	dst = msgp.AppendArrayHeader(dst, uint32(len(e.Tokens)))
	for _, id := range e.Tokens {
		dst = msgp.AppendUint32(dst, id)
	}
	dst = msgp.AppendUint64(msgp.AppendString(dst, "block_size"), uint64(block))
	dst = msgp.AppendNil(msgp.AppendString(dst, "lora_id"))
	dst = msgp.AppendString(msgp.AppendString(dst, "medium"), "GPU")
	dst = msgp.AppendNil(msgp.AppendString(dst, "lora_name"))
	dst = appendExtra(dst, e)
	dst = msgp.AppendUint64(msgp.AppendString(dst, "group_idx"), 0)
	return msgp.AppendString(msgp.AppendString(dst, "kv_cache_spec_kind"), "full_attention")
}

func appendRemoved(dst []byte, e *kv.Event, form Hashes) []byte {
	dst = msgp.AppendMapHeader(dst, 4)
	dst = appendTag(dst, "BlockRemoved")
	dst = appendHashes(dst, e.Hashes, form)
	dst = msgp.AppendString(msgp.AppendString(dst, "medium"), "GPU")
	return msgp.AppendUint64(msgp.AppendString(dst, "group_idx"), 0)
}

// appendExtra writes what each block's hash holds besides its tokens: the
// salt, and that in block 0 only.
func appendExtra(dst []byte, e *kv.Event) []byte {
	dst = msgp.AppendString(dst, "extra_keys")
	dst = msgp.AppendArrayHeader(dst, uint32(len(e.Hashes)))
	for i := range e.Hashes {
		if i == 0 && e.Salt != "" {
			dst = msgp.AppendString(msgp.AppendArrayHeader(dst, 1), e.Salt)
		} else {
			dst = msgp.AppendNil(dst)
		}
	}
	return dst
}

func appendHashes(dst []byte, hs []kv.Hash, form Hashes) []byte {
	dst = msgp.AppendString(dst, "block_hashes")
	dst = msgp.AppendArrayHeader(dst, uint32(len(hs)))
	for i := range hs {
		dst = appendHash(dst, hs[i], form)
	}
	return dst
}

func appendHash(dst []byte, h kv.Hash, form Hashes) []byte {
	if form == Bytes {
		return msgp.AppendBytes(dst, h[:])
	}
	return msgp.AppendUint64(dst, h.Short())
}
