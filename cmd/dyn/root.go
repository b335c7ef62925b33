package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
)

// app is what the commands share.
type app struct {
	out, err io.Writer
}

// folders finds the user's folders.
func (a *app) folders() (folders.Folders, error) { return folders.Find(os.Getenv) }

// control makes a client of the daemon that lives in the state folder.
func (a *app) control() (*control.Client, error) {
	f, err := a.folders()
	if err != nil {
		return nil, err
	}
	return control.New(f.Socket()), nil
}

// run is the program without its process: arguments in, exit code out.
func run(args []string, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends what does not heed the first
	root := newRoot(&app{out: out, err: errw})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return report(errw, opOf(cmd), err, wantsJSON(args))
}

// opOf names the operation of a command for its errors: "up", "worker sim".
func opOf(cmd *cobra.Command) string {
	if cmd == nil {
		return ""
	}
	_, op, _ := strings.Cut(cmd.CommandPath(), " ")
	return op
}

// wantsJSON looks for --json before the command line is understood, so that
// its own errors come in the asked form too.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" || strings.HasPrefix(arg, "--json=") {
			return true
		}
	}
	return false
}

// newRoot builds the tree of commands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "dyn",
		Short: "Serve coding agents from open models on your own GPUs",
		Long: "dyn serves coding agents from open models on your own GPUs: three agent APIs, a\n" +
			"router that knows where every KV block lies, a ledger and a live dashboard.",
		Example: examples("dyn up", "serve what fits this machine", "dyn claude", "start Claude Code on it",
			"dyn top", "watch it"),
		Args:          func(cmd *cobra.Command, args []string) error { return unknownCommand(cmd, args) },
		RunE:          func(cmd *cobra.Command, _ []string) error { return status(cmd.Context(), a) },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(help)
	root.AddCommand(upCmd(a), downCmd(a), psCmd(a), topCmd(a), statsCmd(a), whyCmd(a), logsCmd(a), claudeCmd(a), codexCmd(a),
		runCmd(a), replayCmd(a), cacheCmd(a), engineCmd(a), parsersCmd(a), benchCmd(a), configCmd(a), keyCmd(a), forgetCmd(a), leasesCmd(a), pinCmd(a), unpinCmd(a), drainCmd(a), restartCmd(a), detachCmd(a), doctorCmd(a), versionCmd(a), completionCmd(a), workerCmd(a), hookCmd())
	root.AddCommand(topics()...)
	root.SetHelpCommand(helpCmd(root))
	for _, c := range root.Commands() {
		noArgs(c)
	}
	return root
}

// noArgs makes a command without an own rule refuse arguments in our words.
func noArgs(c *cobra.Command) {
	if c.Args == nil && c.RunE != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail(usage, opOf(cmd), fmt.Errorf("takes no argument, got %q", args[0]), "", cmd.CommandPath())
		}
	}
	for _, sub := range c.Commands() {
		noArgs(sub)
	}
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.Runnable() && !c.Hidden {
			known = append(known, c.Name())
		}
	}
	try := cmd.CommandPath() + " --help"
	if cmd.Root() == cmd {
		try = "dyn help"
	}
	if near := config.Nearest(args[0], known); near != "" {
		try = cmd.CommandPath() + " " + near
	}
	return fail(usage, opOf(cmd), fmt.Errorf("unknown command %q", args[0]), "", try)
}

// flagError says what is wrong with a flag, and which one was likely meant.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	try := cmd.CommandPath() + " --help"
	if errors.As(err, &missing) {
		if words := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(words) > 0 {
			return unknownCommand(cmd, words) // of which the flag may be a good one
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := config.Nearest(missing.GetSpecifiedName(), known); near != "" {
			try = cmd.CommandPath() + " --" + near
		}
		name := "--" + missing.GetSpecifiedName()
		if missing.GetSpecifiedShortnames() != "" { // of one dash, such as a number below 0
			name = "-" + missing.GetSpecifiedShortnames()
		}
		return fail(usage, opOf(cmd), fmt.Errorf("unknown flag %q", name), "", try)
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		kind := map[string]string{"int": "no whole number", "duration": "no time such as 30s", "bool": "neither true nor false"}[bad.GetFlag().Value.Type()]
		if kind != "" {
			err = fmt.Errorf("--%s: %q is %s", bad.GetFlag().Name, bad.GetValue(), kind)
		}
	}
	return fail(usage, opOf(cmd), err, "", try)
}
