package route

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// taught is a bandit after some turns between a fast and a slow worker.
func taught(t *testing.T, turns int) (s Strategy, share func(last int) float64) {
	s, err := New("thompson:temperature=0.5")
	if err != nil {
		t.Fatal(err)
	}
	var picks []string
	for i := range turns {
		n := Need{Turn: fmt.Sprint("t", i), Prompt: 2_000, Output: 100, Prefix: 7}
		d := s.Pick(n, []Candidate{{Worker: "fast"}, {Worker: "slow"}})
		picks = append(picks, d.Worker)
		o := Outcome{Turn: n.Turn, Worker: d.Worker, Prompt: 2_000, Output: 100, TTFT: 200 * time.Millisecond, Step: 10 * time.Millisecond}
		if d.Worker == "slow" {
			o.Err = true
		}
		s.(Learner).Observe(o)
	}
	return s, func(last int) float64 {
		slow := 0
		for _, p := range picks[len(picks)-last:] {
			if p == "slow" {
				slow++
			}
		}
		return float64(slow) / float64(last)
	}
}

// The bandit learns which worker loses turns, and still tries it now and then.
func TestThompsonLearns(t *testing.T) {
	_, share := taught(t, 2_000)
	if got := share(500); got > 0.35 {
		t.Errorf("%.2f of the last turns went to the worker that loses them", got)
	}
}

// What was learnt survives as JSON; what is no memory is refused and changes
// nothing.
func TestThompsonMemory(t *testing.T) {
	s, _ := taught(t, 300)
	text, err := json.Marshal(s.(Keeper))
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := New("thompson:temperature=0.5")
	if err := json.Unmarshal(text, fresh); err != nil {
		t.Fatal(err)
	}
	cs := []Candidate{{Worker: "fast"}, {Worker: "slow"}}
	for i := range 50 {
		n := Need{Turn: fmt.Sprint("n", i), Prompt: 2_000, Prefix: 7}
		if a, b := fmt.Sprint(s.Pick(n, cs)), fmt.Sprint(fresh.Pick(n, cs)); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	}
	for _, bad := range []string{
		`{`, `{"version":2}`, `{"version":1,"workers":{"w":null}}`, `{"version":1,"workers":{"w":{"a":[],"b":[]}}}`,
		`{"version":1,"arms":[{"worker":"w","prefix":"1","won":-1}]}`, `{"version":1,"ms_per_token":{"w":-1}}`,
	} {
		if err := json.Unmarshal([]byte(bad), fresh); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	if again, _ := json.Marshal(fresh); string(again) != string(text) {
		t.Error("a memory that was refused changed something")
	}
	s.(Learner).Forget("fast")
	if text, _ := json.Marshal(s); strings.Contains(string(text), "fast") {
		t.Errorf("forgot nothing: %s", text)
	}
}

// What is remembered is bounded, however many agents there are.
func TestThompsonBounds(t *testing.T) {
	s := newThompson(thompsonKnobs).(*thompson)
	for i := range 3 * mostArms {
		n := Need{Turn: fmt.Sprint("t", i), Prompt: 100, Prefix: uint64(i)}
		d := s.Pick(n, []Candidate{{Worker: "w"}})
		if i%2 == 0 {
			s.Observe(Outcome{Turn: n.Turn, Worker: d.Worker, Output: 10, TTFT: time.Second})
		}
	}
	if len(s.arms) > mostArms || len(s.tried.of) > mostTrials || len(s.tried.order) > mostTrials || len(s.usual) > 3 {
		t.Fatalf("%d arms, %d turns in %d, %d times", len(s.arms), len(s.tried.of), len(s.tried.order), len(s.usual))
	}
}

// The regression finds weights that made its rewards, and knows how sure it is.
func TestLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l := newLinear(1)
	var x [features]float64
	_, before, _ := l.guess([features]float64{1})
	for range 2_000 {
		for i := range x {
			x[i] = r.Float64()
		}
		l.learn(x, 0.5*x[0]-0.25*x[3], 1, 1)
	}
	mean, after, ok := l.guess([features]float64{1, 0, 0, 1})
	if !ok || math.Abs(mean-0.25) > 0.02 || after > before/5 {
		t.Fatalf("%v ± %v, %v before", mean, after, before)
	}
	l.A[4][4] = -1
	if _, _, ok := l.guess(x); ok {
		t.Fatal("a regression with a negative square")
	}
}

// Draws of the beta distribution have its mean.
func TestBeta(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sum := 0.0
	for range 20_000 {
		x := beta(r, 5, 1)
		if x < 0 || x > 1 {
			t.Fatal(x)
		}
		sum += x
	}
	if got := sum / 20_000; math.Abs(got-0.75) > 0.01 {
		t.Fatalf("mean %v, want 6/8", got)
	}
}
