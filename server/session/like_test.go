package session

import (
	"testing"
	"time"
)

// A crowd of new sessions is compared as far as there is something to spare, which
// comes back with time.
func TestSpare(t *testing.T) {
	var s spare
	now := time.Unix(1000, 0)
	took := func(n int) (yes int) {
		for range n {
			if s.take(now) {
				yes++
			}
		}
		return yes
	}
	if n := took(1000); n != spareMost {
		t.Errorf("%d of a crowd are compared, want %d", n, spareMost)
	}
	now = now.Add(time.Second)
	if n := took(1000); n != sparePerSecond {
		t.Errorf("%d a second later, want %d", n, sparePerSecond)
	}
	now = now.Add(time.Hour)
	if n := took(1000); n != spareMost {
		t.Errorf("%d an hour later, want %d", n, spareMost)
	}
}
