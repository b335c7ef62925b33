package prompt

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Key is the hash of a message: of all that rendering or Rolling may read.
// Messages with equal keys are the same message.
type Key = xxh3.Uint128

// Hashes are what is known of a turn's messages, one of each kind a message.
// Rolling may be nil.
type Hashes struct {
	Keys    []Key
	Rolling []uint64
}

// Keys appends the key of each message of t to dst.
func Keys(dst []Key, t *turn.Turn) []Key {
	var r reader
	return r.keys(dst, t)
}

// Sums appends one hash per key to dst: of it and all before it, and of the
// tenant and salt of t. Equal sums mean the same messages, to the letter.
func Sums(dst []uint64, t *turn.Turn, keys []Key) []uint64 {
	sum := Root(t)
	for _, k := range keys {
		sum = mix(mix(sum, k.Hi, tagKey), k.Lo, tagKey)
		dst = append(dst, sum)
	}
	return dst
}

func (r *reader) keys(dst []Key, t *turn.Turn) []Key {
	for i := range t.Messages {
		dst = append(dst, r.key(&t.Messages[i]))
	}
	return dst
}

// key hashes a message. Long parts are hashed on their own, at once: in pieces
// that costs ten times as much.
func (r *reader) key(m *turn.Message) Key {
	buf := appendShort(r.buf[:0], string(m.Role))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		flags := byte(0)
		if b.IsError {
			flags = 1
		}
		raw := len(b.Args)+len(b.Raw) > 0
		if raw {
			flags |= 2
		}
		buf = append(buf, byte(b.Kind), flags)
		buf = appendSum(buf, xxh3.HashString128(b.Text))
		buf = appendShort(appendShort(buf, b.ID), b.Name)
		if raw {
			buf = appendSum(appendSum(buf, xxh3.Hash128(b.Args)), xxh3.Hash128(b.Raw))
		}
	}
	r.buf = buf
	return xxh3.Hash128(buf)
}

// appendShort appends a short string so that it can be told from what follows.
func appendShort(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendSum(dst []byte, h xxh3.Uint128) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, h.Lo), h.Hi)
}
