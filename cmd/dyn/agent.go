package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// agent is a coding agent that dyn can start on a daemon. It gets all it
// needs by its environment and its command line; no file of the user's is
// written.
type agent struct {
	name    string // of the command, and of the program
	title   string
	install string
	own     string                      // what its help says of settings of the user's own
	env     func(served) []pair         // what is set for it
	line    func(served, []string) line // its command line, the user's own arguments among it
	hooked  bool                        // its hooks tell the daemon unless the user wants none; else they do where he wants it
}

// line is what an agent is started with.
type line struct {
	args []string
	warn []string // what will not go well, and why
	tell []string // what the user has to do
	at   int      // the argument that goes into a file
	file string   // and is this one's name then; "" is none
}

// pair is one variable; an empty value hides what the user's shell has.
type pair struct{ name, value string }

// agentFlags are what all launchers have.
type agentFlags struct {
	model    string
	printEnv bool
	dryRun   bool
	hooks    bool
}

func agentCmd(a *app, g agent, example string) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   g.name + " [flags] [-- <args>...]",
		Short: "Start " + g.title + " on the running daemon",
		Long: "Starts " + g.title + " on the running daemon. Everything after -- belongs to the\n" +
			"agent, and so does the exit code. Environment and command line only: no file of\n" +
			"yours is written. " + g.own,
		Example: example,
	}
	cmd.Flags().StringVar(&f.model, "model", "", "`name` of the model it uses (default the first that is served)")
	cmd.Flags().BoolVar(&f.printEnv, "print-env", false, "print what is set for it, as shell lines, and stop")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the whole command line and stop")
	cmd.Flags().BoolVar(&f.hooks, "hooks", g.hooked, "its hooks tell the daemon when tools, subagents and sessions begin and end")
	cmd.RegisterFlagCompletionFunc("model", modelsNamed(a))
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fail(usage, g.name, err, "flags of the agent come after --", "dyn "+g.name+" -- <args>")
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if at := cmd.ArgsLenAtDash(); len(args) > 0 && at != 0 {
			return fail(usage, g.name, fmt.Errorf("%q stands before --", args[0]), "arguments of the agent come after --",
				"dyn "+g.name+" -- "+strings.Join(args, " "))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := serving(cmd.Context(), a, g.name, f.model)
		if err != nil {
			return err
		}
		if !f.hooks {
			s.Hooks = ""
		}
		l := g.line(s, args)
		for _, t := range l.tell {
			fmt.Fprintln(a.err, t)
		}
		for _, w := range l.warn {
			fmt.Fprintf(a.err, "! %s\n", w)
		}
		return g.start(a.out, s, f, l)
	}
	return cmd
}

// start becomes the agent: on success it does not return.
func (g agent) start(w io.Writer, s served, f agentFlags, l line) error {
	set := append(g.env(s), direct(os.Getenv)...)
	if f.printEnv {
		for _, p := range set {
			fmt.Fprintf(w, "export %s=%s\n", p.name, quote(p.value))
		}
		return nil
	}
	if l.file != "" {
		if err := writeSettings(l.file, []byte(l.args[l.at])); err != nil {
			return fail(failed, g.name, err, "its settings cannot be written", "dyn doctor")
		}
		l.args[l.at] = l.file
	}
	if f.dryRun { // what is printed shall work when it is pasted
		var words []string
		for _, p := range set {
			words = append(words, p.name+"="+quote(p.value))
		}
		for _, arg := range append([]string{g.name}, l.args...) {
			words = append(words, quote(arg))
		}
		_, err := fmt.Fprintln(w, strings.Join(words, " "))
		return err
	}
	path, err := exec.LookPath(g.name)
	if err != nil {
		return fail(nothing, g.name, errors.New(g.title+" is not installed"), "no program "+g.name+" in PATH", g.install)
	}
	env := os.Environ()
	for _, p := range set {
		env = append(env, p.name+"="+p.value)
	}
	if err := syscall.Exec(path, append([]string{g.name}, l.args...), unique(env)); err != nil {
		return fail(failed, g.name, err, path+" cannot be run", g.install)
	}
	return nil
}

// direct keeps a proxy away from a daemon on this machine, where the user
// has one.
func direct(env func(string) string) []pair {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if env(name) == "" {
			continue
		}
		list := "127.0.0.1,localhost,::1"
		for _, name := range []string{"NO_PROXY", "no_proxy"} {
			if had := env(name); had != "" && !strings.Contains(list, had) {
				list = had + "," + list
			}
		}
		return []pair{{"NO_PROXY", list}, {"no_proxy", list}}
	}
	return nil
}

// unique keeps the last of variables that are set twice, since programs
// differ in which one they see.
func unique(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if i, ok := at[name]; ok {
			out[i] = e
			continue
		}
		at[name] = len(out)
		out = append(out, e)
	}
	return out
}

// quote makes one word of a POSIX shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=,@%+", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
