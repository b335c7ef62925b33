package config

import (
	"slices"
	"strconv"
	"strings"
)

// Value is a setting's value and the place it came from.
type Value struct {
	Text string `json:"value"`
	From string `json:"from"` // "flag --port", "env DYN_SERVER__PORT", a file's path, "recipe sim", "default"
}

// Set holds the values of all settings that have one. Build it with Load; it
// is read only afterwards, except for Fill.
type Set struct {
	Values  map[string]Value `json:"values"`
	Files   []string         `json:"files"`   // read, in order of precedence
	Ignored []string         `json:"ignored"` // DYN_ names that are no setting's
}

// Source says where to look. Flags holds the flags that were given, by name.
type Source struct {
	Flags    map[string]string
	Env      []string // as os.Environ gives it
	Dir      string   // the working folder
	UserFile string
}

// Load looks up every setting. Its error is a *FileError for a bad file, and
// names the flag or variable otherwise.
func Load(src Source) (*Set, error) {
	set := &Set{Values: map[string]Value{}}
	env := map[string]string{}
	for _, pair := range src.Env {
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, "DYN_") {
			env[name] = value
		}
	}
	files := []string{src.UserFile}
	if p := Project(src.Dir); p != "" {
		files = []string{p, src.UserFile}
	}
	if err := set.flags(src); err != nil {
		return nil, err
	}
	if err := set.env(env, src.Dir); err != nil {
		return nil, err
	}
	for _, path := range files {
		found, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if found != nil {
			set.Files = append(set.Files, path)
		}
		for key, value := range found {
			set.fill(key, Value{value, path})
		}
	}
	return set, nil
}

func (s *Set) flags(src Source) error {
	for i := range Settings {
		row := &Settings[i]
		for _, flag := range []string{row.Flag, row.WasFlag()} {
			text, given := src.Flags[flag]
			if flag == "" || !given {
				continue
			}
			value, err := row.normal(text, src.Dir)
			if err != nil {
				return placed("--"+flag, err)
			}
			s.fill(row.Key, Value{value, "flag --" + flag})
		}
	}
	return nil
}

func (s *Set) env(env map[string]string, dir string) error {
	for i := range Settings {
		row := &Settings[i]
		for _, name := range []string{row.Env(), envOf(row.Was)} {
			text, given := env[name]
			delete(env, name)
			if !given || row.Was == "" && name != row.Env() {
				continue
			}
			value, err := row.normal(text, dir)
			if err != nil {
				return placed(name, err)
			}
			s.fill(row.Key, Value{value, "env " + name})
		}
	}
	for _, other := range Others {
		delete(env, other.Name)
	}
	for name := range env {
		s.Ignored = append(s.Ignored, name)
	}
	slices.Sort(s.Ignored)
	return nil
}

// Fill adds values where no stronger place had one: the recipe's, by the
// worker's flag, and then the table's own.
func (s *Set) Fill(recipe string, flags map[string]string) {
	for i := range Settings {
		row := &Settings[i]
		if v, ok := flags[row.Worker]; ok && row.Worker != "" {
			s.fill(row.Key, Value{v, "recipe " + recipe})
		}
		if row.Default != "" {
			text, err := row.normal(row.Default, "/")
			if err != nil {
				panic("config: default of " + row.Key + ": " + err.Error())
			}
			s.fill(row.Key, Value{text, "default"})
		}
	}
}

func (s *Set) fill(key string, v Value) {
	if _, ok := s.Values[key]; !ok {
		s.Values[key] = v
	}
}

// Text returns a value, "" when the setting has none.
func (s *Set) Text(key string) string { return s.Values[key].Text }

// Int returns a whole number; 0 when the setting has none. Values were
// checked when they were read.
func (s *Set) Int(key string) int {
	n, _ := strconv.Atoi(s.Text(key))
	return n
}

// Worker returns what is handed to each worker of a real engine: its own
// flag's name and the value, for settings that have one.
func (s *Set) Worker() map[string]string {
	return s.worker(func(row Setting) bool { return !row.Sim })
}

// Simulated returns what is handed to each simulated worker.
func (s *Set) Simulated() map[string]string {
	return s.worker(func(Setting) bool { return true })
}

func (s *Set) worker(pick func(Setting) bool) map[string]string {
	out := map[string]string{}
	for _, row := range Settings {
		if v, ok := s.Values[row.Key]; ok && row.Worker != "" && pick(row) {
			out[row.Worker] = v.Text
		}
	}
	return out
}

// Other is an environment name that dyn reads and that is no setting's.
type Other struct{ Name, Help string }

// Others lists them for the help page.
var Others = []Other{
	{"DYN_API_KEY", "key that dyn claude and dyn codex send; unset is the daemon's own"},
	{"DYN_AGENT_KEY", "set by dyn codex for the agent it starts"},
	{"DYN_FORCE_TTY", "columns: write as to a terminal of this width"},
	{"DYN_FIXTURES", "tests only: folder of recorded exchanges"},
	{"DYN_VERIFY", "tests only: 1 checks invariants that are too dear otherwise"},
}
