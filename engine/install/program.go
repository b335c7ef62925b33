package install

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// From is where a program comes from.
type From string

// The places where programs come from.
const (
	Told From = "setting"   // the user's own command
	Own  From = "installed" // in the store
	Path From = "path"      // on PATH
)

// Program is a command that runs an engine.
type Program struct {
	Engine  string   `json:"engine"`
	Args    []string `json:"args"` // program first
	Version string   `json:"version"`
	From    From     `json:"from"`
	Dir     string   `json:"dir"` // of the installation; "" elsewhere
}

// Find lists the programs that can run an engine, the one that is used first.
// command is the user's own, as a shell would read it, or "". The error is of
// a command that cannot be read.
func (s Store) Find(engine, command string) ([]Program, error) {
	var told, own, path []Program
	if command != "" {
		words, err := Words(command)
		if err != nil {
			return nil, &turn.Fault{Op: "find " + engine, Err: fmt.Errorf("engine.%s: %w", engine, err), Try: "dyn doctor"}
		}
		told = []Program{{Engine: engine, Args: words, From: Told}}
	}
	all, err := s.List()
	if err != nil {
		return nil, &turn.Fault{Op: "find " + engine, Err: err}
	}
	for _, i := range all {
		if i.Engine == engine {
			own = append(own, i.Program())
		}
	}
	e, known := Known(engine)
	if known {
		if found, err := exec.LookPath(e.Program); err == nil {
			path = []Program{{Engine: engine, Args: []string{found}, From: Path}}
		}
	}
	if e.own {
		return append(append(told, path...), own...), nil
	}
	return append(append(told, own...), path...), nil
}

// Resolve finds the program that runs an engine. The error is a *turn.Fault,
// with ErrMissing in its chain when there is none.
func (s Store) Resolve(engine, command string) (Program, error) {
	all, err := s.Find(engine, command)
	if err != nil {
		return Program{}, err
	}
	if len(all) > 0 {
		return all[0], nil
	}
	e, known := Known(engine)
	if !known {
		return Program{}, unknown("find " + engine)
	}
	return Program{}, &turn.Fault{
		Op: "find " + engine, Err: fmt.Errorf("%s is %w", e.Title, ErrMissing), Why: "nor is a program " + e.Program + " on PATH",
		Try: "dyn engine install " + engine,
	}
}

// unknown is the error about a name that is in no catalog.
func unknown(op string) error {
	return &turn.Fault{Op: op, Err: ErrUnknown, Why: "known: " + strings.Join(Names(), ", "), Try: "dyn engine ls"}
}

// Words splits a command as a POSIX shell does, for words, blanks and quotes;
// nothing is expanded.
func Words(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range command {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0:
			if r == quote {
				quote = 0
				continue
			}
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case strings.ContainsRune(" \t\n", r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c has no end", quote)
	case escaped:
		return nil, errors.New("a \\ stands at the end")
	case begun:
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("it names no program")
	}
	return words, nil
}
