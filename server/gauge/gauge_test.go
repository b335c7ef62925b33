package gauge

import (
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var h Hist
	if h.Quantile(0.5) >= 0 {
		t.Fatalf("empty: %v, want negative", h.Quantile(0.5))
	}
	for i := 1; i <= 1000; i++ {
		h.Add(time.Duration(i) * time.Millisecond)
	}
	for _, c := range []struct {
		q    float64
		want time.Duration
	}{{0.5, 500 * time.Millisecond}, {0.95, 950 * time.Millisecond}, {1, time.Second}} {
		got := h.Quantile(c.q)
		if got < c.want || got > c.want+c.want/16+time.Millisecond {
			t.Errorf("q%v = %v, want %v to +1/16", c.q, got, c.want)
		}
	}
}

func TestSlotsCoverAllDurations(t *testing.T) {
	for d := time.Microsecond; d < 2*time.Hour; d = d*3/2 + time.Microsecond {
		i := slot(d)
		if d < time.Hour && upper(i) < d {
			t.Errorf("upper(slot(%v)) = %v", d, upper(i))
		}
	}
	slot(-time.Second)
	slot(1 << 62)
}

func TestWindowForgets(t *testing.T) {
	w := NewWindow(3, time.Second)
	at := time.Unix(1000, 0)
	one := func(s *Sums) { s.Decided++ }
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Second, 2}, {2 * time.Second, 3}, {3 * time.Second, 3}, {5 * time.Second, 2}, {100 * time.Second, 1}} {
		w.Add(at.Add(c.after), one)
		if got := w.Look(at.Add(c.after)).Decided; got != c.want {
			t.Errorf("after %v: %d, want %d", c.after, got, c.want)
		}
	}
	w.Add(at, one) // a clock that stepped back loses nothing
	if got := w.Look(at).Decided; got != 2 {
		t.Errorf("clock back: %d, want 2", got)
	}
	n := 0
	w.Each(at.Add(100*time.Second), func(s *Sums) { n++ })
	if n != 3 {
		t.Errorf("each saw %d buckets, want 3", n)
	}
}
