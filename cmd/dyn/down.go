package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine/keep"
)

// downDoc is `dyn down --json`.
type downDoc struct {
	V     int    `json:"v"`
	State string `json:"state"` // "stopped", "already_stopped", or with --dry-run "would_stop"
	PID   int    `json:"pid,omitempty"`
}

func downCmd(a *app) *cobra.Command {
	var now, dry bool
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the daemon and all it started",
		Long: "Lets the running turns end, then stops the daemon and every engine that it\n" +
			"started. Attached engines run on. Returns when all are gone.",
		Example: examples("dyn down", "after the running turns", "dyn down --now", "without waiting for them",
			"dyn down --dry-run", "what would be stopped"),
	}
	cmd.Flags().BoolVar(&now, "now", false, "do not wait for running turns")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be stopped")
	cmd.Flags().DurationVar(&patience, "timeout", 5*time.Minute, "how long to wait for running turns")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if patience <= 0 {
			return fail(usage, "down", fmt.Errorf("--timeout %s leaves no time", patience), "", "dyn down --now")
		}
		f, err := a.folders()
		if err != nil {
			return err
		}
		d := downer{a: a, f: f, client: control.New(f.Socket())}
		if !f.Alive() {
			return d.orphans(show, dry)
		}
		if dry {
			return d.plan(cmd.Context(), show)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), patience)
		defer cancel()
		pid, err := d.stop(ctx, now)
		if err != nil {
			return err
		}
		return d.tell(show, downDoc{1, "stopped", pid}, "stopped")
	}
	show = asJSON(cmd, downDoc{})
	return cmd
}

// downer stops one daemon.
type downer struct {
	a      *app
	f      folders.Folders
	client *control.Client
}

func (d downer) tell(show *jsonFlag, doc downDoc, text string) error {
	if show.on() {
		return show.print(d.a.out, doc)
	}
	_, err := fmt.Fprintln(d.a.out, text)
	return err
}

// plan prints what a stop would end.
func (d downer) plan(ctx context.Context, show *jsonFlag) error {
	s, err := d.client.Now(ctx)
	if err != nil {
		return err
	}
	if show.on() {
		return show.print(d.a.out, downDoc{1, "would_stop", s.Daemon.PID})
	}
	fmt.Fprintf(d.a.out, "would stop the daemon, pid %d\n", s.Daemon.PID)
	for _, w := range s.Workers {
		if w.Attached {
			fmt.Fprintf(d.a.out, "would let go of %s at %s\n", w.Name, w.URL)
		} else {
			fmt.Fprintf(d.a.out, "would stop %s, pid %d, after %s\n", w.Name, w.PID, plural(w.InFlight, "turn"))
		}
	}
	return nil
}

// stop asks the daemon to end and waits until it and its children are gone.
// One that does not answer is killed when now is set. It returns the pid.
func (d downer) stop(ctx context.Context, now bool) (int, error) {
	who, _ := d.f.Daemon()
	children := d.children(ctx)
	err := d.client.Stop(ctx, control.Stop{Now: now})
	switch {
	case err == nil || errors.Is(err, control.ErrNone):
	case now && who.PID > 0:
		syscall.Kill(who.PID, syscall.SIGKILL)
		keep.EndAll(keep.List(d.f.Run()), keptWait)
	default:
		return who.PID, fail(unhealthy, "down", err, fmt.Sprintf("it is pid %d", who.PID), "dyn down --now")
	}
	if now {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, 15*time.Second)
		defer stop()
	}
	gone := func() bool { return !d.f.Alive() && noneAlive(append(children, who.PID)) }
	if !control.Wait(ctx, 20*time.Millisecond, gone) {
		return who.PID, d.unfinished(ctx, who.PID, now)
	}
	keep.EndAll(keep.List(d.f.Run()), keptWait) // of one that could not end them
	return who.PID, nil
}

// keptWait is how long engines of a daemon that is gone may take to end.
const keptWait = 5 * time.Second

// orphans ends the engines that a daemon left which is gone.
func (d downer) orphans(show *jsonFlag, dry bool) error {
	sockets := filepath.Dir(d.f.Socket())
	left, strange := keep.List(d.f.Run()), keep.Strange(d.f.Run(), sockets)
	what := plural(len(left)+len(strange), "engine") + " that a daemon left which is gone"
	switch {
	case len(left)+len(strange) == 0:
		return d.tell(show, downDoc{1, "already_stopped", 0}, "not running")
	case dry:
		return d.tell(show, downDoc{1, "would_stop", 0}, "would stop "+what)
	}
	keep.EndAll(left, keptWait)
	keep.Evict(sockets, strange, keptWait)
	return d.tell(show, downDoc{1, "stopped", 0}, "stopped "+what)
}

// unfinished says why a stop was given up on.
func (d downer) unfinished(ctx context.Context, pid int, now bool) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fail(interrupted, "down", errors.New("interrupted"), "the daemon goes on to stop when its turns end", "dyn ps")
	}
	if now {
		return fail(late, "down", fmt.Errorf("pid %d is still there", pid), "", fmt.Sprintf("kill -9 %d", pid))
	}
	return fail(late, "down", fmt.Errorf("turns still run, pid %d waits for them", pid), "", "dyn down --now")
}

// children are the pids of the engines that the daemon started.
func (d downer) children(ctx context.Context) []int {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := d.client.Now(ctx)
	if err != nil {
		return nil
	}
	var pids []int
	for _, w := range s.Workers {
		if w.PID > 0 && !w.Attached {
			pids = append(pids, w.PID)
		}
	}
	return pids
}

// noneAlive reports whether all processes have ended. One that has ended and
// that nobody has waited for yet counts as ended.
func noneAlive(pids []int) bool {
	for _, pid := range pids {
		if pid > 0 && running(pid) {
			return false
		}
	}
	return true
}
