package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// shells are those a completion can be made for, with the maker of each.
var shells = []struct {
	name, file string
	write      func(*cobra.Command, io.Writer) error
}{
	{"bash", "dyn.bash", func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) }},
	{"zsh", "_dyn", func(c *cobra.Command, w io.Writer) error { return c.GenZshCompletion(w) }},
	{"fish", "dyn.fish", func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) }},
}

func completionCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion <shell>",
		Short: "Print the completion script of a shell: bash, zsh or fish",
		Long: "Prints the script that completes dyn's commands, flags, recipes, workers and JSON\n" +
			"fields. The archives carry the same scripts in completions/.",
		Example: examples("source <(dyn completion bash)", "in this shell",
			"dyn completion zsh > ~/.zfunc/_dyn", "for every zsh",
			"dyn completion fish > ~/.config/fish/completions/dyn.fish", "for every fish"),
	}
	for _, s := range shells {
		cmd.ValidArgs = append(cmd.ValidArgs, s.name)
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(usage, "completion", fmt.Errorf("wants one shell"), "shells: bash, zsh, fish", "dyn completion bash")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, s := range shells {
			if s.name == args[0] {
				return s.write(cmd.Root(), a.out)
			}
		}
		return fail(usage, "completion", fmt.Errorf("unknown shell %q", args[0]), "shells: bash, zsh, fish", "dyn completion bash")
	}
	return cmd
}
