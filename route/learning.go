package route

import (
	"math"
	"time"
)

// trial is a choice whose outcome is not known yet.
type trial struct {
	turn, worker, kind string
	prefix             uint64
	x                  [features]float64
}

// trials are the last choices, by turn.
type trials struct {
	of    map[string]trial
	order []string // the oldest first; those that ended are still in it
}

// add notes a choice. A turn that is decided again has the last one.
func (t *trials) add(turn string, one trial) {
	if t.of == nil {
		t.of = map[string]trial{}
	}
	if _, ok := t.of[turn]; !ok {
		t.order = append(t.order, turn)
	}
	one.turn = turn
	t.of[turn] = one
	for len(t.order) > mostTrials {
		delete(t.of, t.order[0])
		t.order = t.order[1:]
	}
}

// take is the choice of a turn, which is forgotten with it.
func (t *trials) take(turn string) (trial, bool) {
	one, ok := t.of[turn]
	delete(t.of, turn)
	return one, ok
}

// Observe is of Learner.
func (t *thompson) Observe(o Outcome) {
	one, ok := t.tried.take(o.Turn)
	if !ok || one.worker != o.Worker {
		return
	}
	reward := t.reward(one, o)
	t.clock++
	key := armKey{one.worker, one.prefix}
	a := t.arms[key]
	if a == nil {
		a = &arm{}
		t.arms[key] = a
		t.prune()
	}
	a.won, a.lost, a.used = a.won+reward, a.lost+1-reward, t.clock
	l := t.lines[one.worker]
	if l == nil {
		l = newLinear(t.k["lambda"])
		t.lines[one.worker] = l
	}
	l.learn(one.x, reward, t.k["forget"], t.k["lambda"])
}

// reward is what a turn brought, between 0 and 1, and makes its time part of
// the usual one.
func (t *thompson) reward(one trial, o Outcome) float64 {
	if o.Err {
		return 0
	}
	tokens := float64(max(o.Output, 1))
	ms := (float64(max(o.TTFT, 0)) + float64(max(o.Step, 0))*(tokens-1)) / tokens / float64(time.Millisecond)
	keys := []string{one.worker + "/" + one.kind, one.worker, ""}
	usual := 0.0
	for _, key := range keys {
		if usual = t.usual[key]; usual > 0 {
			break
		}
	}
	for _, key := range keys {
		if t.usual[key] == 0 {
			t.usual[key] = ms
		}
		t.usual[key] += t.k["smooth"] * (ms - t.usual[key])
	}
	if usual <= 0 {
		usual = max(ms, math.SmallestNonzeroFloat64)
	}
	return 1 / (1 + ms/usual)
}

// prune lets the arm go that was not used for longest when there are too many.
func (t *thompson) prune() {
	if len(t.arms) <= mostArms {
		return
	}
	var oldest armKey
	least := uint64(math.MaxUint64)
	for key, a := range t.arms {
		if a.used > 0 && a.used < least {
			oldest, least = key, a.used
		}
	}
	delete(t.arms, oldest)
}

// Forget is of Learner.
func (t *thompson) Forget(worker string) {
	delete(t.lines, worker)
	for key := range t.arms {
		if key.worker == worker {
			delete(t.arms, key)
		}
	}
	for key := range t.usual {
		if key == worker || len(key) > len(worker) && key[:len(worker)+1] == worker+"/" {
			delete(t.usual, key)
		}
	}
}
