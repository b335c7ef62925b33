package diff

import (
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Sum is the hash of a block, part by part.
type Sum struct {
	Text, Data uint64 // Data: of Args or Raw
	ID, Name   uint32
	Kind       turn.BlockKind
	Error      bool
}

// Sketch is what is kept of a turn's messages. The zero Sketch is of none. It
// belongs to one goroutine at a time.
type Sketch struct {
	sums  []Sum
	ends  []int32 // of each message, where its sums end
	roles []byte  // the first letter of each role
}

// Len is how many messages the sketch is of.
func (s *Sketch) Len() int { return len(s.ends) }

// Blocks is how many blocks message i has.
func (s *Sketch) Blocks(i int) int { return len(s.message(i)) }

// Bytes tells how much memory the sketch takes.
func (s *Sketch) Bytes() int {
	return cap(s.sums)*int(unsafe.Sizeof(Sum{})) + 4*cap(s.ends) + cap(s.roles)
}

// Clone returns a sketch that goes its own way.
func (s *Sketch) Clone() Sketch {
	return Sketch{slices.Clone(s.sums), slices.Clone(s.ends), slices.Clone(s.roles)}
}

// Follow brings the sketch up to ms, of which the first same ones are as they
// were.
func (s *Sketch) Follow(ms []turn.Message, same int) {
	same = min(same, s.Len())
	s.sums, s.ends, s.roles = s.sums[:s.start(same)], s.ends[:same], s.roles[:same]
	for i := same; i < len(ms); i++ {
		m := &ms[i]
		for j := range m.Blocks {
			s.sums = append(s.sums, sumOf(&m.Blocks[j]))
		}
		s.ends, s.roles = append(s.ends, int32(len(s.sums))), append(s.roles, letter(m.Role))
	}
}

// start is where the sums of message i begin.
func (s *Sketch) start(i int) int {
	if i == 0 {
		return 0
	}
	return int(s.ends[i-1])
}

// message returns the sums of message i.
func (s *Sketch) message(i int) []Sum { return s.sums[s.start(i):s.ends[i]] }

// has is what each message from one on says, and how often.
func (s *Sketch) has(from int) map[uint64]int {
	all := make(map[uint64]int, s.Len()-from)
	for i := from; i < s.Len(); i++ {
		all[whole(s.roles[i], s.message(i))]++
	}
	return all
}

// Kept tells for each of ms from one on whether the turn of the sketch had a
// message, there or behind, that says the same.
func (s *Sketch) Kept(ms []turn.Message, from int) []bool {
	kept := make([]bool, len(ms))
	had := s.has(min(from, s.Len()))
	var room []Sum
	for i := from; i < len(ms); i++ {
		room = appendSums(room[:0], &ms[i])
		if k := whole(letter(ms[i].Role), room); had[k] > 0 {
			kept[i] = true
			had[k]--
		}
	}
	return kept
}

func appendSums(dst []Sum, m *turn.Message) []Sum {
	for j := range m.Blocks {
		dst = append(dst, sumOf(&m.Blocks[j]))
	}
	return dst
}

func sumOf(b *turn.Block) Sum {
	s := Sum{Text: xxh3.HashString(b.Text), Kind: b.Kind, Error: b.IsError}
	if b.ID != "" {
		s.ID = uint32(xxh3.HashString(b.ID))
	}
	if b.Name != "" {
		s.Name = uint32(xxh3.HashString(b.Name))
	}
	if len(b.Args) > 0 {
		s.Data = xxh3.Hash(b.Args)
	}
	if len(b.Raw) > 0 {
		s.Data ^= xxh3.Hash(b.Raw)
	}
	return s
}

// whole is the hash of a message. What its calls are named by does not count:
// some clients name them anew each time, and few templates print it.
func whole(role byte, sums []Sum) uint64 {
	h := uint64(role) + 1
	for _, s := range sums {
		for _, part := range [...]uint64{s.Text, s.Data, uint64(s.Name), uint64(s.Kind)} {
			h = (h ^ part) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
	}
	return h
}

func letter(r turn.Role) byte {
	if r == "" {
		return 0
	}
	return r[0]
}
