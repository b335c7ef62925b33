package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/recipes"
)

// engineDone is the last line of `dyn engine install --json`.
type engineDone struct {
	V       int     `json:"v"`
	Type    string  `json:"type"`  // "done"
	State   string  `json:"state"` // "installed" or "already_installed"
	Engine  string  `json:"engine"`
	Version string  `json:"version"`
	Variant string  `json:"variant"`
	Dir     string  `json:"dir"`
	Bytes   int64   `json:"bytes"`
	Probed  bool    `json:"probed"` // it has given a token here
	MS      float64 `json:"ms"`
}

// engineInstallFlags are the flags of engine install.
type engineInstallFlags struct {
	want   install.Want
	dryRun bool
	list   bool
}

func engineInstallCmd(a *app) *cobra.Command {
	var f engineInstallFlags
	cmd := &cobra.Command{
		Use:   "install <engine>",
		Short: "Install an engine into a folder of its own",
		Long: "Installs an engine into a folder of its own below the data folder, from the package\n" +
			"index that uv or pip are set up for. The version is pinned. What is installed already\n" +
			"stays as it is; another version stands beside it until dyn engine rm. Without a\n" +
			"network it says what to copy where.",
		Example: examples("dyn engine install llamacpp", "llama-server: any CPU with AVX2", "dyn engine install vllm --dry-run", "every step, and what it takes",
			"dyn engine install llamacpp --wheels ./wheels", "from copied packages"),
		Args:              oneEngine("engine install"),
		ValidArgsFunction: enginesNamed,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.want.Variant, "variant", "", "`name` of a variant (default the first that fits this machine)")
	flags.StringVar(&f.want.Wheels, "wheels", "", "take packages from this `folder`, not from an index")
	flags.BoolVar(&f.list, "list", false, "print the packages, as pip reads them, and stop")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the steps and stop")
	cmd.RegisterFlagCompletionFunc("variant", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, e := range install.Catalog() {
			if len(args) == 0 || args[0] == e.Name {
				names = append(names, e.Variants()...)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return engineFault("engine install", f.run(cmd.Context(), a, args[0], show))
	}
	show = asJSON(cmd, engineDone{})
	return cmd
}

// run installs, or prints what it would do.
func (f engineInstallFlags) run(ctx context.Context, a *app, engine string, show *jsonFlag) error {
	store, err := a.engines()
	if err != nil {
		return err
	}
	if f.want.Wheels != "" {
		if f.want.Wheels, err = filepath.Abs(f.want.Wheels); err != nil {
			return err
		}
		if info, err := os.Stat(f.want.Wheels); err != nil || !info.IsDir() {
			return fail(usage, "install "+engine, fmt.Errorf("--wheels %s: no such folder", f.want.Wheels), "", "ls "+f.want.Wheels)
		}
	}
	p, err := install.NewPlan(store.Dir, engine, f.want, install.Look(ctx, store.Dir))
	if err != nil {
		return err
	}
	if f.list {
		_, err := fmt.Fprintln(a.out, strings.Join(p.Packages(), "\n"))
		return err
	}
	if f.dryRun {
		return enginePlan(a, p, show)
	}
	steps := newSteps(a, show)
	_, err = installEngine(ctx, store, p, anyModel(a), steps, func(d engineDone) { engineResult(a, store, d, show) })
	return err
}

// stageWords say what the stages of an installation do.
var stageWords = map[string]string{
	"environment": "a Python environment of its own", "packages": "", "libraries": "put right for this machine",
	"files": "what the packages lack", "check": "does it start?", "probe": "first token",
}

// installEngine carries a plan out, and tells the result to done. model is a
// file to try the engine with, or "".
func installEngine(ctx context.Context, store install.Store, p install.Plan, model string, show *steps, done func(engineDone)) (install.Program, error) {
	if !store.Has(p) {
		show.stage("plan", "", p.Summary())
	}
	i, again, err := store.Install(ctx, p, model, func(at install.Progress) { show.count(at.Stage, stageWords[at.Stage], at) })
	show.settle()
	if err != nil {
		return install.Program{}, err
	}
	state := "installed"
	if again {
		state = "already_installed"
	}
	done(engineDone{1, "done", state, i.Engine, i.Version, i.Variant, i.Dir, i.Bytes, i.Probed, show.elapsed()})
	return i.Program(), nil
}

// anyModel is a model file of a recipe that was fetched, for a first token;
// "" is that there is none.
func anyModel(a *app) string {
	f, err := a.folders()
	if err != nil {
		return ""
	}
	for _, r := range recipes.List() {
		models := install.Models{Dir: f.Models()}
		if r.Fetch == nil {
			continue
		}
		if ok, err := models.Have(*r.Fetch); ok && err == nil {
			return models.File(*r.Fetch)
		}
	}
	return ""
}

// engineResult tells what was installed, and what to do next.
func engineResult(a *app, store install.Store, d engineDone, show *jsonFlag) {
	if show.on() {
		jsonLine(a.out, d)
		return
	}
	fmt.Fprintf(a.out, "  %s  %s %s  %s in %s\n", strings.ReplaceAll(d.State, "_", " "), d.Engine, d.Version, size(d.Bytes), d.Dir)
	if p, err := store.Resolve(d.Engine, ""); err == nil && p.From == install.Path {
		fmt.Fprintf(a.err, "! recipes get %s, which is on PATH; %s lets them have this one\n", p.Args[0], strings.TrimSuffix(instead(store, d.Engine), " dyn up <recipe>"))
	}
	if d.Engine == "llamacpp" {
		if !d.Probed && d.State == "installed" {
			fmt.Fprintln(a.err, "! not tried with a model, because none is here; dyn up tiny fetches one and tries it")
		}
		next(a, "dyn up tiny", "serve a small model with it", "dyn engine ls", "what there is")
		return
	}
	next(a, "dyn engine ls", "what there is", "dyn engine doctor "+d.Engine, "does it run here?")
}

// enginePlan prints what would be done.
func enginePlan(a *app, p install.Plan, show *jsonFlag) error {
	if show.on() {
		return jsonLine(a.out, struct {
			V    int    `json:"v"`
			Type string `json:"type"` // "plan"
			install.Plan
		}{1, "plan", p})
	}
	t := &table{}
	t.add("plan", p.Summary())
	t.add("into", p.Dir)
	for _, s := range p.Steps {
		if s.Path != "" {
			t.add(s.Stage, "write "+s.Path)
			continue
		}
		var words []string
		for _, w := range s.Command {
			words = append(words, quote(w))
		}
		t.add(s.Stage, strings.Join(words, " "))
	}
	return t.print(a.out)
}
