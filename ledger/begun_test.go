package ledger

import (
	"testing"
)

// What a daemon had begun when it was killed has failed, says the next one.
func TestBegunTurnsOfADeadDaemon(t *testing.T) {
	f, path := filledFile(t, 3, 1)
	x := begunAs(10)
	if _, err := f.insert([]row{&x}); err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	l := Open(path, quick)
	l.Turn(begunAs(11)) // its own one stays as it is
	written(t, l, path, 5)
	got, err := look(t, path).Turns(t.Context(), Query{})
	if err != nil || len(got) != 5 {
		t.Fatalf("%d turns, %v", len(got), err)
	}
	for i, want := range []struct{ outcome, why string }{{"end", "e"}, {"end", "e"}, {"end", "e"}, {"fail", orphan}, {"", ""}} {
		if got[i].Outcome != want.outcome || got[i].Error != want.why {
			t.Errorf("turn %d: %q %q, want %q %q", i, got[i].Outcome, got[i].Error, want.outcome, want.why)
		}
	}
	stats, err := look(t, path).Stats(t.Context(), ByKind, Query{})
	if err != nil || len(stats) != 1 || stats[0].Failed != 1 {
		t.Errorf("stats %+v, %v", stats, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that has to be opened again while turns are under way is the one in
// which they began.
func TestBegunTurnsAreRecalled(t *testing.T) {
	l, path := begin(t, quick)
	l.Turn(begunAs(1))
	written(t, l, path, 1)
	outside(t, `rm "$F-shm"`, path)
	until(t, "notice", func() bool { return l.Health().Why != "" })
	l.Turn(turnOf(1))
	until(t, "an empty queue", func() bool { return l.bytes.Load() == 0 })
	got, err := look(t, path).Turns(t.Context(), Query{})
	if err != nil || len(got) != 1 || got[0].Outcome != "end" {
		t.Errorf("turns = %+v, %v", got, err)
	}
}
