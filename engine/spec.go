package engine

import (
	"maps"
	"slices"
	"strconv"
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
// left out, and so are keys, which are the fleet's to choose, and
// trust-remote-code, unless the recipe says trust_remote_code.
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
	maps.DeleteFunc(all, func(name, _ string) bool { return means(name, remoteCode) || means(name, apiKey) })
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
// folder. Only the recipe's trust_remote_code sets it, which plans print. A key
// on a command line can be read by everybody on the machine.
const (
	remoteCode = "trust-remote-code"
	apiKey     = "api-key"
)

// means reports whether an engine may take a flag's name for that flag: they
// take underscores for dashes, and some the beginning of a name for the whole.
func means(name, flag string) bool {
	name = strings.ReplaceAll(name, "_", "-")
	return name == flag || len(name) >= 5 && strings.HasPrefix(flag, name)
}

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

// Number is the whole number that a flag says; 0 where it says none.
func Number(flag string) int {
	n, _ := strconv.Atoi(flag)
	return n
}

// Variables are what a launch adds to an engine's environment: ours, over them
// what its program wants, what the recipe says, and which GPUs are its own.
func (s Spec) Variables(ours ...string) []string {
	env := slices.Concat(ours, s.Env)
	for _, name := range slices.Sorted(maps.Keys(s.Recipe.Env)) {
		env = append(env, name+"="+s.Recipe.Env[name])
	}
	if len(s.GPUs) > 0 {
		var list []string
		for _, i := range s.GPUs {
			list = append(list, strconv.Itoa(i))
		}
		env = append(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES="+strings.Join(list, ","))
	}
	return env
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
