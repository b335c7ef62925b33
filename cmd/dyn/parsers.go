package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/parsers/gen"
	"github.com/agentinfer/dyn/prompt/template"
)

func parsersCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parsers",
		Short: "List, try and write the parsers of what models say",
		Long: "A parser tells reasoning, text and tool calls apart in what a model writes. One is a\n" +
			"spec: the markers of a family of models and the form of its calls. Those of this\n" +
			"program are listed by ls; gen writes one from a chat template, with proof.",
		Example: examples("dyn parsers ls", "what there is", "dyn parsers which ./my-model", "the one for a model folder",
			"dyn parsers run hermes answer.txt", "how it reads a text", "dyn parsers gen ./my-model", "write one"),
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(parsersListCmd(a), parsersRunCmd(a), parsersWhichCmd(a), parsersGenCmd(a))
	return cmd
}

// parserSet is the parsers of this program and the user's own.
func (a *app) parserSet() (*parsers.Set, error) {
	f, err := a.folders()
	if err != nil {
		return nil, err
	}
	set, err := parsers.Load(f.Parsers())
	if err != nil {
		return nil, fail(usage, "parsers", err, "a spec in "+f.Parsers()+" cannot be read", "dyn parsers ls --help")
	}
	return set, nil
}

// parserNames completes the names of parsers.
func parserNames(a *app) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if set, err := a.parserSet(); err == nil && len(args) == 0 {
			for _, s := range set.Specs() {
				names = append(names, s.Name+"\t"+strings.Join(s.Models, ", "))
			}
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}

// modelAt reads what a parser is written from: a model folder, a template, a
// tokenizer_config.json or a GGUF file.
func modelAt(op, path string) (gen.Model, error) {
	m := gen.Model{Name: specName(path)}
	info, err := os.Stat(path)
	if err != nil {
		return m, fail(nothing, op, err, "it wants a model folder, a chat template, a tokenizer_config.json or a GGUF file", "")
	}
	if info.IsDir() {
		return folderModel(op, path, os.DirFS(path), m)
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".json", ".gguf":
		return folderModel(op, path, only{os.DirFS(filepath.Dir(path)), filepath.Base(path), ext == ".json"}, m)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fail(failed, op, err, "", "")
	}
	if m.Template = string(text); !utf8.Valid(text) || !strings.Contains(m.Template, "{{") && !strings.Contains(m.Template, "{%") {
		return m, fail(usage, op, fmt.Errorf("%s is no chat template: it prints nothing of a conversation", path), "it wants a model folder, a chat template, a tokenizer_config.json or a GGUF file", "")
	}
	return m, nil
}

// folderModel reads the template of a folder and what is beside it.
func folderModel(op, path string, fsys fs.FS, m gen.Model) (gen.Model, error) {
	src, err := template.Read(fsys)
	if err != nil {
		return m, fail(nothing, op, fmt.Errorf("%s: %w", path, err), "a parser is written from the model's chat template", "")
	}
	m.Template, m.Variables = src.ForTools(), src.Tokens
	m.Added, m.Stops = gen.ReadTokens(fsys)
	m.Response = gen.ReadResponse(fsys)
	return m, nil
}

// only is a folder of which one file is seen; a JSON file under the name that
// models give it.
type only struct {
	fs.FS
	name   string
	config bool
}

func (o only) Open(name string) (fs.File, error) {
	switch {
	case name == ".":
		return o.FS.Open(name)
	case name == o.name, o.config && name == "tokenizer_config.json":
		return o.FS.Open(o.name)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists the one file.
func (o only) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(o.FS, name)
	for _, e := range all {
		if e.Name() == o.name {
			return []fs.DirEntry{e}, nil
		}
	}
	return nil, err
}

// specName makes a spec's name of a path.
func specName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	base := filepath.Base(path)
	if base == "tokenizer_config.json" || base == "chat_template.jinja" {
		base = filepath.Base(filepath.Dir(path))
	}
	for _, ext := range []string{".jinja", ".json", ".gguf", ".j2", ".txt"} {
		base = strings.TrimSuffix(base, ext)
	}
	return clean(base)
}

// clean makes a spec's name of any.
func clean(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
			b.WriteRune(c)
		default:
			b.WriteByte('-')
		}
	}
	if name := strings.Trim(b.String(), "-."); name != "" {
		return name
	}
	return "model"
}
