package blob

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/agentinfer/dyn/turn"
)

const (
	form = 1
	head = 5 // bytes before the content
)

// ErrDamaged is in the chain when a blob is not what Append wrote.
var ErrDamaged = errors.New("a raw turn is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the content of r, its opening, ids and thinking, to dst.
func Append(dst []byte, r *turn.RawTurn) []byte {
	from := len(dst)
	dst = append(dst, form, 0, 0, 0, 0)
	dst = appendIDs(dst, r.Opening)
	dst = appendIDs(dst, r.IDs)
	dst = binary.AppendUvarint(dst, uint64(len(r.Thinking)))
	dst = append(dst, r.Thinking...)
	binary.LittleEndian.PutUint32(dst[from+1:], crc32.Checksum(dst[from+head:], castagnoli))
	return dst
}

func appendIDs(dst []byte, ids []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	return dst
}

// Read fills r with what Append wrote. It takes memory in proportion
// to the blob, whatever the bytes say, and leaves r as it was with ErrDamaged.
func Read(b []byte, r *turn.RawTurn) error {
	if len(b) < head || b[0] != form || binary.LittleEndian.Uint32(b[1:]) != crc32.Checksum(b[head:], castagnoli) {
		return ErrDamaged
	}
	b = b[head:]
	opening, b, ok := cutIDs(b)
	if !ok {
		return ErrDamaged
	}
	ids, b, ok := cutIDs(b)
	if !ok {
		return ErrDamaged
	}
	n, used := binary.Uvarint(b)
	if used <= 0 || n != uint64(len(b)-used) {
		return ErrDamaged
	}
	r.Opening, r.IDs, r.Thinking = opening, ids, string(b[used:])
	return nil
}

// cutIDs reads a list of ids and returns what follows it.
func cutIDs(b []byte) (ids []uint32, rest []byte, ok bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) { // an id has a byte at least
		return nil, nil, false
	}
	b = b[used:]
	ids = make([]uint32, n)
	for i := range ids {
		id, used := binary.Uvarint(b)
		if used <= 0 || id > 1<<32-1 {
			return nil, nil, false
		}
		ids[i], b = uint32(id), b[used:]
	}
	return ids, b, true
}
