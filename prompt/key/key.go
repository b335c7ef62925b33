package key

import (
	"encoding/binary"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Key is the hash of a message.
type Key = xxh3.Uint128

// Maker makes keys and keeps its buffer between them. The zero Maker is ready;
// it belongs to one goroutine at a time.
type Maker struct{ buf []byte }

// makers are those of Note, between two uses; bufKept bounds what they hold.
var makers = sync.Pool{New: func() any { return new(Maker) }}

const bufKept = 64 << 10

// Of returns the key of a message: what is noted of it, if something is.
func (k *Maker) Of(m *turn.Message) Key {
	if lo, hi, ok := m.Key(); ok {
		return Key{Lo: lo, Hi: hi}
	}
	return k.hash(m)
}

// Note notes the keys of those messages of which none is noted yet. ms must be
// the caller's own; what the messages say may be shared.
func Note(ms []turn.Message) {
	k := makers.Get().(*Maker)
	defer func() {
		if cap(k.buf) <= bufKept {
			makers.Put(k)
		}
	}()
	for i := range ms {
		made := k.Of(&ms[i])
		ms[i].SetKey(made.Lo, made.Hi)
	}
}

// hash hashes a message. Long parts are hashed on their own, at once: in pieces
// that costs ten times as much.
func (k *Maker) hash(m *turn.Message) Key {
	buf := appendShort(k.buf[:0], string(m.Role))
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
	k.buf = buf
	return xxh3.Hash128(buf)
}

// appendShort appends a short string so that it can be told from what follows.
func appendShort(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendSum(dst []byte, h Key) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, h.Lo), h.Hi)
}
