package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func detachCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "detach <worker>",
		Short: "Let go of an engine that was attached; it runs on",
		Example: examples("dyn detach a0", "no more turns go there", "dyn ps", "the workers' names",
			"dyn up --attach http://127.0.0.1:8000", "attach it again"),
		ValidArgsFunction: workersNamed(a),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(usage, "detach", fmt.Errorf("wants one worker"), "", "dyn ps")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.control()
			if err != nil {
				return err
			}
			err = c.Detach(cmd.Context(), args[0])
			if err == nil {
				_, err = fmt.Fprintf(a.out, "%s is detached\n", args[0])
			}
			return err
		},
	}
}
