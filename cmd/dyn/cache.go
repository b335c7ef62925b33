package main

import (
	"github.com/spf13/cobra"
)

func cacheCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cache",
		Short:   "What a KV cache would keep: hit curves of policies",
		Example: examples("dyn cache replay ledger:2d", "your own traffic through caches of several sizes"),
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(cacheReplayCmd(a))
	return cmd
}
