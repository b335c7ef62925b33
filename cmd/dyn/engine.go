package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/engine/install"
)

func engineCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Install, list, check and remove inference engines",
		Long: "Installs inference engines, each into a folder of its own below the data folder,\n" +
			"and shows which program a recipe gets: your own command (the settings engine.vllm\n" +
			"and engine.llamacpp, a container's among them), an installed one, or one on PATH.\n" +
			"An engine that runs already is attached instead: dyn up --attach <url>.",
		Example: examples("dyn engine install llamacpp", "llama-server, 70 MB", "dyn engine ls", "what there is, and what is used",
			"dyn engine doctor", "does it run here?"),
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(engineListCmd(a), engineInstallCmd(a), engineDoctorCmd(a), engineRemoveCmd(a))
	return cmd
}

// engines is the store of installed engines.
func (a *app) engines() (install.Store, error) {
	f, err := a.folders()
	return install.Store{Dir: f.Engines()}, err
}

// ownCommand is the user's own command for an engine, "" when there is none.
func ownCommand(set *config.Set, engine string) string { return set.Text("engine." + engine) }

// enginesNamed completes the names of engines of the catalog.
func enginesNamed(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, e := range install.Catalog() {
		if len(args) == 0 {
			names = append(names, e.Name+"\t"+e.Title+": "+strings.Join(e.Variants(), ", "))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// oneEngine is the rule of a command that takes one engine.
func oneEngine(op string) cobra.PositionalArgs {
	return oneName(op, "dyn "+op+" "+install.Names()[0])
}
