package route

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestDecisionAsJSON(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "w0", "lowest cost", `a "b" \ <c> & d`, "\x00\x1f\x7f", "é\u2028\xff"}), rapid.String())
	number := rapid.Int()
	real := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 0.001, 1e-7, -1e-10, 1e21, 123.456}))
	term := rapid.Custom(func(t *rapid.T) Term { return Term{text.Draw(t, "term"), real.Draw(t, "value")} })
	part := rapid.Custom(func(t *rapid.T) Part {
		return Part{
			Worker: text.Draw(t, "worker"), Overlap: number.Draw(t, "overlap"), New: number.Draw(t, "new"), Pending: number.Draw(t, "pending"),
			InFlight: number.Draw(t, "in flight"), Cost: real.Draw(t, "cost"), PrefillMS: real.Draw(t, "prefill"), ReloadMS: real.Draw(t, "reload"),
			BacklogMS: real.Draw(t, "backlog"), SlowdownMS: real.Draw(t, "slowdown"), StallMS: real.Draw(t, "stall"), MemoryMS: real.Draw(t, "memory"), Out: text.Draw(t, "out"),
			Terms: rapid.SliceOfN(term, 0, 3).Draw(t, "terms"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := Decision{Worker: text.Draw(t, "worker"), Prefill: text.Draw(t, "prefill"), Overlap: number.Draw(t, "overlap"), Reason: Reason(text.Draw(t, "reason")), Strategy: text.Draw(t, "strategy"), Warning: text.Draw(t, "warning")}
		if rapid.Bool().Draw(t, "set") {
			x := real.Draw(t, "temperature")
			d.Set = &Overrides{Temperature: &x}
		}
		d.Gate = GateMode(text.Draw(t, "gate"))
		if rapid.Bool().Draw(t, "threshold") {
			x := real.Draw(t, "steps")
			d.Threshold = &x
		}
		if rapid.Bool().Draw(t, "held") {
			d.Held = &Hold{MS: real.Draw(t, "ms"), Why: text.Draw(t, "why"), Let: text.Draw(t, "let in"), Forced: rapid.Bool().Draw(t, "forced")}
		}
		if n := rapid.IntRange(-1, 3).Draw(t, "parts"); n >= 0 {
			d.Parts = make([]Part, n)
			for i := range d.Parts {
				d.Parts[i] = part.Draw(t, "part")
			}
		}
		want, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.AppendJSON([]byte("x")); string(got) != "x"+string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func BenchmarkDecisionAsJSON(b *testing.B) {
	d := Decision{Worker: "a0", Reason: Cheapest, Parts: []Part{{Worker: "a0", New: 2013, InFlight: 3, Cost: 8052}, {Worker: "a1", New: 2013, Pending: 2013, InFlight: 4, Cost: 20130}}}
	var to []byte
	b.ReportAllocs()
	for b.Loop() {
		to = d.AppendJSON(to[:0])
	}
}
