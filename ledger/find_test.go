package ledger

import (
	"testing"
	"time"
)

// A turn is found by its id or the start of it, by its session, and from the
// turn after it.
func TestOneTurnIsFound(t *testing.T) {
	l, path := begin(t, quick)
	for n := range 4 {
		turn := turnOf(n)
		turn.Agent, turn.Break = []string{"main", "a1"}[n%2], []string{"", Alone}[n/2%2]
		if n == 1 {
			turn.Break = `{"kind":"clock"}`
		}
		l.Turn(turn)
	}
	other := turnOf(9)
	other.Session, other.At = "s2", noon.Add(-time.Hour)
	l.Turn(other)
	until(t, "the file", func() bool { return turns(path) == 5 })
	r, ctx := look(t, path), t.Context()
	for _, c := range []struct {
		what string
		find func() (Turn, bool, error)
		want string
	}{
		{"the whole id", func() (Turn, bool, error) { return r.Named(ctx, turnOf(2).ID) }, turnOf(2).ID},
		{"without its t", func() (Turn, bool, error) { return r.Named(ctx, turnOf(2).ID[1:]) }, turnOf(2).ID},
		{"the start of several", func() (Turn, bool, error) { return r.Named(ctx, "t0000") }, turnOf(3).ID},
		{"no such turn", func() (Turn, bool, error) { return r.Named(ctx, "tffff") }, ""},
		{"signs of patterns", func() (Turn, bool, error) { return r.Named(ctx, "t%") }, ""},
		{"the last of all", func() (Turn, bool, error) { return r.Latest(ctx, "") }, turnOf(3).ID},
		{"the last of a session", func() (Turn, bool, error) { return r.Latest(ctx, "s2") }, other.ID},
		{"the last of no session", func() (Turn, bool, error) { return r.Latest(ctx, "s3") }, ""},
		{"the one before", func() (Turn, bool, error) { return r.Before(ctx, turnWith(2, "main")) }, turnOf(0).ID},
		{"none before", func() (Turn, bool, error) { return r.Before(ctx, turnWith(0, "main")) }, ""},
	} {
		got, ok, err := c.find()
		if err != nil || ok != (c.want != "") || got.ID != c.want {
			t.Errorf("%s: %q, %v, %v; want %q", c.what, got.ID, ok, err, c.want)
		}
	}
	for session, want := range map[string]int{"": 2, "s1": 1, "s2": 1, "s3": 0} {
		if got, err := r.Broken(ctx, session, 5); err != nil || len(got) != want {
			t.Errorf("broken of %q: %d, %v; want %d", session, len(got), err, want)
		}
	}
	if got, err := r.Broken(ctx, "", 1); err != nil || len(got) != 1 || got[0].ID != turnOf(1).ID {
		t.Errorf("the newest broken one: %+v, %v", got, err)
	}
}

func turnWith(n int, agent string) Turn {
	t := turnOf(n)
	t.Agent = agent
	return t
}
