package fleet

import (
	"testing"
	"time"
)

// hosted is a worker of ten blocks of 16 tokens whose host tier has twice as many.
func hosted(s Saving) *Worker {
	w := NewWorker(0, Profile{Step: 1, Token: 0.1, Batched: 4096, Slots: 8}, 16, 160)
	w.Host(NewTier(20, s, 0.01))
	return w
}

// play plays a request of n blocks and a token, whose answer fills none.
func play(t *testing.T, w *Worker, line, n int, now time.Duration, save bool) (*Request, time.Duration) {
	t.Helper()
	r := &Request{Prompt: n*16 + 1, Output: 2, Save: save}
	for i := range n {
		r.Chain = append(r.Chain, uint64(line*100+i+1))
		r.Content = append(r.Content, uint64(i+1))
	}
	w.Submit(r, now)
	for {
		at, busy := w.Next()
		if !busy {
			return r, now
		}
		now = at
		w.Finish(now)
	}
}

// What was evicted is loaded, and takes the time of the link.
func TestWriteBack(t *testing.T) {
	w := hosted(WriteBack)
	first, now := play(t, w, 1, 8, 0, false)
	if first.Cached != 0 || w.HostDepth(first.Chain, 0) != 0 {
		t.Fatalf("found %d, host has %d", first.Cached, w.HostDepth(first.Chain, 0))
	}
	_, now = play(t, w, 2, 8, now, false) // pushes out the end of the first
	if n := w.HostDepth(first.Chain, 1); n != 7 {
		t.Fatalf("host has %d blocks behind the first", n)
	}
	again, end := play(t, w, 1, 8, now, false)
	if again.Cached != 8*16 || again.Loaded != 7*16 {
		t.Errorf("found %d tokens, %d of them loaded", again.Cached, again.Loaded)
	}
	if wait := again.First - now; wait < duration(0.01*7*16) || end < again.First {
		t.Errorf("the first token came after %v", wait)
	}
	if w.tier.Loads != 7*16 {
		t.Errorf("loaded %d tokens", w.tier.Loads)
	}
}

// What is copied at once lies twice; what nobody asked for is not copied.
func TestWriteThrough(t *testing.T) {
	for _, c := range []struct {
		saving Saving
		save   bool
		want   int
	}{{WriteThrough, false, 8}, {SaveAsked, false, 0}, {SaveAsked, true, 8}} {
		w := hosted(c.saving)
		r, _ := play(t, w, 1, 8, 0, c.save)
		if n := w.HostDepth(r.Chain, 0); n != c.want {
			t.Errorf("%s, asked %v: host has %d blocks", c.saving, c.save, n)
		}
	}
}

// One that loads keeps nobody else: a request that comes meanwhile is computed.
func TestLoadBeside(t *testing.T) {
	w := hosted(WriteThrough)
	w.tier.token = 10 // a second for six blocks
	r, now := play(t, w, 1, 6, 0, false)
	_, now = play(t, w, 2, 9, now, false) // all of the first is out
	again := &Request{Chain: r.Chain, Content: r.Content, Prompt: r.Prompt, Output: 2}
	w.Submit(again, now)
	if at, busy := w.Next(); !busy || at != again.ready {
		t.Fatalf("it waits until %v, for what is there at %v", at, again.ready)
	}
	other, end := play(t, w, 3, 1, now+time.Millisecond, false)
	if again.Loaded != 6*16 || other.First >= again.First || again.First < again.ready || end < again.Ended {
		t.Errorf("loaded %d; first tokens at %v and %v, ready at %v", again.Loaded, again.First, other.First, again.ready)
	}
	if w.Busy >= end {
		t.Errorf("busy for %v of %v", w.Busy, end)
	}
}
