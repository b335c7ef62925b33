package parsers

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Kind tells what a format is asked for.
type Kind string

// The kinds.
const (
	Tools    Kind = "tool call"
	Thinking Kind = "reasoning"
)

// Set is a collection of specs. It does not change, so it can be shared.
type Set struct {
	specs map[string]*Spec
	names map[Kind]map[string]*Spec // aliases too
}

//go:embed specs/*.yaml
var files embed.FS

// builtin are the specs of this program.
var builtin = sync.OnceValue(func() *Set {
	sub, err := fs.Sub(files, "specs")
	if err == nil {
		var s *Set
		if s, err = readSet(nil, sub); err == nil {
			return s
		}
	}
	panic(err) // a test reads them all
})

// Builtin returns the specs of this program.
func Builtin() *Set { return builtin() }

// Specs lists the specs of this program by name. They are not to be changed.
func Specs() []*Spec { return builtin().Specs() }

// Known lists the names of formats that New takes, aliases included.
func Known() []string { return builtin().Known() }

// Lookup finds a format of this program, see Set.Lookup.
func Lookup(name string, kind Kind) (*Spec, error) { return builtin().Lookup(name, kind) }

// Load returns the specs of this program with those of a folder, one in each
// file NAME.yaml, added. Its specs win over ours of the same name or alias. A
// folder that does not exist adds none. Errors name file, line and key.
func Load(dir string) (*Set, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return builtin(), nil
	}
	return readSet(builtin(), os.DirFS(dir))
}

