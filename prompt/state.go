package prompt

import "github.com/zeebo/xxh3"

// State is what one agent's last prompt was made of. The zero value is ready.
// It belongs to one goroutine at a time and holds the last prompt's ids.
type State struct {
	ids   []uint32 // the last Prompt's; never written
	parts []part
}

// part is one segment: what it was made of and where its ids end.
type part struct {
	key xxh3.Uint128
	end int
}

// Clone returns a State that goes its own way from here, for an agent that
// forks. It costs nothing: what it shares is never written.
func (s *State) Clone() *State {
	c := *s
	return &c
}

// Len tells how many ids the State holds.
func (s *State) Len() int { return len(s.ids) }

// span returns the ids of part i.
func (s *State) span(i int) []uint32 {
	from := 0
	if i > 0 {
		from = s.parts[i-1].end
	}
	return s.ids[from:s.parts[i].end]
}

// search walks a State beside a new prompt. While both agree it costs one
// comparison per segment; the index is made at the first difference, over
// what is left.
type search struct {
	s     *State
	next  int
	index map[xxh3.Uint128]int
}

// find returns the ids of the segment with this key, wherever it was.
func (f *search) find(key xxh3.Uint128) ([]uint32, bool) {
	if f.index == nil && f.next < len(f.s.parts) && f.s.parts[f.next].key == key {
		f.next++
		return f.s.span(f.next - 1), true
	}
	if f.index == nil {
		f.index = make(map[xxh3.Uint128]int, len(f.s.parts)-f.next)
		for i := f.next; i < len(f.s.parts); i++ {
			f.index[f.s.parts[i].key] = i
		}
	}
	i, ok := f.index[key]
	if !ok {
		return nil, false
	}
	return f.s.span(i), true
}
