package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/engine/secret"
	"github.com/agentinfer/dyn/recipes"
)

// planDoc is `dyn up --dry-run --json`.
type planDoc struct {
	V int `json:"v"`
	plan
	Command []string `json:"command,omitempty"` // of each worker; port and key are chosen at the start
}

// dryRun prints what would be started.
func dryRun(a *app, p plan, show *jsonFlag) error {
	doc := planDoc{V: 1, plan: p}
	if p.Key != "" {
		doc.Key = "…"
	}
	for i := range doc.Attach {
		if doc.Attach[i].Key != "" {
			doc.Attach[i].Key = "…"
		}
	}
	var r *recipes.Recipe
	if p.Recipe != "" {
		var err error
		if r, err = recipes.Find(p.Recipe); err != nil {
			return err
		}
		if doc.Command, err = p.command(r); err != nil {
			return err
		}
		doc.Command, doc.Program = secret.Args(doc.Command), secret.Args(doc.Program)
	}
	if show.on() {
		all := jsonFlag{ask: "*"}
		return all.print(a.out, doc)
	}
	t := &table{}
	t.add("plan", p.summary())
	t.add("listen", fmt.Sprintf("%s:%d", p.Host, p.Port))
	t.add("router", p.Policy)
	if p.Parser != "" {
		t.add("parser", p.Parser)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
		t.add("--"+name, p.Flags[name])
	}
	for _, at := range doc.Attach {
		t.add("attach", at.URL)
	}
	if r != nil {
		p.needs(t, r)
	}
	if p.TrustRemoteCode {
		t.add("trusts", trusts)
	}
	switch {
	case r != nil && doc.Command == nil:
		t.add("command", "known when the model is here")
	case r != nil:
		var words []string
		for _, w := range doc.Command {
			words = append(words, quote(w))
		}
		t.add("command", strings.Join(words, " "))
	}
	return t.print(a.out)
}

// trusts is what a plan says of a recipe with trust_remote_code.
const trusts = "the engine may run Python code that lies in the model folder (trust_remote_code)"

// command is a worker's command line, nil while its model is still to be
// fetched.
func (p plan) command(r *recipes.Recipe) ([]string, error) {
	if p.fetch != nil && !p.here() {
		return nil, nil
	}
	program := p.Program
	if p.missing != nil { // what it would be called
		e, _ := install.Known(r.Engine)
		program = []string{e.Program}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	fleet := engine.NewFleet(engine.Options{Self: self, Adapters: adapters()})
	return fleet.Plan(engine.Spec{Recipe: r, Flags: p.Flags, ModelDir: p.ModelDir, Program: program, Workers: p.Workers})
}
