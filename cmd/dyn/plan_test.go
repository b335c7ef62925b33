package main

import (
	"strings"
	"testing"

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

func TestPlanCheck(t *testing.T) {
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
