package replay

import "testing"

// Engines that could be told what to keep find more than by LRU, and who looks
// ahead finds most.
func TestIdeal(t *testing.T) {
	tr := paused(t)
	c := tight()
	lru := run(t, tr, c)
	c.Evict = ByValue
	value := run(t, tr, c)
	c.Evict = ByBelady
	belady := run(t, tr, c)
	if belady.Hit <= lru.Hit || value.Hit <= lru.Hit || belady.Hit < value.Hit {
		t.Errorf("LRU %.3f, value %.3f, Belady %.3f", lru.Hit, value.Hit, belady.Hit)
	}
	c.Evict = "nonsense"
	if _, err := Run(t.Context(), tr, c); err == nil {
		t.Error("no error for an evictor that nobody knows")
	}
}
