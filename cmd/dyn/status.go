package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
)

// status is dyn without arguments: what runs, and the likeliest next steps.
func status(ctx context.Context, a *app) error {
	c, err := a.control()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := c.Now(ctx)
	if errors.Is(err, control.ErrNone) {
		if left := leftHere(); left.engines > 0 {
			fmt.Fprintln(a.out, "no daemon is running, but "+left.says())
			next(a, left.up(), "take over what runs", "dyn logs", "why the daemon went", "dyn down", "stop what runs")
			return nil
		}
		fmt.Fprintln(a.out, "nothing is running")
		next(a, "dyn up", "serve what fits this machine", "dyn up tiny", "a small real model on the CPU", "dyn doctor", "look at this machine", "dyn help", "all commands")
		return nil
	}
	if err != nil {
		return err
	}
	for _, m := range s.Models {
		fmt.Fprintf(a.out, "%s  %s  %s  %d of %d workers ready\n", s.Daemon.State, s.Daemon.URL, m.ID, m.Ready, m.Workers)
	}
	if why := waits(s); why != "" {
		fmt.Fprintln(a.out, why)
		next(a, "dyn down --now", "do not wait", "dyn top", "watch it")
		return nil
	}
	if len(s.Models) > 0 && s.Models[0].Context > 0 && s.Models[0].Context < claudeNeeds {
		next(a, `dyn run "hello"`, "its answer", "dyn top", "watch it", "dyn down", "stop it")
		return nil
	}
	next(a, "dyn claude", "start Claude Code on it", "dyn top", "watch it", "dyn down", "stop it")
	return nil
}

// next prints commands that are likely the next ones.
func next(a *app, pairs ...string) {
	fmt.Fprintln(a.out)
	width := 16
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = asCalled(pairs[i])
		width = max(width, len(pairs[i]))
	}
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(a.out, "  %-*s  %s\n", width, pairs[i], pairs[i+1])
	}
}

// asCalled is a command line as it works here: where dyn is not on the path,
// with the name by which this program was called.
func asCalled(line string) string {
	rest, ok := strings.CutPrefix(line, "dyn ")
	if _, err := exec.LookPath("dyn"); err == nil || !ok || !strings.Contains(os.Args[0], "/") {
		return line
	}
	return os.Args[0] + " " + rest
}
