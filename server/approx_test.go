package server

import "testing"

// TestWithoutEvents: of an engine that tells no events it is assumed that it
// holds what was sent there.
func TestWithoutEvents(t *testing.T) {
	r := newRig(t, 1, "--kv-events-config", `{"enable_kv_cache_events":false}`)
	body := `{"model":"sim","messages":[{"role":"user","content":` + quote(words(200)) + `}]}`
	for range 2 {
		if status, answer := r.post("/v1/chat/completions", body); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if row := r.rows(2)[1]; row.Overlap == 0 || row.Overlap != row.Cached {
		t.Errorf("overlap %d, cached %d: want equal and more than nothing", row.Overlap, row.Cached)
	}
	if w := r.s.Snapshot().Workers[0]; w.Index != "approximate" {
		t.Errorf("the index is from %q", w.Index)
	}
}
