package llamacpp

import (
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// What runs at an attached server is not told anew for three seconds. A turn of
// ours that has ended by then is no other client's.
func TestLoadOfAttachedCountsOurs(t *testing.T) {
	f, url := newFace(t, plain(2))
	c, _ := probed(t, f, url)
	step := make(chan struct{})
	f.mu.Lock() // the probe's answer may still be on its way
	f.step = step
	f.mu.Unlock()
	running := func(want int) {
		t.Helper()
		if l, err := c.Load(t.Context()); err != nil || l.Running != want {
			t.Errorf("%d run, want %d (%v)", l.Running, want, err)
		}
	}
	s, err := c.Generate(t.Context(), turn.Job{Prompt: said(1, 50), MaxTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	fresh := func() { c.metered.at = time.Now().Add(time.Hour) } // on a busy machine too
	running(1)                                                   // the page says 1: ours
	fresh()
	running(1)
	close(step)
	for end := false; !end; {
		d, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		end = d.End != nil
	}
	s.Close()
	running(0)
	c.metered.at = time.Now().Add(-meterEvery)
	running(1) // the page says 1 still: another client's
	fresh()
	running(1)
	if f.count("/metrics") != 2 {
		t.Errorf("the page was read %d times", f.count("/metrics"))
	}
}
