package main

import (
	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
)

func detachCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "detach <worker>",
		Short: "Let go of an engine that was attached; it runs on",
		Example: examples("dyn detach a0", "no more turns go there", "dyn ps", "the workers' names",
			"dyn up --attach http://127.0.0.1:8000", "attach it again"),
	}
	return oneWorker(a, cmd, "detach", "detached", (*control.Client).Detach)
}
