package vllm

import "sync"

// parcel is a request's body, in memory that later requests use again.
type parcel struct {
	b      []byte   // what was written for this request
	pieces [][]byte // the body: parts of b, and what lies elsewhere
}

// maxParcel is how much memory is kept for a later request.
const maxParcel = 4 << 20

var parcels = sync.Pool{New: func() any { return new(parcel) }}

// newParcel returns an empty parcel.
func newParcel() *parcel {
	p := parcels.Get().(*parcel)
	p.b, p.pieces = p.b[:0], p.pieces[:0]
	return p
}

// release gives the memory back.
func (p *parcel) release() {
	if cap(p.b) <= maxParcel {
		clear(p.pieces)
		parcels.Put(p)
	}
}
