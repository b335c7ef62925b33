package advise

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine"
)

// Cause is what a log says, and what to do then.
type Cause struct{ Says, Try string }

// Causes is the advice of the first cause that is found in a log.
func Causes(log []string, all []Cause) engine.Advice {
	for _, c := range all {
		if slices.ContainsFunc(log, func(line string) bool { return strings.Contains(line, c.Says) }) {
			return engine.Advice{Try: c.Try}
		}
	}
	return engine.Advice{}
}

// unrecognized is how Python's own parser begins its word on flags that a
// program does not know.
const unrecognized = "unrecognized arguments: "

// Unrecognized is the flags that Python's parser did not know, without their
// dashes, from the last such line of a log; none when there is none.
func Unrecognized(log []string) (names []string) {
	for i := len(log) - 1; i >= 0; i-- {
		_, rest, ok := strings.Cut(log[i], unrecognized)
		if !ok {
			continue
		}
		for _, word := range strings.Fields(rest) {
			if name, ok := strings.CutPrefix(word, "--"); ok {
				name, _, _ = strings.Cut(name, "=")
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// Unknown is the advice about flags that a server does not know; those of
// dispensable are ours, and it can do without them.
func Unknown(server string, names, dispensable []string) (a engine.Advice) {
	if len(names) == 0 {
		return a
	}
	for _, name := range names {
		if slices.Contains(dispensable, name) {
			a.Without = append(a.Without, name)
		}
	}
	a.Try = "this " + server + " does not know --" + strings.Join(names, ", --") +
		": take it out of the recipe's flags (" + names[0] + ": \"false\"), or take a newer one"
	return a
}
