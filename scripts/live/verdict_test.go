package main

import (
	"errors"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	of := func(name string, live, replay, busy float64) row {
		return row{name, []side{{turns: 100, prompt: 1000, cached: int(1000 * live)}}, []side{{turns: 100, prompt: 1000, cached: int(1000 * replay)}}, []float64{busy}}
	}
	lost := of("a", 0.9, 0.9, 0.1)
	lost.live[0].failed, lost.live[0].why = 10, errors.New("away")
	for _, c := range []struct {
		name string
		rows []row
		want string
	}{
		{"well", []row{of("a", 0.9, 0.95, 0.5), of("b", 0.4, 0.42, 0.6)}, "ok: every hit within 15 % of replay's, and the order of all 1 pairs"},
		{"near ones have no order", []row{of("a", 0.90, 0.95, 0.1), of("b", 0.92, 0.90, 0.1)}, "ok: every hit within 15 % of replay's, and the order of all 0 pairs"},
		{"off", []row{of("a", 0.78, 0.95, 0.1)}, "FAILED: a: hit 0.780, in replay 0.950: -18 %"},
		{"none", []row{of("a", 0.9, 0, 0.1)}, "FAILED: a: hit 0.900, in replay 0.000"},
		{"order", []row{of("a", 0.61, 0.70, 0.1), of("b", 0.68, 0.62, 0.1)}, "FAILED: a has a hit of 0.610 and b of 0.680; replay has it the other way"},
		{"busy", []row{of("a", 0.2, 0.95, 0.1), of("b", 0.4, 0.4, 0.61)}, "INCONCLUSIVE: the machine was up to 61 % busy"},
		{"lost", []row{lost}, "FAILED: a: 10 of 110 turns failed, such as: away"},
		{"nothing", []row{{strategy: "a", live: []side{{}}, replay: []side{{turns: 1, prompt: 1, cached: 1}}, busy: []float64{0}}}, "FAILED: a: no turn was counted"},
	} {
		if got := judge(c.rows).said(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTicks(t *testing.T) {
	a, err := ticks("cpu  100 20 30 800 50 0 10 5 7 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
	if err != nil || a != (cpu{busy: 165, all: 1015}) {
		t.Fatalf("%+v, %v", a, err)
	}
	b, _ := ticks("cpu  160 20 30 840 50 0 10 5 7 0\n")
	if got := b.since(a); got != 0.6 {
		t.Errorf("%v busy, want 0.6", got)
	}
	if a.since(a) != -1 {
		t.Error("no time has a share")
	}
	for _, bad := range []string{"", "cpu 1 2\n", "cpu a b c d e f g h\n", "intr 1 2 3 4 5 6 7 8\n"} {
		if _, err := ticks(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
