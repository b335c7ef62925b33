package tenant

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func key(name, secret string) turn.Key {
	return turn.Key{Name: name, Hash: sha256.Sum256([]byte(secret)), Salt: "salt-" + name}
}

func TestFind(t *testing.T) {
	var r Ring
	if !r.Empty() || r.Find([]byte("x")) != nil {
		t.Fatal("a ring without keys knows one")
	}
	r.Set([]turn.Key{key("a", "one"), key("b", "two")})
	for _, c := range []struct{ secret, want string }{{"one", "a"}, {"two", "b"}, {"", ""}, {"three", ""}, {"one ", ""}} {
		got := ""
		if f := r.Find([]byte(c.secret)); f != nil {
			got = f.Key().Name
		}
		if got != c.want {
			t.Errorf("secret %q is %q, want %q", c.secret, got, c.want)
		}
	}
	r.Set([]turn.Key{key("b", "three")})
	if r.Find([]byte("one")) != nil || r.Find([]byte("two")) != nil || r.Find([]byte("three")) == nil {
		t.Error("after a change the old keys still count, or the new one does not")
	}
}

// TestLimits steps through minutes of a key's use: each step is a turn that
// enters at a time, and what is said to it.
func TestLimits(t *testing.T) {
	type step struct {
		at     time.Duration
		wait   time.Duration // 0 when it is let in
		tokens int           // with which it leaves at once
	}
	for _, c := range []struct {
		name  string
		limit turn.Key
		steps []step
	}{
		{"none", turn.Key{}, []step{{0, 0, 1 << 30}, {0, 0, 1 << 30}}},
		{"requests", turn.Key{Requests: 2}, []step{{0, 0, 0}, {0, 0, 0}, {0, 30 * time.Second, 0}, {29 * time.Second, time.Second, 0}, {30 * time.Second, 0, 0}, {30 * time.Second, 30 * time.Second, 0}}},
		{"tokens", turn.Key{Tokens: 600}, []step{{0, 0, 500}, {0, 0, 400}, {0, 31 * time.Second, 0}, {31 * time.Second, 0, 0}}},
		{"idle fills no more than a minute", turn.Key{Requests: 1}, []step{{0, 0, 0}, {time.Hour, 0, 0}, {time.Hour, time.Minute, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Ring
			c.limit.Name = "k"
			r.Set([]turn.Key{c.limit})
			k, start := r.All()[0], time.Now()
			for i, s := range c.steps {
				err := k.Enter(start.Add(s.at))
				var full *Full
				if errors.As(err, &full) != (s.wait > 0) || full != nil && full.Wait != s.wait {
					t.Fatalf("step %d: %v %+v, want a wait of %v", i, err, full, s.wait)
				}
				if err == nil {
					k.Leave(start.Add(s.at), s.tokens)
				}
			}
		})
	}
}

// TestAsk: what makes no turn is one of the requests, takes no place and needs
// none.
func TestAsk(t *testing.T) {
	var r Ring
	k := key("a", "one")
	k.Concurrent, k.Requests = 1, 3
	r.Set([]turn.Key{k})
	a, now := r.Find([]byte("one")), time.Now()
	if a.Enter(now) != nil || a.Ask(now) != nil || a.Ask(now) != nil {
		t.Fatal("three requests are not let in")
	}
	var full *Full
	if err := a.Ask(now); !errors.As(err, &full) || full.Wait != 20*time.Second {
		t.Errorf("a fourth: %v", err)
	}
	if u := a.Used(); u.Turns != 1 || u.Running != 1 || u.Refused != 1 {
		t.Errorf("used %+v", u)
	}
	if err := a.Ask(now.Add(20 * time.Second)); err != nil {
		t.Errorf("when it was told to come back: %v", err)
	}
	var nobody *Tenant
	if nobody.Ask(now) != nil {
		t.Error("without keys a request is refused")
	}
}

func TestAtOnceOutlivesAChange(t *testing.T) {
	var r Ring
	k := key("a", "one")
	k.Concurrent = 2
	r.Set([]turn.Key{k})
	now := time.Now()
	a := r.Find([]byte("one"))
	for i := range 3 {
		if err := a.Enter(now); (err == nil) != (i < 2) {
			t.Fatalf("turn %d of three at once: %v, two should be let in", i, err)
		}
	}
	k.Requests = 100
	r.Set([]turn.Key{k})
	b := r.Find([]byte("one"))
	if b.Enter(now) == nil {
		t.Error("a change of the key forgot its running turns")
	}
	a.Leave(now, 10)
	if err := b.Enter(now); err != nil {
		t.Errorf("a place is free: %v", err)
	}
	if u := b.Used(); u.Turns != 3 || u.Refused != 2 || u.Tokens != 10 || u.Running != 2 {
		t.Errorf("used %+v", u)
	}
}

func TestSaltsOfTwoKeysNeverMeet(t *testing.T) {
	var r Ring
	r.Set([]turn.Key{key("a", "one"), key("b", "two"), {Name: "c", Hash: sha256.Sum256([]byte("three"))}})
	seen := map[string]string{}
	for _, who := range r.All() {
		for _, client := range []string{"", "x", "salt-a", "salt-b"} {
			salt := who.Salt(client)
			if old, ok := seen[salt]; ok {
				t.Errorf("%s with %q and %s share %q", who.Key().Name, client, old, salt)
			}
			seen[salt] = who.Key().Name + " with " + client
		}
	}
	var nobody *Tenant
	if nobody.Salt("x") != "x" || nobody.Enter(time.Now()) != nil {
		t.Error("without keys a salt or a turn is changed")
	}
	nobody.Leave(time.Now(), 1)
}
