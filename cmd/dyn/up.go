package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/recipes"
)

// upFlags are the flags of up that are no settings.
type upFlags struct {
	attach     []string
	foreground bool
	detached   bool // started by another dyn: the plan comes on standard input
	dryRun     bool
	yes        bool // install what is missing
}

func upCmd(a *app) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up [recipe|file]",
		Short: "Serve a model: start its engines and the daemon in front of them",
		Long: "Starts the engines of a recipe and the daemon in front of them, and returns when\n" +
			"every engine has served a real turn. Without a recipe it takes over what a daemon\n" +
			"left that was killed, or else what fits this machine. A model's file that is not here\n" +
			"is fetched; a missing engine is installed when you say yes. Engines that run\n" +
			"elsewhere are added with --attach. Where a daemon runs already nothing is started,\n" +
			"and that is no error: the router's settings that are given as flags it takes at once,\n" +
			"until it ends, and of others it is told what they are.",
		Example: examples("dyn up", "what fits this machine", "dyn up tiny", "a small real model on the CPU",
			"dyn up sim --workers 3 --port 9000", "three simulated engines",
			"dyn up --attach http://127.0.0.1:8000 --model-dir <dir>", "an engine of your own"),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, s := range config.Settings {
		if s.Flag == "" {
			continue
		}
		text := s.Help
		if s.Default != "" {
			text += " (default " + s.Default + ")"
		}
		flags.String(s.Flag, "", text)
		flags.SetAnnotation(s.Flag, "arg", []string{kindWord(s)})
		if s.Was != "" {
			flags.String(s.WasFlag(), "", "the former name of --"+s.Flag)
			flags.MarkHidden(s.WasFlag())
		}
		if s.Kind == config.Switch {
			flags.Lookup(s.Flag).NoOptDefVal = "true"
		}
		if s.Kind != config.Path {
			cmd.RegisterFlagCompletionFunc(s.Flag, cobra.FixedCompletions(s.Among, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	flags.StringArrayVar(&f.attach, "attach", nil, "add an engine that runs elsewhere: `url`[,events=tcp://…][,replay=tcp://…][,key=…][,kind=embeddings|images|videos]; repeatable")
	flags.BoolVar(&f.foreground, "foreground", false, "stay, and stop with this process")
	flags.BoolVar(&f.yes, "yes", false, "install the engine if it is missing, and do not ask")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the plan and stop")
	flags.BoolVar(&f.detached, "detached", false, "")
	flags.MarkHidden("detached")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fail(usage, "up", fmt.Errorf("one recipe at a time, got %s", strings.Join(args, " ")), "", "dyn up "+args[0])
		}
		return nil
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if strings.ContainsAny(typed, "./~") {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		}
		var names []string
		for _, r := range recipes.List() {
			if len(args) == 0 {
				names = append(names, r.Name+"\t"+r.Description)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args, show) }
	show = asJSON(cmd, step{})
	return cmd
}

// run does what was asked: print the plan, be the daemon, or start it.
func (f upFlags) run(cmd *cobra.Command, a *app, args []string, show *jsonFlag) error {
	if f.detached {
		return detached(cmd.Context(), a, os.Stdin)
	}
	p, _, err := newPlan(cmd, args, f.attach)
	if err != nil {
		return err
	}
	steps := newSteps(a, show)
	switch {
	case f.dryRun:
		return dryRun(a, p, show)
	case p.missing != nil || p.fetch != nil || len(p.Program) > 0:
		if err := p.prepare(cmd.Context(), a, steps, f.yes); err != nil {
			return err
		}
	}
	if f.foreground {
		return foreground(cmd.Context(), a, p, steps)
	}
	return start(cmd.Context(), a, p, steps)
}

// kindWord is what stands for a setting's value in a help page.
func kindWord(s config.Setting) string {
	switch s.Kind {
	case config.Whole, config.Real:
		return "n"
	case config.Size:
		return "size"
	case config.Duration:
		return "time"
	case config.Path:
		return "path"
	case config.Switch:
		return ""
	case config.Choice:
		return strings.Join(s.Among, "|")
	case config.Rule:
		return "name"
	}
	return "text"
}
