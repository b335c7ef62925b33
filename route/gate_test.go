package route

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// crammed is a worker at work whose cache is too small for its sessions.
func crammed(name string) Candidate {
	return Candidate{Worker: name, KVTokens: 100_000, InFlight: 1, Hot: 90_000, Thrash: true}
}

func TestGate(t *testing.T) {
	cold := Need{Turn: "t", Prompt: 20_000}
	for _, c := range []struct {
		name   string
		mode   GateMode
		held   time.Duration
		c      func(*Candidate)
		admit  bool
		forced bool
		until  time.Duration
	}{
		{"thrash holds a cold turn", "", 0, nil, false, false, 180 * time.Second},
		{"off never does", Open, 0, nil, true, false, 0},
		{"auto lets it go to a worker that is well", Auto, 0, func(c *Candidate) { c.Thrash = false }, true, false, 0},
		{"balanced does not ask how workers are", Balanced, 0, func(c *Candidate) { c.Thrash = false }, false, false, 40 * time.Second},
		{"throughput holds longer", Throughput, 0, nil, false, false, 180 * time.Second},
		{"half of it cached is warm", Auto, 0, func(c *Candidate) { c.Overlap = 10_000 }, true, false, 0},
		{"less is not", Auto, 0, func(c *Candidate) { c.Overlap = 9_999 }, false, false, 180 * time.Second},
		{"lower tiers are warm too", Auto, 0, func(c *Candidate) { c.Overlap, c.Lower = 4_000, [3]int{3_000, 2_000, 1_000} }, true, false, 0},
		{"room beside the sessions in use", Auto, 0, func(c *Candidate) { c.Hot = 72_000 }, true, false, 0},
		{"a token more and there is none", Auto, 0, func(c *Candidate) { c.Hot = 72_001 }, false, false, 180 * time.Second},
		{"nothing runs anywhere", Auto, 0, func(c *Candidate) { c.InFlight = 0 }, true, false, 0},
		{"nor where the gate always holds", Throughput, 0, func(c *Candidate) { c.InFlight = 0 }, true, false, 0},
		{"a worker that it cannot go to has none", Auto, 0, func(c *Candidate) { c.Context = 5 }, true, false, 0},
		{"its time is over", Balanced, 40 * time.Second, nil, true, true, 40 * time.Second},
		{"not where a cache thrashes", Auto, 179 * time.Second, nil, false, false, 180 * time.Second},
		{"three minutes at most", Auto, 180 * time.Second, nil, true, true, 180 * time.Second},
		{"no limit known, nothing to hold for", Balanced, 0, func(c *Candidate) { c.KVTokens = 0 }, true, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := crammed("a")
			if c.c != nil {
				c.c(&w)
			}
			v := Gate{c.mode}.Judge(epoch.Add(c.held), epoch, &cold, []Candidate{w})
			want := time.Time{}
			if c.until > 0 {
				want = epoch.Add(c.until)
			}
			if v.Admit != c.admit || v.Forced != c.forced || !v.Until.Equal(want) || v.Why == "" {
				t.Fatalf("%+v, want admitted %v, forced %v, until %v", v, c.admit, c.forced, want)
			}
		})
	}
}

// A worker that has had no turn for as long as what is evicted in thrash lay
// unused has nothing of that kind: a cold turn goes, whatever the others do.
func TestGateSeesAnIdleWorker(t *testing.T) {
	d := newBooks(100_000, "a", "b")
	d.send("s1", "a", 90_000, 0)
	d.serve("s2", "b", 60_000, 0)
	d.serve("s2", "b", 60_000, 60_000)
	for i, c := range []struct {
		pass  time.Duration
		admit bool
	}{{0, false}, {thrashAge - time.Second, false}, {time.Second, true}} {
		d.pass(c.pass)
		cs := []Candidate{d.look("", "a"), d.look("", "b")}
		for i := range cs {
			cs[i].Thrash = true
		}
		if v := (Gate{}).Judge(d.now, d.now, &Need{Turn: "t", Prompt: 50_000}, cs); v.Admit != c.admit {
			t.Errorf("%d: %+v of %+v", i, v, cs)
		}
	}
}

// Below the threshold a turn never waits: with a worker that has room for it
// and whose cache is not too small, the gate admits and the rule places it.
func TestBelowTheThresholdNothingWaits(t *testing.T) {
	for _, r := range Rules() {
		s, err := New(r.Name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(r.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				cs := drawCandidates(t)
				n := drawNeed(t, len(cs))
				free := Candidate{Worker: "free", LoRA: true, Slots: 8, InFlight: rapid.IntRange(0, 7).Draw(t, "in flight"), MaxBatched: 8192, Pending: rapid.IntRange(0, 4*8192-1).Draw(t, "pending")}
				if n.Pin != "" {
					n.Pin = "free"
				}
				cs = append(cs, free)
				mode := rapid.SampledFrom([]GateMode{"", Auto, Open}).Draw(t, "mode")
				if v := (Gate{mode}).Judge(epoch, epoch, &n, cs); !v.Admit {
					t.Fatalf("held: %+v", v)
				}
				if d := s.Pick(n, cs); d.Worker == "" || d.Wait() {
					t.Fatalf("waits: %+v", d)
				}
			})
		})
	}
}

func TestParseGate(t *testing.T) {
	for name, want := range map[string]GateMode{"": Auto, "auto": Auto, "off": Open, "balanced": Balanced, "throughput": Throughput, "on": ""} {
		if got, err := ParseGate(name); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}
