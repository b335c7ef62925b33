package cache

import (
	"encoding/binary"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Seed seeds every block hash, and is the parent of block 0 where neither
// model nor salt is given.
const Seed = 1337

// onStack is the block size, in tokens, up to which Extend and ExtendIDs take no
// heap for their scratch.
const onStack = 64

// SaltSeed is the parent of block 0: prefixes of different models or salts
// have no hash in common. It is Seed itself when both are empty.
func SaltSeed(model, salt string) uint64 {
	if model == "" && salt == "" {
		return Seed
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(model)))
	b = append(append(b, model...), salt...)
	return xxh3.HashSeed(b, Seed)
}

// Extend appends the hashes of the whole blocks of ids that dst lacks: dst
// holds those of the first len(dst) blocks. Tokens behind the last whole block
// have no hash. The exact form: hash[i] is XXH3-64 with seed 1337 of 8 bytes
// hash[i-1] and 4 bytes for each token of block i, all little endian;
// hash[-1] is seed, see SaltSeed.
func Extend(dst []uint64, seed uint64, ids []uint32, block int) []uint64 {
	var stack [8 + 4*onStack]byte
	scratch, parent := stack[:], last(dst, seed)
	for i := len(dst); block > 0 && (i+1)*block <= len(ids); i++ {
		parent = next(&scratch, parent, ids[i*block:(i+1)*block])
		dst = append(dst, parent)
	}
	return dst
}

// ExtendIDs is Extend of ids that do not lie together.
func ExtendIDs(dst []uint64, seed uint64, ids turn.IDs, block int) []uint64 {
	var stack [8 + 4*onStack]byte
	var room [onStack]uint32
	scratch, parent := stack[:], last(dst, seed)
	for i := len(dst); block > 0 && (i+1)*block <= ids.Len(); i++ {
		parent = next(&scratch, parent, ids.View(room[:], i*block, (i+1)*block))
		dst = append(dst, parent)
	}
	return dst
}

// last is the parent of the block behind those of hashes.
func last(hashes []uint64, seed uint64) uint64 {
	if n := len(hashes); n > 0 {
		return hashes[n-1]
	}
	return seed
}

// next hashes one block after its parent, in scratch, which grows if it must.
func next(scratch *[]byte, parent uint64, tokens []uint32) uint64 {
	if n := 8 + 4*len(tokens); len(*scratch) < n {
		*scratch = make([]byte, n)
	}
	return hashBlock((*scratch)[:8+4*len(tokens)], parent, tokens)
}

// hashBlock hashes one block after its parent, in scratch, which has just the
// room.
func hashBlock(scratch []byte, parent uint64, tokens []uint32) uint64 {
	binary.LittleEndian.PutUint64(scratch, parent)
	if littleEndian {
		copy(scratch[8:], unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(tokens))), 4*len(tokens)))
		return xxh3.HashSeed(scratch, Seed)
	}
	for i, t := range tokens {
		binary.LittleEndian.PutUint32(scratch[8+4*i:], t)
	}
	return xxh3.HashSeed(scratch, Seed)
}

// littleEndian is whether this machine keeps numbers as they are hashed.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
