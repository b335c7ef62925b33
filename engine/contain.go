package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine/child"
	"github.com/agentinfer/dyn/engine/container"
)

// launchOf is what one life of a worker runs. Where the recipe's command runs
// a container, it is completed; remove takes the container away then.
func (f *Fleet) launchOf(a Adapter, s Spec, worker string, at Place) (l Launch, remove []string, err error) {
	l, err = a.Launch(s, at)
	if err != nil || !container.Is(l.Args) {
		return l, nil, err
	}
	n := container.Need{Name: f.containerOf(worker), Model: s.dir(), Write: at.Dir}
	for _, entry := range l.Env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(n.Env, name) {
			n.Env = append(n.Env, name)
		}
	}
	if given := len(s.Command(at)); given < len(l.Args) {
		n.Files = l.Args[given:] // values of flags; words of the command may be the container's own
	}
	remove = container.Remove(l.Args, n.Name)
	l.Args, err = container.Wrap(l.Args, n)
	return l, remove, err
}

// containerOf is how a worker's container is called. It is the same in each of
// its lives, so that what a crash left is found, and another one for each
// daemon of the machine.
func (f *Fleet) containerOf(worker string) string {
	folder, mark := cmp.Or(f.o.Run, f.o.Logs), "…"
	if folder != "" {
		sum := sha256.Sum256([]byte(folder))
		mark = hex.EncodeToString(sum[:4])
	}
	return "dyn-" + cmp.Or(worker, "w0") + "-" + mark
}

// clients are names that the client of a container has of our environment, by
// how they begin: which service it talks to.
var clients = []string{"DOCKER_", "CONTAINER_", "CONTAINERS_"}

// launching is the environment of a launch. remove is not nil where it runs a
// container, of which one that was left is taken away.
func launching(l Launch, remove []string) []string {
	ours := os.Environ()
	if remove == nil {
		return environment(ours, l.Env)
	}
	var client []string
	for _, entry := range ours {
		if slices.ContainsFunc(clients, func(start string) bool { return strings.HasPrefix(entry, start) }) {
			client = append(client, entry)
		}
	}
	env := environment(ours, append(client, l.Env...))
	_ = child.Run(remove, env) // mostly there is none, and what stays in the way the next command tells
	return env
}
