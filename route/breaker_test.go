package route

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestBreaker(t *testing.T) {
	const s = time.Second
	type step struct {
		at   time.Duration
		do   string
		open bool
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"two failures are chance", []step{{0, "fail", false}, {0, "fail", false}, {0, "done", false}, {0, "fail", false}, {0, "fail", false}}},
		{"three open it", []step{{0, "fail", false}, {0, "fail", false}, {0, "fail", true}, {s - 1, "", true}, {s, "", false}}},
		{"one turn alone may be why", []step{{0, "fail", false}, {0, "again", false}, {0, "fail", false}, {0, "again", false}, {0, "fail", true}}},
		{"one on trial", []step{{0, "break", true}, {s, "", false}, {s, "take", true}, {9 * s, "", true}}},
		{"a trial that fails doubles", []step{
			{0, "break", true},
			{s, "take", true},
			{s, "fail", true},
			{3*s - 1, "", true},
			{3 * s, "take", true},
			{4 * s, "fail", true},
			{8*s - 1, "", true},
			{8 * s, "", false},
		}},
		{"a trial that ends well closes", []step{{0, "break", true}, {s, "take", true}, {s, "done", false}, {s, "fail", false}}},
		{"a first token lets others in", []step{{0, "break", true}, {s, "take", true}, {s, "began", false}, {s, "take", false}, {2 * s, "fail", true}, {4*s - 1, "", true}, {4 * s, "", false}}},
		{"a trial that tells nothing", []step{{0, "break", true}, {s, "take", true}, {s, "drop", false}, {s, "take", true}}},
		{"those sent before do not count", []step{{0, "break", true}, {0, "fail", true}, {0, "fail", true}, {s, "", false}}},
		{"one sent before that ends well", []step{{0, "break", true}, {0, "done", false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Breaker
			begin := time.Unix(1000, 0)
			for i, step := range c.steps {
				now := begin.Add(step.at)
				switch step.do {
				case "fail":
					b.Fail(now, fmt.Sprint(i), "500")
				case "again":
					b.Fail(now, fmt.Sprint(i-1), "500")
				case "break":
					for n := range breakAfter {
						b.Fail(now, fmt.Sprint(n), "500")
					}
				case "take":
					b.Take()
				case "began":
					b.Began()
				case "done":
					b.Done()
				case "drop":
					b.Drop()
				}
				if got := b.Open(now); got != step.open {
					t.Fatalf("step %d, %s: open %v, want %v", i, step.do, got, step.open)
				}
				if why := b.Why(now); (why != "") != step.open || step.open && !strings.HasSuffix(why, " failed in a row: 500") {
					t.Fatalf("step %d: why %q", i, why)
				}
			}
		})
	}
}

func TestBreakIsNeverLonger(t *testing.T) {
	var b Breaker
	now := time.Unix(1000, 0)
	last := time.Duration(0)
	for i := range 20 {
		last = b.Fail(now, fmt.Sprint(i), "500")
		now = now.Add(last)
		b.Take()
	}
	if last != longestBreak {
		t.Fatalf("the last pause is %v, want %v", last, longestBreak)
	}
}
