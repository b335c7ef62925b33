package vllm

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// parcel is a request's body, in memory that later requests use again: the
// transport may read a body after it has returned the answer, so the memory
// is free when all readers are closed and its maker has let go of it.
type parcel struct {
	b    []byte
	held atomic.Int32
}

// maxParcel is how much memory is kept for a later request.
const maxParcel = 4 << 20

var parcels = sync.Pool{New: func() any { return new(parcel) }}

// newParcel returns an empty parcel that its caller holds.
func newParcel() *parcel {
	p := parcels.Get().(*parcel)
	p.b = p.b[:0]
	p.held.Store(1)
	return p
}

// open returns a reader of the whole. The caller must hold the parcel.
func (p *parcel) open() (io.ReadCloser, error) {
	p.held.Add(1)
	return &parcelReader{Reader: bytes.NewReader(p.b), p: p}, nil
}

// release lets go of the parcel.
func (p *parcel) release() {
	if p.held.Add(-1) == 0 && cap(p.b) <= maxParcel {
		parcels.Put(p)
	}
}

// parcelReader reads a parcel. Close is safe to call twice, from any
// goroutine.
type parcelReader struct {
	*bytes.Reader
	p      *parcel
	closed atomic.Bool
}

func (r *parcelReader) Close() error {
	if r.closed.CompareAndSwap(false, true) {
		r.p.release()
	}
	return nil
}