// Known lists all names, aliases included.
func (s *Set) Known() []string {
	all := map[string]bool{}
	for _, names := range s.names {
		for n := range names {
			all[n] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Specs lists the specs by name. They are not to be changed.
func (s *Set) Specs() []*Spec {
	var list []*Spec
	for _, n := range slices.Sorted(maps.Keys(s.specs)) {
		list = append(list, s.specs[n])
	}
	return list
}

// Names lists the specs of a kind, without aliases.
func (s *Set) Names(kind Kind) []string {
	var list []string
	for _, spec := range s.Specs() {
		if spec.has(kind) {
			list = append(list, spec.Name)
		}
	}
	return list
}

// Lookup finds a format by its name or an alias of that kind. The error names
// the known ones.
func (s *Set) Lookup(name string, kind Kind) (*Spec, error) {
	if spec := s.names[kind][name]; spec != nil {
		return spec, nil
	}
	return nil, fmt.Errorf("%s format %q: unknown; known: %s", kind, name, strings.Join(s.Names(kind), ", "))
}

// part is the spec where it is of a kind, else nil.
func (s *Spec) part(kind Kind) *Spec {
	if s.has(kind) {
		return s
	}
	return nil
}

// has reports whether a spec is of a kind.
func (s *Spec) has(kind Kind) bool {
	if kind == Tools {
		return s.Grammar != ""
	}
	return s.Reasoning != nil || s.Frame != nil
}

// readSet adds the specs of a folder to those of another set.
func readSet(from *Set, dir fs.FS) (*Set, error) {
	s := &Set{specs: map[string]*Spec{}, names: map[Kind]map[string]*Spec{Tools: {}, Thinking: {}}}
	if from != nil {
		maps.Copy(s.specs, from.specs)
		for kind, names := range from.names {
			maps.Copy(s.names[kind], names)
		}
	}
	list, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, err
	}
	taken := map[Kind]map[string]string{Tools: {}, Thinking: {}}
	for _, file := range list {
		data, err := fs.ReadFile(dir, file)
		if err != nil {
			return nil, err
		}
		spec, err := ReadSpec(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if base := strings.TrimSuffix(path.Base(file), ".yaml"); base != spec.Name {
			return nil, fmt.Errorf("%s: line %d: name: it is %q; it has to be that of the file", file, line(data, "name"), spec.Name)
		}
		s.specs[spec.Name] = spec
		for kind, aliases := range map[Kind][]string{Tools: spec.Aliases.Tools, Thinking: spec.Aliases.Reasoning} {
			if !spec.has(kind) {
				continue
			}
			for _, name := range append([]string{spec.Name}, aliases...) {
				if other := taken[kind][name]; other != "" {
					return nil, fmt.Errorf("%s: the name %q is in %s already; each name stands for one %s format", file, name, other, kind)
				}
				taken[kind][name] = file
				s.names[kind][name] = spec
			}
		}
	}
	return s, nil
}

// ReadSpec reads a spec from YAML. Errors say line and key.
func ReadSpec(data []byte) (*Spec, error) {
	var spec Spec
	if err := yaml.UnmarshalWithOptions(data, &spec, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("line %s", strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if key, err := spec.check(); err != nil {
		return nil, fmt.Errorf("line %d: %s: %w", line(data, key), key, err)
	}
	return &spec, nil
}

// line is where a key stands in YAML; 1 when it is not there.
func line(data []byte, key string) int {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return 1
	}
	for key != "" {
		if p, err := yaml.PathString("$." + key); err == nil {
			if node, err := p.FilterFile(file); err == nil && node != nil {
				return node.GetToken().Position.Line
			}
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			break
		}
		key = key[:i]
	}
	return 1
}

// Check reports what is wrong with a spec; the error names the key.
func (s *Spec) Check() error {
	if key, err := s.check(); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// check reports what is wrong with a spec, and at which key.
func (s *Spec) check() (key string, err error) {
	switch {
	case s.Name == "":
		return "name", errors.New("it is missing")
	case s.Grammar != "" && !readable(s.Grammar) && s.Frame == nil:
		return "grammar", fmt.Errorf("%q is none; there are json_call, name_json, tagged, pseudo_json, pythonic and channels", s.Grammar)
	case s.Grammar == "" && s.Reasoning == nil && s.Frame == nil:
		return "grammar", errors.New("without one, reasoning has to be given")
	case s.Grammar != "" && !s.Bare && s.Frame == nil && len(s.Section.Open) == 0 && len(s.Call.Open) == 0:
		return "call.open", errors.New("nothing says where a call begins; give a marker, or bare: true")
	case (s.Grammar == Tagged || s.Frame != nil && s.Frame.Content == Tagged) && (len(s.Arg.Open) == 0 || len(s.Arg.Mid) == 0 || len(s.Arg.Close) == 0):
		return "arg", errors.New("an argument needs open, mid and close")
	case s.Reasoning != nil && len(s.Reasoning.Close) == 0:
		return "reasoning.close", errors.New("nothing says where reasoning ends")
	}
	for key, list := range s.Markers() {
		for _, m := range list {
			if strings.TrimSpace(head(m)) == "" && key != "call.name_end" && key != "arg.mid" {
				return key, errors.New("a marker is empty, or begins with a brace")
			}
		}
	}
	return "", nil
}

// Markers are all lists of markers, by their keys in YAML. They are not to be changed.
func (s *Spec) Markers() map[string]Marks {
	m := map[string]Marks{
		"section.open": s.Section.Open, "section.close": s.Section.Close,
		"call.open": s.Call.Open, "call.name_end": s.Call.NameEnd, "call.close": s.Call.Close,
		"arg.open": s.Arg.Open, "arg.mid": s.Arg.Mid, "arg.close": s.Arg.Close,
		"arg.body.open": s.Arg.Body.Open, "arg.body.close": s.Arg.Body.Close,
		"absorb": s.Absorb, "tokens.strip": s.Tokens.Strip, "tokens.stop": s.Tokens.Stop,
	}
	if s.Reasoning != nil {
		m["reasoning.open"], m["reasoning.close"] = s.Reasoning.Open, s.Reasoning.Close
	}
	return m
}

// UnmarshalYAML reads one marker or a list of them.
func (m *Marks) UnmarshalYAML(read func(any) error) error {
	var one string
	if read(&one) == nil {
		*m = Marks{one}
		return nil
	}
	var list []string
	if err := read(&list); err != nil {
		return err
	}
	*m = list
	return nil
}

// MarshalYAML writes a single marker as it is, and white space so that it can
// be seen.
func (m Marks) MarshalYAML() ([]byte, error) {
	if strings.ContainsFunc(strings.Join(m, ""), unicode.IsControl) {
		if len(m) == 1 {
			return []byte(strconv.Quote(m[0])), nil
		}
		var list []string
		for _, t := range m {
			list = append(list, strconv.Quote(t))
		}
		return []byte("[" + strings.Join(list, ", ") + "]"), nil
	}
	if len(m) == 1 {
		return yaml.Marshal(m[0])
	}
	return yaml.Marshal([]string(m))
}
