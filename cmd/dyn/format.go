package main

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/parsers/gen"
	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/recipes"
)

// formats finds how the answers of models are read: as --parser says, else the
// recipe, else what reads back everything that the model's template prints.
type formats struct {
	set   *parsers.Set
	named *parsers.Format // nil when templates decide
	log   *slog.Logger
}

// newFormats looks at what is named. own says that the user gave the recipe
// another model folder than it has.
func newFormats(set *parsers.Set, name string, r *recipes.Recipe, own bool, log *slog.Logger) (*formats, error) {
	f := &formats{set: set, log: log}
	tools, reasoning := partsOf(set, name)
	if name == "" && r != nil && !(r.Simulated() && own) { // the simulated engine writes as its folder's model does
		tools, reasoning = r.Parsers.Tools, r.Parsers.Reasoning
	}
	if tools == "" && reasoning == "" {
		return f, nil
	}
	var err error
	f.named, err = set.Format(tools, reasoning)
	return f, err
}

// partsOf splits what --parser says: one name for calls and reasoning, as far
// as the parser has them, or two with a comma between.
func partsOf(set *parsers.Set, name string) (tools, reasoning string) {
	if tools, reasoning, two := strings.Cut(name, ","); two {
		return strings.TrimSpace(tools), strings.TrimSpace(reasoning)
	}
	if _, err := set.Lookup(name, parsers.Thinking); err == nil {
		reasoning = name
	}
	if _, err := set.Lookup(name, parsers.Tools); err == nil || reasoning == "" {
		tools = name
	}
	return tools, reasoning
}

// near says which parser was likely meant.
func near(set *parsers.Set, name string) string {
	if other := config.Nearest(name, set.Known()); other != "" {
		return fmt.Sprintf("did you mean %q?", other)
	}
	return "a name of dyn parsers ls, or two with a comma between: of calls, and of reasoning"
}

// of is the format for a model folder, "" being the simulated engine's own.
// Where nothing tells it, all is text, and the log says so.
func (f *formats) of(dir string) *parsers.Format {
	if f.named != nil {
		return f.named
	}
	fsys := model.FS()
	if dir != "" {
		fsys = os.DirFS(dir)
	}
	log := f.log.With("folder", dir)
	c, err := which(f.set, fsys)
	if err != nil {
		log.Warn("no parser is known for the model: calls and reasoning stay text", "err", err, "try", "dyn up --parser <name>")
		return nil
	}
	format, err := f.set.Format(c.Tools, c.Reasoning)
	if err != nil {
		log.Error("parser", "err", err)
		return nil
	}
	log.Info("parser", "calls", c.Tools, "reasoning", c.Reasoning, "why", c.Why)
	return format
}

// which finds the parser for the template of a folder.
func which(set *parsers.Set, fsys fs.FS) (*gen.Choice, error) {
	src, err := template.Read(fsys)
	if err != nil {
		return nil, err
	}
	return gen.Which(set, gen.Model{Name: "model", Template: src.ForTools(), Variables: src.Tokens})
}
