package cache

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// regions are what the kernel was asked for.
type regions struct{ mapped *[][]byte }

// region is zeroed room for n words outside of the Go heap, on huge pages if
// the kernel has some (their state "madvise" is enough); on the heap if it
// refuses.
func (r *regions) region(n int) []uint64 {
	b, err := unix.Mmap(-1, 0, 8*n+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return make([]uint64, n)
	}
	*r.mapped = append(*r.mapped, b)
	off := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (hugePage - 1)
	at := b[off:]
	_ = unix.Madvise(at[:8*n], unix.MADV_HUGEPAGE) // without, it is only slower
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(at))), n)
}

// unmap gives the kernel back what it gave; nobody may look there any more.
func unmap(mapped *[][]byte) {
	for _, b := range *mapped {
		_ = unix.Munmap(b)
	}
}
