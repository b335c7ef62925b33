package bpe

import "math/bits"

const (
	// rankBits is room for the rank of a merge; with two ids below maxID it
	// fills a slot of 64 bits.
	rankBits = 20
	// maxMerges bounds the merges of a file.
	maxMerges = 1<<rankBits - 1
	// none is the rank of two tokens that no merge joins. It is above every
	// real rank, so the least rank wins without a test.
	none = uint32(1<<32 - 1)
	// emptySlot is no merge's slot: maxMerges keeps the last rank free.
	emptySlot = ^uint64(0)
)

// pairs finds a merge by the two tokens that it joins: a flat open-addressing
// table that never changes once it is built, and a square of all pairs of
// bytes, since every piece that is merged begins with those.
type pairs struct {
	slots  []uint64 // left id, right id, rank
	shift  uint
	joined []uint32 // id of the joined token, by rank
	bytes  [256 * 256]uint32
	tame   []bool // by rank: only later merges want the token it makes
}

// join is one merge: the tokens it takes, the one it makes and when it is
// due. Merges of the same rank make the same token.
type join struct{ left, right, joined, rank uint32 }

// newPairs returns the table of merges, which come in the order of rank; of
// two merges of the same pair the later one counts. It stays more than half
// empty: most look-ups find nothing and should see that at once. byteID are
// the ids of the bytes.
func newPairs(merges []join, byteID *[256]uint32) *pairs {
	size := max(1, bits.Len(uint(2*len(merges))))
	p := &pairs{slots: make([]uint64, 1<<size), shift: uint(64 - size), joined: make([]uint32, ranksOf(merges))}
	for i := range p.slots {
		p.slots[i] = emptySlot
	}
	p.tame = tame(merges)
	for _, m := range merges {
		p.joined[m.rank] = m.joined
		key := pairKey(m.left, m.right)
		i := p.home(key)
		for p.slots[i] != emptySlot && p.slots[i]>>rankBits != key {
			i = (i + 1) & (len(p.slots) - 1)
		}
		p.slots[i] = key<<rankBits | uint64(m.rank)
	}
	for i := range p.bytes {
		p.bytes[i] = p.find(byteID[i>>8], byteID[i&255])
	}
	return p
}

// ranksOf is one more than the highest rank of merges.
func ranksOf(merges []join) int {
	if len(merges) == 0 {
		return 0
	}
	return int(merges[len(merges)-1].rank) + 1
}

// tame says of each rank whether all merges that want the token it makes are
// later ones. Then what becomes possible by it is never due before it.
func tame(merges []join) []bool {
	highest := uint32(0)
	for _, m := range merges {
		highest = max(highest, m.left, m.right, m.joined)
	}
	used := make([]bool, highest+1)
	all := make([]bool, ranksOf(merges))
	for _, m := range merges {
		used[m.left], used[m.right] = true, true
		all[m.rank] = !used[m.joined]
	}
	return all
}

// find returns the rank of the merge of two tokens, or none.
func (p *pairs) find(left, right uint32) uint32 {
	key := pairKey(left, right)
	for i := p.home(key); ; i = (i + 1) & (len(p.slots) - 1) {
		s := p.slots[i]
		if s>>rankBits == key {
			return uint32(s & maxMerges)
		}
		if s == emptySlot {
			return none
		}
	}
}

// ofBytes returns the rank of the merge of two bytes, or none.
func (p *pairs) ofBytes(left, right byte) uint32 {
	return p.bytes[int(left)<<8|int(right)]
}

// home is the slot where the search for a key begins.
func (p *pairs) home(key uint64) int {
	return int((key ^ key>>29) * 0x9e3779b97f4a7c15 >> p.shift)
}

// pairKey packs two ids, which are below maxID.
func pairKey(left, right uint32) uint64 { return uint64(left)*maxID | uint64(right) }
