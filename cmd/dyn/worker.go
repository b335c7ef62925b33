package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/engine/sim"
)

func workerCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run an engine of our own in this process",
		Example: examples("dyn worker sim --port 8101", "a simulated engine",
			"dyn worker sim --help", "all its flags",
			"dyn worker sim --write-model model", "its tokenizer and template"),
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "sim [flags]",
		Short: "A simulated engine that answers like vLLM, with its cache and its timing",
		Long: "A simulated engine that answers like vLLM, with its cache and its timing. Its flags\n" +
			"are vLLM's, and some of its own: dyn worker sim --help lists them.",
		Example: examples("dyn worker sim", "on a free port",
			"dyn worker sim --port 8101 --brain script.yaml", "with a script of what it says",
			"dyn worker sim --speed 0 --kv-tokens 100000", "fast, with a small cache"),
		// Its flags are vLLM's and its own; it reads them itself.
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			// It minds signals itself: the first one lets its turns end.
			err := sim.Run(context.WithoutCancel(cmd.Context()), args, a.out, a.err)
			if errors.Is(err, sim.ErrUsage) {
				return fail(usage, "worker sim", err, "", "dyn worker sim --help")
			}
			return err
		},
	})
	cmd.AddCommand(keepCmd(a))
	return cmd
}

// keepCmd is what holds an engine that outlives the daemon; see engine/keep.
func keepCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "keep <worker>",
		Short:  "Hold an engine that outlives the daemon",
		Long:   "Holds one engine for the daemon, which starts this command itself: its order comes\non standard input.",
		Hidden: true,
		Args:   cobra.ExactArgs(1), // for those who look at the list of processes
		RunE: func(*cobra.Command, []string) error {
			f, err := a.folders()
			if err != nil {
				return err
			}
			return keep.Run(os.Stdin, f.Alive)
		},
	}
}
