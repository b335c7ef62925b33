package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/engine/install"
)

// engineRemoveDoc is `dyn engine rm --json`.
type engineRemoveDoc struct {
	V     int    `json:"v"`
	State string `json:"state"` // "removed", or "would_remove" with --dry-run
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Bytes int64  `json:"bytes"`
}

func engineRemoveCmd(a *app) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "rm <engine>[@<version>]",
		Short: "Remove an installed engine; one that runs stays",
		Example: examples("dyn engine rm vllm", "when there is one", "dyn engine rm llamacpp@b10434", "one of several",
			"dyn engine rm vllm --dry-run", "what would go"),
		Args: oneName("engine rm", "dyn engine ls"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if store, err := a.engines(); err == nil && len(args) == 0 {
				all, _ := store.List()
				for _, i := range all {
					names = append(names, i.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would go, and stop")
	var show *jsonFlag
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		store, err := a.engines()
		if err != nil {
			return err
		}
		state, remove := "removed", store.Remove
		if dryRun {
			state, remove = "would_remove", store.Named
		}
		i, err := remove(args[0])
		if err != nil {
			return engineFault("engine rm", err)
		}
		if show.on() {
			return show.print(a.out, engineRemoveDoc{1, state, i.Name(), i.Dir, i.Bytes})
		}
		word := map[string]string{"removed": "removed", "would_remove": "would remove"}[state]
		_, err = fmt.Fprintf(a.out, "%s %s, %s in %s\n", word, i.Name(), size(i.Bytes), i.Dir)
		return err
	}
	show = asJSON(cmd, engineRemoveDoc{})
	return cmd
}

// engineFault gives an error of package install its exit code; nil stays nil.
func engineFault(op string, err error) error {
	if err == nil {
		return nil
	}
	f := understand(op, err)
	switch {
	case errors.Is(err, install.ErrMissing), errors.Is(err, install.ErrUnknown):
		f.code = nothing
	case errors.Is(err, install.ErrNoRoom), errors.Is(err, install.ErrNoBuild):
		f.code = wontFit
	case errors.Is(err, install.ErrCPU), errors.Is(err, install.ErrDead):
		f.code = unhealthy
	}
	return f
}
