package port

import (
	"fmt"
	"net"
	"testing"
)

// TestFree: what is chosen can be bound, is none of those that the kernel
// hands out by itself, and is hardly ever the same twice.
func TestFree(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		p, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		if p < floor || p >= lowest() {
			t.Fatalf("port %d is not in %d–%d", p, floor, lowest()-1)
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		seen[p] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d different ports of 50, all of them held", len(seen))
	}
}
