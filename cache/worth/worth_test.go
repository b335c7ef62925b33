package worth

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The order of routing.md's classes, for sessions as they usually are.
func TestClassesInTheirOrder(t *testing.T) {
	order := []Run{
		{Class: Shared, Tokens: 8000, Holders: 12, Return: 0.6},
		{Class: History, Depth: 8000, Tokens: 40000, Return: 0.9},
		{Class: ToolWait, Depth: 8000, Tokens: 40000, Return: Fades(60)},
		{Class: HumanWait, Depth: 8000, Tokens: 40000, Return: Fades(240)},
		{Class: ToolWait, Depth: 8000, Tokens: 40000, Return: Fades(600)},
		{Class: Finished, Depth: 8000, Tokens: 40000, Return: 1},
	}
	last := math.Inf(1)
	for i, r := range order {
		got := Of(r, Cost{PerToken: 0.09})
		if got >= last {
			t.Errorf("run %d (%v) is worth %v, the one before %v", i, r.Class, got, last)
		}
		last = got
	}
	for _, c := range []Class{Reasoning, Finished, Compacted} {
		if w := Of(Run{Class: c, Tokens: 1, Return: 1}, DefaultCost); w != 0 || !c.Dead() {
			t.Errorf("%v is worth %v", c, w)
		}
	}
	if got := Class(200).String(); got != "unknown" {
		t.Errorf("class 200 is %q", got)
	}
}

// More of what makes a run worth holding never makes it worth less, and no
// input makes a worth that is no number.
func TestWorthGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.Float64()
		r := Run{
			Class: Class(rapid.IntRange(0, 8).Draw(t, "class")), Depth: rapid.IntRange(-5, 1<<20).Draw(t, "depth"),
			Tokens: rapid.IntRange(-5, 1<<20).Draw(t, "tokens"), Holders: rapid.IntRange(-1, 50).Draw(t, "holders"),
			Return: any.Draw(t, "return"),
		}
		c := Cost{PerToken: rapid.Float64Range(0, 5).Draw(t, "token"), PerPair: rapid.Float64Range(0, 1e-4).Draw(t, "pair"), Reload: rapid.Float64Range(0, 6).Draw(t, "reload")}
		w := Of(r, c)
		if !(w >= 0) || math.IsInf(w, 0) {
			t.Fatalf("%+v at %+v is worth %v", r, c, w)
		}
		deeper, more, sooner := r, r, r
		deeper.Depth += rapid.IntRange(0, 1000).Draw(t, "further")
		more.Holders += rapid.IntRange(0, 5).Draw(t, "others")
		sooner.Return = max(r.Return, min(max(r.Return, 0)+0.1, 1))
		for name, one := range map[string]Run{"deeper": deeper, "more holders": more, "sooner": sooner} {
			if got := Of(one, c); got < w-1e-9 {
				t.Fatalf("%s: %v, before %v", name, got, w)
			}
		}
		cheap := c
		cheap.Reload++
		if Of(r, cheap) > w {
			t.Fatalf("worth more where it is dearer to load: %v", w)
		}
	})
}
