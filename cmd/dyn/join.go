package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/turn"
)

// errLeft says that the daemon which lived a moment ago does no longer, or
// that one appeared: look again.
var errLeft = errors.New("the daemon left meanwhile")

// maxTries is how often `dyn up` looks again, when daemons come and go.
const maxTries = 8

// joinLimit is how long `dyn up` waits for a daemon that starts or stops.
const joinLimit = time.Minute

// join is `dyn up` where a daemon lives: wait until it serves, add what was
// asked to be attached, say what runs. The error is errLeft when that daemon
// has ended.
func join(ctx context.Context, f folders.Folders, p plan, show *steps) error {
	c := control.New(f.Socket())
	if err := settled(ctx, f, c, p); err != nil {
		return err
	}
	d, _ := f.Daemon()
	if p.named && d.Recipe != p.Recipe {
		return fail(failed, p.op(), errors.New("a daemon runs without that recipe"), "it serves "+cmp.Or(d.Recipe, "attached engines"),
			"dyn down && dyn "+p.op())
	}
	state := "already_running"
	for _, at := range p.Attach {
		show.stage("start", "", asksToken(at))
		if _, err := c.Attach(ctx, at); err != nil {
			no := understand(p.op(), err)
			no.code = unhealthy
			if state == "attached" {
				no.code = partly
			}
			return no
		}
		state = "attached"
	}
	if err := p.turn(ctx, c, d.Settings, show); err != nil {
		return err
	}
	s, err := c.Now(ctx)
	switch {
	case err != nil && !f.Alive():
		return errLeft
	case err != nil:
		return err
	}
	st := step{State: state, URL: s.Daemon.URL, PID: s.Daemon.PID, Workers: len(s.Workers)}
	if other := p.other(d.Settings); other != "" {
		show.stage("plan", "", "it runs with "+other+"; to change that: dyn down, then dyn "+p.op())
	}
	if runs := s.Daemon.Version; runs != version {
		show.stage("plan", "", fmt.Sprintf("it is dyn %s, and this is %s; to change over: dyn down, or kill -9 %d, which leaves the engines, then dyn %s",
			runs, version, s.Daemon.PID, p.op()))
	}
	if len(s.Models) > 0 {
		st.Model, st.Context = s.Models[0].ID, s.Models[0].Context
	}
	show.finish(st)
	return nil
}

// turn has a daemon that runs take what was asked for and may change while it
// does: a strategy's file too, which may not say what it said. What it is until
// then is in runs, by flag; what it has taken is there afterwards.
func (p plan) turn(ctx context.Context, c *control.Client, runs map[string]string, show *steps) error {
	for _, s := range config.Settings {
		want := p.Settings[s.Flag]
		if _, known := runs[s.Flag]; !s.Live || !known || !slices.Contains(p.asked, s.Flag) {
			continue
		}
		doc := configSetDoc{Key: s.Key, Value: want, live: true}
		if err := doc.tellAt(ctx, c); err != nil {
			return understand(p.op(), err)
		}
		if runs[s.Flag] = want; doc.Was != doc.Value {
			show.stage("plan", "", doc.says())
		}
	}
	return nil
}

// asksToken says what an attached engine is waited for.
func asksToken(at turn.Attach) string {
	if at.Kind != "" {
		return "asking " + at.URL + " for its models"
	}
	return "asking " + at.URL + " for a token, two minutes at most"
}

// other says what was asked for and is otherwise in a daemon that runs with
// these settings; "" is nothing. Any port is port 0.
func (p plan) other(runs map[string]string) string {
	var all []string
	for _, flag := range p.asked {
		has, known := runs[flag]
		want := p.Settings[flag]
		if !known || has == want || flag == "port" && want == "0" {
			continue
		}
		all = append(all, "--"+flag+" "+cmp.Or(has, "unset")+", not "+want)
	}
	return strings.Join(all, ", ")
}

// settled waits until the daemon has started wholly: every worker has served
// a turn. The error is errLeft when it ends instead.
func settled(ctx context.Context, f folders.Folders, c *control.Client, p plan) error {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	state := ""
	ok := control.Wait(ctx, 20*time.Millisecond, func() bool {
		if !f.Alive() {
			return true
		}
		quick, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		s, err := c.Snapshot(quick)
		if state = s.Daemon.State; err != nil {
			return false
		}
		d, _ := f.Daemon()
		return d.Ready && state != "stopping"
	})
	pid := 0
	if d, known := f.Daemon(); known {
		pid = d.PID
	}
	switch {
	case ok && f.Alive():
		return nil
	case ok:
		return errLeft
	case errors.Is(ctx.Err(), context.Canceled):
		return fail(interrupted, p.op(), errors.New("interrupted"), "another daemon is running", "dyn ps")
	case state == "":
		return fail(unhealthy, p.op(), fmt.Errorf("the daemon does not answer, pid %d", pid), "", "dyn down --now")
	case state == "stopping":
		return fail(late, p.op(), fmt.Errorf("a daemon is still stopping, pid %d", pid), "it waits for running turns", "dyn down --now")
	}
	return fail(late, p.op(), fmt.Errorf("another daemon is still starting, pid %d", pid), "", "dyn ps")
}
