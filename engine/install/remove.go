package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Named finds the one installation of a name. An engine's is enough where it
// has one; where it has several it takes a Name. The error is a *turn.Fault.
func (s Store) Named(name string) (Installed, error) {
	op := "remove " + name
	if engine, _, _ := strings.Cut(name, "@"); engine != "" {
		if _, ok := Known(engine); !ok {
			return Installed{}, unknown(op)
		}
	}
	all, err := s.List()
	if err != nil {
		return Installed{}, &turn.Fault{Op: op, Err: err}
	}
	var names []string
	all = slices.DeleteFunc(all, func(i Installed) bool { return i.Name() != name && i.Engine != name })
	for _, i := range all {
		names = append(names, i.Name())
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		return Installed{}, &turn.Fault{Op: op, Err: fmt.Errorf("it is %w", ErrMissing), Try: "dyn engine ls"}
	}
	return Installed{}, &turn.Fault{Op: op, Err: fmt.Errorf("there are %d", len(all)), Why: strings.Join(names, ", "), Try: "dyn engine rm " + names[len(names)-1]}
}

// Remove deletes an installation, see Named. One that a process runs from is
// not removed.
func (s Store) Remove(name string) (Installed, error) {
	if i, err := s.Named(name); err != nil {
		s.tidy()
		return i, err
	}
	lock, err := s.lock("remove " + name)
	if err != nil {
		return Installed{}, err
	}
	defer lock.Close()
	sweep(s.Dir)
	op := "remove " + name
	i, err := s.Named(name)
	if err != nil {
		return i, err
	}
	if pid := user(i.Dir); pid != 0 {
		return i, &turn.Fault{Op: op, Err: fmt.Errorf("%w: pid %d", ErrInUse, pid), Try: "dyn down && dyn engine rm " + name}
	}
	// The manifest first: half an installation is none.
	err = os.Remove(filepath.Join(i.Dir, manifest))
	if err = errors.Join(err, os.RemoveAll(i.Dir)); err != nil {
		return i, &turn.Fault{Op: op, Err: err, Try: "ls -l " + i.Dir}
	}
	os.Remove(filepath.Dir(i.Dir)) // when it is empty
	return i, nil
}

// user finds a process that runs a program below a folder; 0 is that nobody
// can be seen to.
func user(dir string) int {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		data, err := os.ReadFile(path)
		first, _, _ := strings.Cut(string(data), "\x00")
		if err != nil || !strings.HasPrefix(first, dir+"/") {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/cmdline", &pid); err == nil {
			return pid
		}
	}
	return 0
}
