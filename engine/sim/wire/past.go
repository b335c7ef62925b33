package wire

import "sync"

// maxPast bounds the payload bytes that are kept for replay.
const maxPast = 64 << 20

// past keeps the newest batches for replay.
type past struct {
	limit int // batches

	mu       sync.Mutex // guards all below
	next     uint64     // number of the next batch
	payloads [][]byte   // of the batches before next, oldest first
	bytes    int
}

// add keeps a batch and returns its number. The payload is not to be written
// afterwards.
func (p *past) add(payload []byte) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.payloads = append(p.payloads, payload)
	p.bytes += len(payload)
	for len(p.payloads) > p.limit || p.bytes > maxPast && len(p.payloads) > 1 {
		p.bytes -= len(p.payloads[0])
		p.payloads[0] = nil
		p.payloads = p.payloads[1:]
	}
	p.next++
	return p.next - 1
}

// since returns the kept batches numbered start and up, and the number of the
// first of them.
func (p *past) since(start uint64) (first uint64, payloads [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	oldest := p.next - uint64(len(p.payloads))
	first = max(start, oldest)
	if first >= p.next {
		return p.next, nil
	}
	return first, append([][]byte(nil), p.payloads[first-oldest:]...)
}
