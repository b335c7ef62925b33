package cache

// memory hands out the room of an index's tables, and keeps the account of it.
// What was handed out is never given back before the index goes: readers look
// at tables without asking anybody, so a table never moves and never shrinks.
//
// The first mebibyte lies on the Go heap, where its small slices without
// pointers cost the collector nothing; the rest lies outside of it, on huge
// pages where the system has them: a look at a random line of a large table
// takes a third of the time there (see regions).
type memory struct {
	limit int64 // bytes; beyond it words refuses
	taken int64
	left  []uint64 // of the newest region
	next  int      // words of the next region
	regions
}

const (
	onHeap      = 1 << 20 // bytes
	firstRegion = 4 << 20 / 8
	lastRegion  = 64 << 20 / 8
)

// has tells whether there are n words.
func (m *memory) has(n int) bool { return m.taken+8*int64(n) <= m.limit }

// words hands out n zeroed words, nil when the limit would be passed.
func (m *memory) words(n int) []uint64 {
	if !m.has(n) {
		return nil
	}
	m.taken += 8 * int64(n)
	if m.taken <= onHeap {
		return make([]uint64, n)
	}
	if len(m.left) < n {
		m.next = min(max(2*m.next, firstRegion), lastRegion)
		m.left = m.region(max(m.next, n))
	}
	out := m.left[:n:n]
	m.left = m.left[n:]
	return out
}

// charge books memory that lies elsewhere; less than nothing gives back.
func (m *memory) charge(bytes int) { m.taken += int64(bytes) }
