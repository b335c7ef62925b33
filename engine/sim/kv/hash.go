package kv

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash names a block and everything before it.
type Hash [sha256.Size]byte

// Short is the hash as the 64-bit number that events carry by default.
func (h Hash) Short() uint64 { return binary.BigEndian.Uint64(h[24:]) }

// Chain appends to chain the hashes of the whole blocks of ids that it does
// not have yet: chain must hold those of the first len(chain) blocks. The salt
// goes into block 0 only; its descendants inherit it through their parent.
func Chain(chain []Hash, ids []uint32, size int, salt string) []Hash {
	buf := make([]byte, 0, sha256.Size+4*size+len(salt)+1)
	for n := len(chain); (n+1)*size <= len(ids); n++ {
		buf = buf[:0]
		if n > 0 {
			buf = append(buf, chain[n-1][:]...)
		}
		for _, id := range ids[n*size : (n+1)*size] {
			buf = binary.LittleEndian.AppendUint32(buf, id)
		}
		if n == 0 && salt != "" {
			buf = append(buf, 0)
			buf = append(buf, salt...)
		}
		chain = append(chain, sha256.Sum256(buf))
	}
	return chain
}
