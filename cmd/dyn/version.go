package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker; see the Makefile.
var (
	version = "dev"
	commit  = ""
)

// versionDoc is `dyn version --json`.
type versionDoc struct {
	V       int    `json:"v"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func versionCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and platform",
		Example: examples("dyn version", "one line", "dyn version --json", "for scripts",
			"dyn version --json=version", "the number alone"),
	}
	var show *jsonFlag
	cmd.RunE = func(*cobra.Command, []string) error {
		doc := versionDoc{1, version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
		if show.on() {
			return show.print(a.out, doc)
		}
		line := "dyn " + doc.Version
		if doc.Commit != "" {
			line += " (" + doc.Commit + ")"
		}
		_, err := fmt.Fprintf(a.out, "%s %s %s/%s\n", line, doc.Go, doc.OS, doc.Arch)
		return err
	}
	show = asJSON(cmd, versionDoc{})
	return cmd
}

// revision is the commit this program was built from, "" when unknown.
func revision() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}
