package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// examples lays out pairs of a command and what it does.
func examples(pairs ...string) string {
	width := 0
	for i := 0; i < len(pairs); i += 2 {
		width = max(width, len(pairs[i]))
	}
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "  %-*s  # %s\n", width, pairs[i], pairs[i+1])
	}
	return strings.TrimRight(b.String(), "\n")
}

// help prints a command's page: -h the short one, --help the whole.
func help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if topic, ok := cmd.Annotations["topic"]; ok {
		io.WriteString(w, topic)
		return
	}
	short := slices.Contains(os.Args, "-h")
	if cmd.Long != "" && !short {
		fmt.Fprintf(w, "%s\n\n", cmd.Long)
	} else {
		fmt.Fprintf(w, "%s\n\n", cmd.Short)
	}
	use := cmd.UseLine()
	if !cmd.HasParent() {
		use = "dyn <command> [flags]"
	}
	fmt.Fprintf(w, "usage: %s\n", use)
	if subs := listed(cmd, false); len(subs) > 0 {
		fmt.Fprintln(w, "\ncommands:")
		printCommands(w, subs)
	}
	printFlags(w, cmd.Flags())
	if subs := listed(cmd, true); len(subs) > 0 && !short {
		fmt.Fprintln(w, "\ntopics (dyn help <topic>):")
		printCommands(w, subs)
	}
	if cmd.Example != "" && !short {
		fmt.Fprintf(w, "\nexamples:\n%s\n", cmd.Example)
	}
}

// listed returns the subcommands a page shows: commands, or topics.
func listed(cmd *cobra.Command, topics bool) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range cmd.Commands() {
		_, topic := c.Annotations["topic"]
		if !c.Hidden && topic == topics && c.Name() != "help" {
			out = append(out, c)
		}
	}
	return out
}

func printCommands(w io.Writer, cmds []*cobra.Command) {
	width := 0
	for _, c := range cmds {
		width = max(width, len(c.Name()))
	}
	for _, c := range cmds {
		fmt.Fprintf(w, "  %-*s  %s\n", width, c.Name(), c.Short)
	}
}

func printFlags(w io.Writer, flags *pflag.FlagSet) {
	type row struct{ name, text string }
	var rows []row
	width := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		arg, text := pflag.UnquoteUsage(f)
		if word := f.Annotations["arg"]; word != nil {
			arg = word[0]
		}
		switch {
		case f.Name == "json":
			name += "[=<field>,...]"
		case arg != "":
			name += " <" + arg + ">"
		}
		rows = append(rows, row{name, text})
		width = max(width, len(name))
	})
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w, "\nflags:")
	for _, r := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, r.name, r.text)
	}
}

// helpCmd is `dyn help [command|topic]`.
func helpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command|topic]",
		Short: "Explain a command or a topic",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if len(args) == 0 && !c.Hidden {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, rest)
			}
			return cmd.Help()
		},
	}
}
