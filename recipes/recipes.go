package recipes

import (
	"embed"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Recipe is a model with all it takes to serve it.
type Recipe struct {
	Name         string            `yaml:"name"`
	Description  string            `yaml:"description"`
	Model        string            `yaml:"model"`          // the id that clients name
	Engine       string            `yaml:"engine"`         // the adapter: "vllm"
	Command      []string          `yaml:"command"`        // program and first arguments; words in braces are filled in
	ModelDir     string            `yaml:"model_dir"`      // tokenizer and template; "" is the one built in
	Context      int               `yaml:"context"`        // tokens, prompt and answer together
	Parsers      Parsers           `yaml:"parsers"`        // how answers are read
	Template     map[string]any    `yaml:"template"`       // switches of the chat template: booleans, texts and numbers, such as clear_thinking: false
	Flags        map[string]string `yaml:"flags"`          // the engine's flags, without the dashes; "true" is a bare flag, "false" is none
	Env          map[string]string `yaml:"env"`            // added to the engine's environment
	BindToDaemon bool              `yaml:"bind_to_daemon"` // its workers die with the daemon
}

// Parsers names the parsers of a model's answers; "" is none.
type Parsers struct {
	Tools     string `yaml:"tools"`
	Reasoning string `yaml:"reasoning"`
}

//go:embed *.yaml
var files embed.FS

// Find returns the embedded recipe of that name. The error is a *turn.Fault
// that names the known ones.
func Find(name string) (*Recipe, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, &turn.Fault{
			Op:  fmt.Sprintf("find recipe %q", name),
			Err: fs.ErrNotExist,
			Why: "known recipes: " + strings.Join(names(), ", "),
			Try: "dyn up " + names()[0],
		}
	}
	return Read(data, nil)
}

// List returns the embedded recipes by name.
func List() []Recipe {
	var all []Recipe
	for _, name := range names() {
		r, err := Find(name)
		if err != nil { // a test reads them all, so this is a broken build
			panic(err)
		}
		all = append(all, *r)
	}
	return all
}

func names() []string {
	entries, _ := files.ReadDir(".") // an embedded folder can be read
	var all []string
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	sort.Strings(all)
	return all
}
