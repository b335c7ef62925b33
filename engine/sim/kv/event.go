package kv

// Kind tells what happened to blocks.
type Kind uint8

// The kinds of events.
const (
	Stored  Kind = iota // blocks were filled and can be hit from now on
	Removed             // a block with a hash was taken for other tokens
	Cleared             // all hashes were wiped
)

// Event is one change of the cache. Its slices are the event's own.
type Event struct {
	Kind      Kind
	Hashes    []Hash // one with Removed
	Parent    Hash   // Stored: the block before the first one
	HasParent bool   // false: the first block is block 0 of its prompt
	Tokens    []uint32
	Salt      string // Stored without parent: the salt in block 0
}

// stored makes the event of the blocks from..to of a prompt.
func stored(chain []Hash, ids []uint32, size, from, to int, salt string) Event {
	e := Event{
		Kind:   Stored,
		Hashes: append([]Hash(nil), chain[from:to]...),
		Tokens: append([]uint32(nil), ids[from*size:to*size]...),
	}
	if from > 0 {
		e.Parent, e.HasParent = chain[from-1], true
	} else {
		e.Salt = salt
	}
	return e
}
