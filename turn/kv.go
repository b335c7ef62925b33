package turn

// KVKind tells KV events apart.
type KVKind uint8

// The kinds of KV events.
const (
	KVStored  KVKind = iota // blocks were filled
	KVRemoved               // blocks were evicted
	KVCleared               // the engine dropped all
	KVRestart               // made by the reader: new life of the engine, or lost events that could not be had again; forget all
)

// KVEvent is one change of an engine's KV cache. Hashes are the engine's own
// (of 32-byte hashes the first 8 bytes, big endian); they are good only to
// name blocks of the same worker, never to compare workers.
type KVEvent struct {
	Kind      KVKind
	Hashes    []uint64
	Parent    uint64   // KVStored: block before the first one
	HasParent bool     // false: the first block is the prompt's first
	Tokens    []uint32 // KVStored: len(Hashes) * BlockSize ids
	BlockSize int
	Tier      string // "gpu", "host" …
	Salt      string // KVStored without parent: the salt of the chain
}

// KVBatch is what an engine sent in one step.
type KVBatch struct {
	Worker string
	Seq    uint64
	Events []KVEvent
}
