package route

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestTie: who costs the same is told, and what told them apart.
func TestTie(t *testing.T) {
	pick := func(n Need, cs ...Candidate) string {
		d := Pick(n, cs)
		with, by := d.Tie()
		return fmt.Sprint(with, by)
	}
	n := Need{Turn: "t1", Prompt: 100}
	if got := pick(n, Candidate{Worker: "a"}, Candidate{Worker: "b", Pending: 50}); got != "[]" {
		t.Errorf("one is cheaper: %s", got)
	}
	if got := pick(n, Candidate{Worker: "a"}, Candidate{Worker: "b", Out: "draining"}); got != "[]" {
		t.Errorf("one is out: %s", got)
	}
	if got := pick(n, Candidate{Worker: "a", Pending: 100}, Candidate{Worker: "b", InFlight: 1}); got != "[b]"+ByTurns {
		t.Errorf("(100 + 100) × 1 and 100 × 2: %s", got)
	}
	if got := pick(n, Candidate{Worker: "a"}, Candidate{Worker: "b", Out: "draining"}, Candidate{Worker: "c"}); got != "[a]"+ByLot && got != "[c]"+ByLot {
		t.Errorf("all the same: %s", got)
	}
	d := Decision{Worker: "a", Reason: AtHome, Parts: []Part{{Worker: "a"}, {Worker: "b"}}}
	if with, by := d.Tie(); with != nil || by != "" {
		t.Errorf("not by cost: %v %s", with, by)
	}
}

// TestTieIsAsDecided: where turns in flight are said to have told workers apart,
// no other turn would have gone elsewhere; where the lot is, some would.
func TestTieIsAsDecided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := make([]Candidate, rapid.IntRange(2, 5).Draw(t, "workers"))
		for i := range cs {
			cs[i] = Candidate{Worker: fmt.Sprint("w", i), InFlight: rapid.IntRange(0, 2).Draw(t, "turns"), Pending: 60 * rapid.IntRange(0, 3).Draw(t, "pending")}
		}
		went := map[string]bool{}
		by := ""
		for i := range 200 {
			d := Pick(Need{Turn: fmt.Sprint("t", i), Prompt: 60}, cs)
			_, by = d.Tie()
			went[d.Worker] = true
		}
		if (len(went) > 1) != (by == ByLot) {
			t.Fatalf("%v by %q: %+v", went, by, cs)
		}
	})
}
