package template

import "sync"

// keptSpares is how many buffers a template keeps for renderings under way.
const keptSpares = 4

// firstSpare is room for a short conversation.
const firstSpare = 64 << 10

// spares are buffers for texts: a page holds one, and needs another only
// while it is rendered.
type spares struct {
	mu   sync.Mutex // guards bufs
	bufs [][]byte
}

// take returns the largest buffer, emptied, or a new one.
func (s *spares) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bufs) == 0 {
		return make([]byte, 0, firstSpare)
	}
	best := 0
	for i := range s.bufs {
		if cap(s.bufs[i]) > cap(s.bufs[best]) {
			best = i
		}
	}
	last := len(s.bufs) - 1
	b := s.bufs[best]
	s.bufs[best], s.bufs[last] = s.bufs[last], nil
	s.bufs = s.bufs[:last]
	return b[:0]
}

// put gives a buffer back. Nobody may use it afterwards. Where there are
// enough, the smallest is dropped.
func (s *spares) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bufs) < keptSpares {
		s.bufs = append(s.bufs, b)
		return
	}
	least := 0
	for i := range s.bufs {
		if cap(s.bufs[i]) < cap(s.bufs[least]) {
			least = i
		}
	}
	if cap(s.bufs[least]) < cap(b) {
		s.bufs[least] = b
	}
}

// fit returns a copy of a text that takes no more room than it need, and takes
// its buffer.
func (s *spares) fit(text []byte) []byte {
	kept := append([]byte(nil), text...)
	s.put(text)
	return kept
}

// roomy reports whether a buffer is too good for n bytes.
func roomy(b []byte, n int) bool { return cap(b) > n+n/4+1024 }
