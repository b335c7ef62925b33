package ledger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/agentinfer/dyn/turn"
)

// A raw turn's content is one blob: blobForm, the CRC-32C of all that follows
// (4 bytes, little endian), then opening, ids and thinking, each with its
// length in front; lengths and ids are varints, two to three bytes for most.
// The sum is there because SQLite has none: a flipped bit would be another
// prompt, and nobody would see it.
const (
	blobForm = 1
	blobHead = 5
)

// errBlob is in the chain when a blob is not what appendBlob wrote.
var errBlob = errors.New("a raw turn is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendBlob appends the content of a raw turn to dst.
func appendBlob(dst []byte, r *turn.RawTurn) []byte {
	from := len(dst)
	dst = append(dst, blobForm, 0, 0, 0, 0)
	dst = appendIDs(dst, r.Opening)
	dst = appendIDs(dst, r.IDs)
	dst = binary.AppendUvarint(dst, uint64(len(r.Thinking)))
	dst = append(dst, r.Thinking...)
	binary.LittleEndian.PutUint32(dst[from+1:], crc32.Checksum(dst[from+blobHead:], castagnoli))
	return dst
}

func appendIDs(dst []byte, ids []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	return dst
}

// readBlob fills r with what appendBlob wrote. It takes memory in proportion
// to the blob, whatever the bytes say, and leaves r as it was with errBlob.
func readBlob(b []byte, r *turn.RawTurn) error {
	if len(b) < blobHead || b[0] != blobForm || binary.LittleEndian.Uint32(b[1:]) != crc32.Checksum(b[blobHead:], castagnoli) {
		return errBlob
	}
	b = b[blobHead:]
	opening, b, ok := cutIDs(b)
	if !ok {
		return errBlob
	}
	ids, b, ok := cutIDs(b)
	if !ok {
		return errBlob
	}
	n, used := binary.Uvarint(b)
	if used <= 0 || n != uint64(len(b)-used) {
		return errBlob
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
