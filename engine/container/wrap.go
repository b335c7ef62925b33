package container

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Need is what an engine in a container needs of this machine.
type Need struct {
	Name  string   // of the container, unique on this machine
	Env   []string // names of variables to hand on
	Model string   // its model's file or folder; what is no path of this machine is left to the engine
	Files []string // what else may be paths of this machine that it reads
	Write string   // folder in which it writes; "" is none
}

// Is reports whether a command line runs a container.
func Is(args []string) bool { return verb(args) > 0 }

// verb is the place of the word run; 0 where there is none. What stands before
// it are options of the client itself.
func verb(args []string) int {
	if len(args) == 0 || !slices.Contains(clients, filepath.Base(args[0])) {
		return 0
	}
	for i := 1; i < len(args); i++ {
		switch word := args[i]; {
		case word == "run":
			return i
		case word == "container", word == "--debug", word == "-D", word == "--tls", word == "--tlsverify", word == "--remote", word == "-r":
		case strings.HasPrefix(word, "-"):
			if !strings.Contains(word, "=") {
				i++ // its value
			}
		default:
			return 0
		}
	}
	return 0
}

// clients are the programs that are known here.
var clients = []string{"docker", "podman"}

// Wrap completes a command line of which Is is true. The error says which of
// its options cannot be, and why.
func Wrap(args []string, n Need) ([]string, error) {
	at := verb(args) + 1
	has := read(args[at:])
	for _, o := range has {
		if why := refused(o); why != "" {
			return nil, fmt.Errorf("%s run %s: %s", filepath.Base(args[0]), o, why)
		}
	}
	var ours []string
	if !has.any("rm") {
		ours = append(ours, "--rm")
	}
	ours = append(ours, "--name", n.Name)
	if !has.any("network", "net") {
		ours = append(ours, "--network", "host")
	}
	for _, name := range n.Env {
		ours = append(ours, "-e", name)
	}
	for _, m := range mounts(n, has) {
		ours = append(ours, "--mount", m)
	}
	return slices.Concat(args[:at], ours, args[at:]), nil
}

// Remove is the command that takes the container of that name away, running
// or not.
func Remove(args []string, name string) []string {
	return slices.Concat(args[:verb(args)], []string{"rm", "--force", name})
}

// Removes reports whether a command is one that Remove made of a container
// whose name begins so.
func Removes(args []string, prefix string) bool {
	n := len(args)
	return n >= 4 && slices.Contains(clients, filepath.Base(args[0])) && args[n-3] == "rm" && args[n-2] == "--force" &&
		strings.HasPrefix(args[n-1], prefix)
}
