package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
)

func restartCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restart <worker>",
		Short: "Start a worker anew, or let one that was drained take turns again",
		Long: "Lets the running turns of a worker end, for ten seconds at most, and starts its\n" +
			"engine anew; what still runs goes on at another worker. Returns when it gives\n" +
			"tokens again. One that was given up after too many ends in a row is tried again.\n" +
			"An attached engine is only taken back into routing.",
		Example: examples("dyn restart w0", "its engine, anew", "dyn ps", "the workers' names, and what ails them",
			"dyn logs w0", "what its engine said"),
	}
	return oneWorker(a, cmd, "restart", "ready", (*control.Client).Restart)
}

func drainCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drain <worker>",
		Short: "Give a worker no new turns, and wait until its running ones have ended",
		Long: "Gives a worker no new turns and returns when its running ones have ended. Its\n" +
			"engine runs on.",
		Example: examples("dyn drain w0", "no new turns go there", "dyn restart w0", "start it anew, with turns",
			"dyn ps", "the workers' names"),
	}
	return oneWorker(a, cmd, "drain", "drained", (*control.Client).Drain)
}

// workerDoc is what `dyn restart`, `dyn drain` and `dyn detach` print with
// --json.
type workerDoc struct {
	V      int    `json:"v"`
	Worker string `json:"worker"`
	State  string `json:"state"` // "ready", "drained" or "detached"
}

// oneWorker completes a command that does something to one worker and then
// says what it is.
func oneWorker(a *app, cmd *cobra.Command, op, is string, do func(*control.Client, context.Context, string) error) *cobra.Command {
	var show *jsonFlag
	cmd.ValidArgsFunction = workersNamed(a)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(usage, op, fmt.Errorf("wants one worker"), "", "dyn ps")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.control()
		if err != nil {
			return err
		}
		if err := do(c, cmd.Context(), args[0]); err != nil {
			return err
		}
		if show.on() {
			return show.print(a.out, workerDoc{1, args[0], is})
		}
		_, err = fmt.Fprintf(a.out, "%s is %s\n", args[0], is)
		return err
	}
	show = asJSON(cmd, workerDoc{})
	return cmd
}
