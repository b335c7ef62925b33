package prompt

import (
	"slices"

	"github.com/agentinfer/dyn/prompt/key"
	"github.com/agentinfer/dyn/turn"
)

// Key is the hash of a message: of all that rendering or Rolling may read.
// Messages with equal keys are the same message. See package key.
type Key = key.Key

// Hashes are what is known of a turn's messages, one of each kind a message.
// Rolling may be nil.
type Hashes struct {
	Keys    []Key
	Rolling []uint64
}

// KeyOf returns the key of one message.
func KeyOf(m *turn.Message) Key {
	r := borrow()
	defer r.back()
	return r.keys.Of(m)
}

// Keys appends the key of each message of t to dst.
func Keys(dst []Key, t *turn.Turn) []Key {
	r := borrow()
	defer r.back()
	return r.appendKeys(dst, t)
}

func (r *reader) appendKeys(dst []Key, t *turn.Turn) []Key {
	dst = slices.Grow(dst, len(t.Messages))
	for i := range t.Messages {
		dst = append(dst, r.keys.Of(&t.Messages[i]))
	}
	return dst
}

// Sums appends one hash per key to dst: of it and all before it, and of the
// tenant and salt of t. Equal sums mean the same messages, to the letter.
func Sums(dst []uint64, t *turn.Turn, keys []Key) []uint64 {
	sum := Root(t)
	dst = slices.Grow(dst, len(keys))
	for _, k := range keys {
		sum = mix(mix(sum, k.Hi, tagKey), k.Lo, tagKey)
		dst = append(dst, sum)
	}
	return dst
}
