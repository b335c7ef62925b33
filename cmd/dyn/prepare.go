package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/recipes"
)

// wants finds the program and the model's folder of a real engine. What is
// missing is no error here: a plan can be printed without it.
func (p *plan) wants(r *recipes.Recipe, set *config.Set) error {
	f, err := (&app{}).folders()
	if err != nil {
		return err
	}
	p.TrustRemoteCode = r.TrustRemoteCode
	if r.Fetch != nil && p.ModelDir == "" {
		models := install.Models{Dir: f.Models()}
		p.ModelDir, p.fetch = models.Folder(*r.Fetch), r.Fetch
	}
	if !r.UsesEngine() {
		return nil
	}
	found, err := install.Store{Dir: f.Engines()}.Resolve(r.Engine, ownCommand(set, r.Engine))
	switch {
	case errors.Is(err, install.ErrMissing):
		p.missing = err
	case err != nil:
		return fail(usage, p.op(), err, "", "dyn engine ls")
	}
	p.Program, p.ProgramFrom, p.ProgramVersion = found.Args, string(found.From), found.Version
	return nil
}

// prepare brings what the plan wants and this machine has not: the engine,
// with the user's consent, and the model's file.
func (p *plan) prepare(ctx context.Context, a *app, show *steps, yes bool) error {
	f, err := a.folders()
	if err != nil || f.Alive() { // a daemon that lives has what it needs
		return err
	}
	r, err := p.findRecipe()
	if err != nil {
		return err
	}
	if p.ProgramFrom == string(install.Told) {
		if _, err := exec.LookPath(p.Program[0]); err != nil {
			return fail(nothing, p.op(), fmt.Errorf("there is no program %s to run", p.Program[0]),
				"the setting engine."+r.Engine+" names it", "dyn engine doctor "+r.Engine)
		}
	}
	store := install.Store{Dir: f.Engines()}
	var todo install.Plan
	if p.missing != nil {
		if todo, err = p.consent(ctx, a, store, r, show, yes); err != nil {
			return err
		}
	}
	model := anyModel(a)
	if p.fetch != nil { // before the engine, which is tried with it
		models := install.Models{Dir: f.Models()}
		if err := p.fetchModel(ctx, models, show); err != nil {
			return engineFault(p.op(), err)
		}
		model = models.File(*p.fetch)
	}
	if p.missing == nil {
		return nil
	}
	got, err := installEngine(ctx, store, todo, model, show, func(engineDone) {})
	if err != nil {
		return engineFault(p.op(), err)
	}
	p.Program, p.ProgramFrom, p.ProgramVersion, p.missing = got.Args, string(got.From), got.Version, nil
	return nil
}

// consent works out how the missing engine is installed, and asks whether it
// shall be. Where nobody can be asked, only --yes is a yes: a script shall not
// install what its author did not think of.
func (p *plan) consent(ctx context.Context, a *app, store install.Store, r *recipes.Recipe, show *steps, yes bool) (install.Plan, error) {
	no := understand(p.op(), p.missing)
	no.code, no.Op = nothing, p.op()
	todo, err := install.NewPlan(store.Dir, r.Engine, install.Want{}, install.Look(ctx, store.Dir))
	if err != nil {
		return todo, engineFault(p.op(), err)
	}
	no.Why += "; dyn " + p.op() + " --yes installs it: " + todo.Summary()
	if yes {
		return todo, nil
	}
	if _, tty := terminal(a.err); !tty || !terminalInput() || show.json {
		return todo, no
	}
	fmt.Fprintf(a.err, "%s is not installed. Install %s? [Y/n] ", todo.Title, todo.Summary())
	answer, err := readLine(ctx, os.Stdin)
	if !strings.HasSuffix(answer, "\n") {
		fmt.Fprintln(a.err) // Ctrl-C or Ctrl-D: the line is not ended
	}
	if err != nil {
		return todo, err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "" && answer != "y" && answer != "yes" {
		return todo, no
	}
	return todo, nil
}

// readLine reads what the user types, until ctx ends.
func readLine(ctx context.Context, from *os.File) (string, error) {
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(from).ReadString('\n')
		got <- line{text, err}
	}()
	select {
	case l := <-got:
		if l.err != nil { // the terminal was closed: no is safe
			return "n", nil
		}
		return l.text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// fetchModel brings the model's file, or sees that it is there.
func (p *plan) fetchModel(ctx context.Context, models install.Models, show *steps) error {
	name := filepath.Base(models.File(*p.fetch))
	ok, err := models.Have(*p.fetch)
	if err != nil {
		return err
	}
	if ok {
		show.stage("fetch", "", name+" is here, "+size(p.fetch.Bytes))
		return nil
	}
	h := install.Look(ctx, models.Dir)
	err = models.Fetch(ctx, *p.fetch, h, func(at install.Progress) { show.count("fetch", name, at) })
	show.settle()
	return err
}

// needs says what of a plan is not on this machine yet, one line each.
func (p plan) needs(t *table, r *recipes.Recipe) {
	if len(p.Program) > 0 {
		t.add("engine", strings.TrimSpace(r.Engine+" "+p.ProgramVersion)+", "+p.ProgramFrom)
	}
	if p.missing != nil {
		t.add("engine", r.Engine+" is not installed: dyn engine install "+r.Engine)
	}
	if p.fetch == nil {
		return
	}
	state := "to fetch"
	if p.here() {
		state = "here"
	}
	file := filepath.Join(p.ModelDir, filepath.Base(p.fetch.File))
	t.add("model", fmt.Sprintf("%s, %s, %s: %s", p.fetch.Package, size(p.fetch.Bytes), state, file))
}

// here reports whether the model that is fetched is there.
func (p plan) here() bool {
	f, err := (&app{}).folders()
	if err != nil {
		return false
	}
	ok, err := install.Models{Dir: f.Models()}.Have(*p.fetch)
	return ok && err == nil
}

// terminalInput reports whether somebody can answer.
func terminalInput() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
