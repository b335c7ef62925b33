package pause

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/replay/trace"
)

// recorded are the pauses of the Claude Code trace, in the order in which its
// sessions stand, each with what it was for.
func recorded(t *testing.T) (keys []Key, pauses []time.Duration) {
	t.Helper()
	top := os.Getenv("DYN_TRACES")
	if top == "" {
		top = filepath.Join("..", "..", "..", "shared", "traces")
	}
	path := filepath.Join(top, "claude-code-weka", "claude_code_710.compact.jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no trace at %s; set DYN_TRACES to run this test", path)
	}
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Sessions {
		for j := range tr.Sessions[i].Turns {
			if u := &tr.Sessions[i].Turns[j]; j > 0 {
				k := Key{Class: Tool}
				if u.Human {
					k.Class = Human
				}
				keys, pauses = append(keys, k), append(pauses, u.Pause)
			}
		}
	}
	return keys, pauses
}

// Each recorded pause is told before it is learnt. Nine of ten are over by the
// time that was said to be that of nine of ten, of each class and in each part
// of the trace; and half of them by that of half.
func TestCoverageOfRecordedPauses(t *testing.T) {
	keys, pauses := recorded(t)
	e := New()
	type tally struct{ within, all [2]int }
	parts := map[string]*tally{}
	shares := [2]float64{0.9, 0.5}
	for i, k := range keys {
		if i >= 200 { // ranks of some pauses are needed
			for _, part := range []string{string(k.Class), "part " + string(rune('1'+i*5/len(keys)))} {
				p := parts[part]
				if p == nil {
					p = &tally{}
					parts[part] = p
				}
				for s, share := range shares {
					p.all[s]++
					if pauses[i] <= e.By(k, 0, share) {
						p.within[s]++
					}
				}
			}
		}
		e.Observe(k, pauses[i])
	}
	for part, p := range parts {
		for s, share := range shares {
			if got := float64(p.within[s]) / float64(p.all[s]); math.Abs(got-share) > 0.03 {
				t.Errorf("%s: %.3f of %d pauses are over when %.1f were to be", part, got, p.all[s], share)
			} else {
				t.Logf("%s: %.3f of %d at %.1f", part, got, p.all[s], share)
			}
		}
	}
}

// What is said of the next half minute comes true as often as it is said, given
// how long the agent has been away already.
func TestReturnsAreCalibrated(t *testing.T) {
	keys, pauses := recorded(t)
	var e *Estimator
	const within = 30 * time.Second
	for _, elapsed := range []time.Duration{0, 10 * time.Second, time.Minute, 5 * time.Minute} {
		e = New()
		var said, came, n float64
		for i, k := range keys {
			if i > 1000 && pauses[i] > elapsed {
				n++
				said += e.Returns(k, elapsed, within)
				if pauses[i] <= elapsed+within {
					came++
				}
			}
			e.Observe(k, pauses[i])
		}
		if t.Logf("after %v: said %.3f, came %.3f of %.0f", elapsed, said/n, came/n, n); math.Abs(said-came)/n > 0.05 {
			t.Errorf("after %v: said %.3f, came %.3f", elapsed, said/n, came/n)
		}
	}
}

// A wrong memory loses its say: coverage comes back, since it is read off what
// came true of late.
func TestPoisonedEstimatorRecovers(t *testing.T) {
	keys, pauses := recorded(t)
	e := New()
	for range 5000 {
		e.Observe(Key{Class: Tool}, 3*time.Hour)
		e.Observe(Key{Class: Human}, time.Millisecond)
	}
	within, all := 0, 0
	for i, k := range keys {
		if i > 3000 {
			all++
			if pauses[i] <= e.By(k, 0, 0.9) {
				within++
			}
		}
		e.Observe(k, pauses[i])
	}
	if got := float64(within) / float64(all); got < 0.87 || got > 0.93 {
		t.Errorf("%.3f of %d pauses", got, all)
	}
}

// The probability is one, whatever was learnt, grows with the time given, and
// the time grows with the probability asked for.
func TestEstimatesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New()
		key := func() Key {
			return Key{
				rapid.SampledFrom([]Class{Tool, Human, Subagent, "other"}).Draw(t, "class"),
				rapid.SampledFrom([]string{"", "Bash", "Read"}).Draw(t, "tool"), rapid.SampledFrom([]string{"", "ci"}).Draw(t, "tenant"),
			}
		}
		length := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(math.Exp(rapid.Float64Range(0, 40).Draw(t, "log")))
		})
		for range rapid.IntRange(0, 60).Draw(t, "pauses") {
			d := length.Draw(t, "pause")
			if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
				d = Never
			}
			e.Observe(key(), d)
		}
		k, elapsed := key(), length.Draw(t, "elapsed")
		soon, later := length.Draw(t, "soon"), length.Draw(t, "later")
		if soon > later {
			soon, later = later, soon
		}
		p, q := e.Returns(k, elapsed, soon), e.Returns(k, elapsed, later)
		if !(p >= 0 && p <= 1 && q >= 0 && q <= 1) || p > q+1e-9 {
			t.Fatalf("back in %v with %v, in %v with %v", soon, p, later, q)
		}
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		if x, y := e.By(k, elapsed, min(a, b)), e.By(k, elapsed, max(a, b)); x > y+time.Microsecond || y < 0 {
			t.Fatalf("by %v with %v, by %v with %v", x, min(a, b), y, max(a, b))
		}
		memory, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		again := New()
		if err := json.Unmarshal(memory, again); err != nil {
			t.Fatal(err)
		}
		if got := again.Returns(k, elapsed, soon); got != p {
			t.Fatalf("learnt anew: %v, want %v", got, p)
		}
	})
}

func TestNeverCountsAgainstReturns(t *testing.T) {
	e, k := New(), Key{Class: Human}
	for range 500 {
		e.Observe(k, time.Minute)
		e.Observe(k, Never)
	}
	if p := e.Returns(k, 0, time.Hour); p < 0.45 || p > 0.55 {
		t.Errorf("back in an hour with %v", p)
	}
	if p := e.Returns(k, 10*time.Minute, time.Hour); p > 0.05 {
		t.Errorf("after ten minutes back with %v", p)
	}
}

func TestEstimatorIsBounded(t *testing.T) {
	e := New()
	for i := range 5000 {
		e.Observe(Key{Tool, string(rune('a' + i%26)), string(rune(i))}, time.Second)
	}
	if len(e.kinds) > mostKeys {
		t.Errorf("%d keys", len(e.kinds))
	}
}

// FuzzMemory: what is no memory is refused, and changes nothing.
func FuzzMemory(f *testing.F) {
	e := New()
	e.Observe(Key{Tool, "Bash", ""}, time.Second)
	memory, err := json.Marshal(e)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(memory)
	f.Add([]byte(`{"version":1,"kinds":[{"class":"tool","n":-1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := New()
		if json.Unmarshal(b, e) != nil {
			return
		}
		if p := e.Returns(Key{Tool, "Bash", ""}, time.Second, time.Minute); !(p >= 0 && p <= 1) {
			t.Fatalf("back with %v", p)
		}
		e.Observe(Key{Tool, "Bash", ""}, time.Minute)
		e.By(Key{Class: Tool}, 0, 0.9)
	})
}

func BenchmarkReturns(b *testing.B) {
	e, k := New(), Key{Tool, "Bash", "ci"}
	for i := range 1000 {
		e.Observe(k, time.Duration(i)*time.Second)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Returns(k, 30*time.Second, time.Minute)
	}
}
