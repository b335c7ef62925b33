package engine

import (
	"maps"
	"slices"
	"strings"
)

// Command is the recipe's command with its words filled in. The word {engine}
// is all of Program.
func (s Spec) Command(at Place) []string {
	var out []string
	for _, word := range s.Recipe.Command {
		if word == "{engine}" {
			out = append(out, s.Program...)
			continue
		}
		out = append(out, s.fill(word, at))
	}
	return out
}

// Settings returns the flags of a launch, by name: base, over it the recipe's,
// over it the spec's own, each filled in. What came out empty or "false" is
// left out, and so is trust-remote-code, unless the recipe says
// trust_remote_code.
func (s Spec) Settings(at Place, base map[string]string) map[string]string {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range s.without {
		delete(all, name)
	}
	maps.Copy(all, s.Recipe.Flags)
	maps.Copy(all, s.Flags)
	delete(all, remoteCode) // where it is not seen, it is not asked for
	if s.Recipe.TrustRemoteCode {
		all[remoteCode] = "true"
	}
	for name, value := range all {
		value = s.fill(value, at)
		if value == "" || value == "false" {
			delete(all, name)
			continue
		}
		all[name] = value
	}
	return all
}

// remoteCode is the flag by which Python engines run code that lies in a model
// folder. Only the recipe's trust_remote_code sets it, which plans print.
const remoteCode = "trust-remote-code"

// spare leaves flags of the adapter's own out of the next launch. It reports
// whether there is one that was not left out yet.
func (s *Spec) spare(flags []string) (more bool) {
	for _, name := range flags {
		_, recipes := s.Recipe.Flags[name]
		_, users := s.Flags[name]
		if !recipes && !users && !slices.Contains(s.without, name) {
			s.without, more = append(slices.Clip(s.without), name), true
		}
	}
	return more
}

// spared tells which.
func (s Spec) spared() string {
	if len(s.without) == 0 {
		return ""
	}
	return "without --" + strings.Join(s.without, ", --") + ", which it does not know"
}

// Args spells flags as a command line does, sorted by name: "true" is a bare
// flag.
func Args(flags map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		out = append(out, "--"+name)
		if flags[name] != "true" {
			out = append(out, flags[name])
		}
	}
	return out
}

// dir is the model folder; "" is the built-in one.
func (s Spec) dir() string {
	if s.ModelDir != "" {
		return s.ModelDir
	}
	return s.Recipe.ModelDir
}

// fill puts what is known into a word with braces.
func (s Spec) fill(word string, at Place) string {
	if !strings.Contains(word, "{") {
		return word
	}
	return strings.NewReplacer("{self}", at.Self, "{model_dir}", s.dir()).Replace(word)
}
