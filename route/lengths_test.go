package route

import (
	"fmt"
	"math"
	"testing"
)

func TestLengths(t *testing.T) {
	var l Lengths
	if got := l.Mean("main", "Bash"); got != lengthAfterTool {
		t.Fatalf("nothing seen: %v", got)
	}
	if got := l.Mean("main", ""); got != lengthAfterUser {
		t.Fatalf("nothing seen, after a person: %v", got)
	}
	for range 500 {
		l.Observe("main", "Read", 100)
		l.Observe("main", "Write", 2_000)
		l.Observe("sub", "Read", 300)
	}
	for _, c := range []struct {
		kind, tool string
		low, high  float64
	}{
		{"main", "Read", 100, 150},
		{"main", "Write", 1_900, 2_000},
		{"main", "Grep", 1_000, 1_080}, // the mean of its kind
		{"sub", "Read", 300, 330},
		{"new", "Read", 780, 820}, // the mean of all
	} {
		if got := l.Mean(c.kind, c.tool); got < c.low || got > c.high {
			t.Errorf("%s, %s: %v", c.kind, c.tool, got)
		}
	}
	if got := l.High("main", "Write"); got < 1_600 || got > 2_600 {
		t.Errorf("nine of ten writes below %v", got)
	}
}

// What answers were long ago is forgotten.
func TestLengthsForget(t *testing.T) {
	var l Lengths
	for range 5_000 {
		l.Observe("main", "", 100)
	}
	for range 3 * binHalves {
		l.Observe("main", "", 1_000)
	}
	if got := l.Mean("main", ""); got < 850 {
		t.Fatalf("still %v", got)
	}
	var h histogram
	for range 1_000_000 {
		h.add(500)
	}
	if math.Abs(h.mean()-500) > 1 || math.IsInf(h.total, 0) {
		t.Fatalf("%v after a million, total %v", h.mean(), h.total)
	}
}

func TestLengthsAreBounded(t *testing.T) {
	var l Lengths
	for i := range 10_000 {
		l.Observe(fmt.Sprint("k", i), fmt.Sprint("t", i), 10)
	}
	if len(l.kinds) > lengthGroups || len(l.tools) > lengthGroups {
		t.Fatalf("%d kinds, %d tools", len(l.kinds), len(l.tools))
	}
}
