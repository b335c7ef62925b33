package route

import (
	"slices"
	"testing"
	"time"
)

// warmed are books of one worker of 1,000 tokens that evicts what is a minute
// old: sessions a to e of 200 tokens each, idle in that order, a for longest.
func warmed(t *testing.T) (*Books, time.Time) {
	t.Helper()
	b := NewBooks(0)
	b.Worker("w", Limits{KVTokens: 1000, MaxBatched: 100, Events: true})
	now := time.Unix(1000, 0)
	b.Aged(now, "w", 1600, time.Minute) // of others, before
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		played(b, now.Add(time.Duration(i)*time.Second), name)
	}
	return b, now.Add(time.Minute)
}

func played(b *Books, now time.Time, session string) {
	b.Sent(now, Sending{Need: &Need{Turn: session, Session: session, Prompt: 200}, Worker: "w"})
	b.First(now, session)
	b.Ended(now, Outcome{Turn: session, Session: session, Prompt: 200})
}

// all touches whatever the rule lets: worth is by name, e most.
func all() Retouch {
	return Retouch{
		Zone: 0.5, Budget: 1,
		Leased: func(string) bool { return true },
		Left:   func(string, string) (int, int) { return 200, 200 },
		Worth:  func(s string, _ time.Duration, _ int) float64 { return float64(s[0]) },
	}
}

func TestRetouch(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Books, time.Time, *Retouch)
		want []string
	}{
		{"the oldest, first those that go first", nil, []string{"a", "b", "c"}},
		{"a smaller zone", func(_ *Books, _ time.Time, r *Retouch) { r.Zone = 0.1 }, []string{"a"}},
		{"what is worth more has the budget", func(_ *Books, _ time.Time, r *Retouch) { r.Budget = 0.6 }, []string{"c"}},
		{"of what running turns leave", func(b *Books, now time.Time, r *Retouch) {
			r.Rest = true
			b.Sent(now, Sending{Need: &Need{Turn: "t", Session: "run", Prompt: 150}, Worker: "w", Overlap: 100})
		}, []string{"b", "c"}},
		{"no lease", func(_ *Books, _ time.Time, r *Retouch) { r.Leased = func(s string) bool { return s != "b" } }, []string{"a", "c"}},
		{"over", func(b *Books, now time.Time, _ *Retouch) { b.Closed(now, "a") }, []string{"b", "c"}},
		{"half gone", func(_ *Books, _ time.Time, r *Retouch) {
			r.Left = func(s string, _ string) (int, int) {
				if s == "a" {
					return 100, 100
				}
				return 200, 200
			}
		}, []string{"b", "c"}},
		{"gone counts for nothing", func(_ *Books, _ time.Time, r *Retouch) {
			r.Left = func(s string, _ string) (int, int) {
				if s == "a" {
					return 0, 0
				}
				return 200, 200
			}
		}, []string{"b", "c", "d"}},
		{"it came back", func(b *Books, now time.Time, _ *Retouch) { played(b, now, "a") }, []string{"b", "c", "d"}},
		{"no budget", func(_ *Books, _ time.Time, r *Retouch) { r.Budget = 0 }, nil},
		{"young", func(b *Books, now time.Time, _ *Retouch) { b.Aged(now, "w", 1<<20, 20*time.Second) }, nil},
		{"turns wait in line", func(b *Books, now time.Time, _ *Retouch) {
			b.Sent(now, Sending{Need: &Need{Turn: "t", Session: "cold", Prompt: 150}, Worker: "w"})
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, now := warmed(t)
			r := all()
			if c.do != nil {
				c.do(b, now, &r)
			}
			if got := b.Retouch(now, "w", r); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A session is touched once at a time; then it is as if used, to the mirror too.
func TestTouched(t *testing.T) {
	b, now := warmed(t)
	r := all()
	r.Zone = 0.1
	if got := b.Retouch(now, "w", r); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("got %v", got)
	}
	if got := b.Retouch(now, "w", r); got != nil {
		t.Fatalf("while it is touched: %v", got)
	}
	b.Touched(now, "a", false)
	if got := b.Retouch(now, "w", r); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("it was not reached, then %v", got)
	}
	b.Touched(now, "a", true)
	if got := b.Retouch(now, "w", r); !slices.Equal(got, []string{"b"}) {
		t.Fatalf("after it %v", got)
	}
	for range 3 {
		b.Touched(now, "b", true)
		b.Touched(now, "nobody", true)
	}
	b.Evicted(now.Add(time.Second), "w", 200) // of c, which is oldest now
	if a := b.accounts["w"]; b.homes["c"].held != 0 || b.homes["a"].held == 0 || a.idle.front.session != "b" {
		t.Errorf("c has %d, a %d, %s is in front", b.homes["c"].held, b.homes["a"].held, a.idle.front.session)
	}
}

// What nobody has anything of any longer is not looked at again.
func TestRetouchPassesLost(t *testing.T) {
	b, now := warmed(t)
	r := all()
	asked := 0
	r.Left = func(string, string) (int, int) {
		asked++
		return 0, 0
	}
	for range 10 {
		if got := b.Retouch(now, "w", r); got != nil {
			t.Fatalf("got %v", got)
		}
	}
	if asked != 5 {
		t.Errorf("asked %d times about five sessions", asked)
	}
	played(b, now, "c") // and is there again
	r.Left, r.Zone = all().Left, 1
	if got := b.Retouch(now, "w", r); !slices.Equal(got, []string{"c"}) {
		t.Errorf("got %v", got)
	}
}
