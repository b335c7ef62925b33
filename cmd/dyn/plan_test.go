package main

import (
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/keyring"
	"github.com/agentinfer/dyn/turn"
)

func TestParseAttach(t *testing.T) {
	for _, c := range []struct {
		text string
		want turn.Attach
		bad  string
	}{
		{"http://h:1", turn.Attach{URL: "http://h:1"}, ""},
		{"http://h:1/,events=tcp://h:2,replay=tcp://h:3,key=k=1", turn.Attach{URL: "http://h:1", Events: "tcp://h:2", Replay: "tcp://h:3", Key: "k=1"}, ""},
		{"http://h:1,kind=embeddings", turn.Attach{URL: "http://h:1", Kind: "embeddings"}, ""},
		{"http://h:1,kind=songs", turn.Attach{}, "no kind=songs; it has embeddings"},
		{"h:1", turn.Attach{}, "no http:// address"},
		{"ftp://h", turn.Attach{}, "no http:// address"},
		{"http://", turn.Attach{}, "no http:// address"},
		{"http://h,evnts=x", turn.Attach{}, `no "evnts=x"`},
		{"http://h,key", turn.Attach{}, `no "key"`},
	} {
		got, err := parseAttach(c.text)
		switch {
		case c.bad != "":
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: error = %v, want %q", c.text, err, c.bad)
			}
		case err != nil || got != c.want:
			t.Errorf("%q = %+v (%v), want %+v", c.text, got, err, c.want)
		}
	}
}

func TestPlanLedger(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want time.Duration
	}{{"24h", 24 * time.Hour}, {"off", -1}, {"0s", -1}} {
		o := plan{MaxAge: "720h0m0s", MaxBytes: 5, RawTurns: c.raw}.ledger()
		if o.RawAge != c.want || o.MaxAge != 720*time.Hour || o.MaxBytes != 5 {
			t.Errorf("%s: %+v, want raw turns for %v", c.raw, o, c.want)
		}
	}
}

// Beyond loopback a key is needed, of either sort.
func TestPlanCheckSeesKeys(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	f, err := (&app{}).folders()
	if err != nil {
		t.Fatal(err)
	}
	open := plan{Recipe: "sim", Workers: 1, Host: "0.0.0.0"}
	if open.check() == nil {
		t.Error("open without a key")
	}
	if _, err := (keyring.Ring{Path: f.Keys()}).Add(turn.Key{Name: "alice"}); err != nil {
		t.Fatal(err)
	}
	if err := open.check(); err != nil {
		t.Errorf("with a key of a tenant: %v", err)
	}
}

func TestPlanCheck(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	good := plan{Recipe: "sim", Workers: 1, Host: "127.0.0.1", Port: 8080}
	for _, c := range []struct {
		name   string
		change func(*plan)
		bad    string
	}{
		{"good", func(*plan) {}, ""},
		{"any loopback", func(p *plan) { p.Host = "127.0.0.9" }, ""},
		{"IPv6 loopback", func(p *plan) { p.Host = "::1" }, ""},
		{"localhost", func(p *plan) { p.Host = "localhost" }, ""},
		{"open without key", func(p *plan) { p.Host = "0.0.0.0" }, "no key"},
		{"open with key", func(p *plan) { p.Host, p.Key = "0.0.0.0", "k" }, ""},
		{"port", func(p *plan) { p.Port = 65536 }, "above 65535"},
		{"no workers", func(p *plan) { p.Workers = 0 }, "serve nobody"},
		{"too many", func(p *plan) { p.Workers = 65 }, "more than 64"},
		{"no such brain", func(p *plan) { p.Flags = map[string]string{"brain": "/nowhere/b.yaml"} }, "no such file"},
		{"no such folder", func(p *plan) { p.ModelDir = "/nowhere" }, "no such file"},
	} {
		p := good
		c.change(&p)
		err := p.check()
		if (c.bad == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: error = %v, want %q", c.name, err, c.bad)
		}
	}
}
