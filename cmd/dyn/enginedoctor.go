package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/engine/secret"
)

// engineDoctorDoc is `dyn engine doctor --json`.
type engineDoctorDoc struct {
	V      int     `json:"v"`
	Checks []check `json:"checks"`
}

func engineDoctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [engine]",
		Short: "Check what engines need, and whether they run here",
		Long: "Checks what installing needs, and runs each engine's program: llama-server gives a\n" +
			"real token when the model of dyn up tiny is there. One line each: ✓ good, ! works\n" +
			"but look, ✗ will not work, with what to try. Ends with 5 when a line has ✗.",
		Example: examples("dyn engine doctor", "all of them", "dyn engine doctor llamacpp", "one of them",
			"dyn engine doctor --json=checks", "for scripts"),
		ValidArgsFunction: enginesNamed,
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fail(usage, "engine doctor", fmt.Errorf("one engine at a time, got %s", strings.Join(args, " ")), "", "dyn engine doctor "+args[0])
		}
		return nil
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		doc, err := engineExam(cmd, a, args)
		switch {
		case err != nil:
			return engineFault("engine doctor", err)
		case show.on():
			err = show.print(a.out, doc)
		default:
			doctorDoc{Checks: doc.Checks}.lines(a)
		}
		for _, c := range doc.Checks {
			if c.State == "bad" && err == nil {
				err = fail(unhealthy, "engine doctor", errors.New(c.Name+": "+c.Text), "", c.Try)
			}
		}
		return err
	}
	show = asJSON(cmd, engineDoctorDoc{})
	return cmd
}

// engineExam makes all checks of all engines, or of the named one.
func engineExam(cmd *cobra.Command, a *app, args []string) (engineDoctorDoc, error) {
	doc := engineDoctorDoc{V: 1}
	set, err := settings(cmd)
	if err != nil {
		return doc, err
	}
	store, err := a.engines()
	if err != nil {
		return doc, err
	}
	h := install.Look(cmd.Context(), store.Dir)
	doc.Checks = []check{checkInstaller(h), checkEngineDisk(store, h)}
	names := install.Names()
	if len(args) == 1 {
		if _, ok := install.Known(args[0]); !ok {
			_, err := store.Resolve(args[0], "")
			return doc, err
		}
		names = args
	}
	for _, name := range names {
		doc.Checks = append(doc.Checks, checkEngine(cmd.Context(), a, store, name, set))
	}
	return doc, nil
}

// checkInstaller looks for what puts packages into place.
func checkInstaller(h install.Host) check {
	var with string
	switch {
	case h.UV != "":
		with = h.UV
	case h.Python == "":
		return check{"python", "bad", "neither uv nor python3", "apt-get install python3-venv"}
	default:
		with = fmt.Sprintf("%s (3.%d) with pip", h.Python, h.Minor)
		if exec.Command(h.Python, "-c", "import venv, ensurepip").Run() != nil {
			return check{"python", "bad", h.Python + " has no venv", "apt-get install python3-venv"}
		}
	}
	return check{"python", "ok", with, ""}
}

func checkEngineDisk(s install.Store, h install.Host) check {
	switch {
	case h.Free < 0:
		return check{"disk", "warn", "nobody knows what is free for " + s.Dir, "df -h"}
	case h.Free < 4<<30:
		return check{"disk", "warn", size(h.Free) + " free for " + s.Dir + ", vllm takes 3.7 GB and more", "df -h " + install.Above(s.Dir)}
	}
	return check{"disk", "ok", size(h.Free) + " free for " + s.Dir, ""}
}

// checkEngine runs the program that recipes get.
func checkEngine(ctx context.Context, a *app, s install.Store, name string, set *config.Set) check {
	e, _ := install.Known(name)
	p, err := s.Resolve(name, ownCommand(set, name))
	switch {
	case errors.Is(err, install.ErrMissing):
		return check{name, "warn", e.Title + " is not installed", "dyn engine install " + name}
	case err != nil:
		return check{name, "bad", err.Error(), "dyn doctor"}
	}
	c := check{name, "ok", strings.TrimSpace(e.Title+" "+p.Version) + ", " + map[install.From]string{
		install.Told: "your command", install.Own: "installed", install.Path: "on PATH",
	}[p.From] + ": " + strings.Join(secret.Args(p.Args), " "), ""}
	again := map[install.From]string{
		install.Told: "dyn help environment", install.Own: "dyn engine rm " + name + " && dyn engine install " + name, install.Path: instead(s, name),
	}[p.From]
	tried, err := tryProgram(ctx, p, anyModel(a))
	switch c.Text += ", " + tried; {
	case err != nil:
		c.State, c.Try = "bad", again
		c.Text += ": " + err.Error()
	case name == "llamacpp" && tried == noModel:
		c.State, c.Try = "warn", "dyn up tiny"
	case p.From == install.Own && !slices.Contains(e.Versions(), p.Version):
		c.State, c.Try = "warn", "dyn engine install "+name
		c.Text += "; this dyn installs " + e.Versions()[0]
	}
	return c
}

// instead is what to do where the program on PATH does not run: name an
// installed one, or install one that can be named then.
func instead(s install.Store, name string) string {
	all, err := s.Find(name, "")
	if err != nil {
		return "dyn engine ls"
	}
	for _, p := range all {
		if p.From == install.Own {
			return nameIt(p) + " dyn up <recipe>"
		}
	}
	return "dyn engine install " + name
}

// nameIt is the variable that has recipes get a program.
func nameIt(p install.Program) string {
	var words []string
	for _, w := range p.Args {
		words = append(words, quote(w))
	}
	return "DYN_ENGINE__" + strings.ToUpper(p.Engine) + "=" + quote(strings.Join(words, " "))
}

// noModel says that a program was not tried, and why.
const noModel = "not tried: no model is here"

// tryProgram runs a program as far as that takes a few seconds. A command of
// the user's with arguments may be a container's, which does not see what is
// here: it is only looked for.
func tryProgram(ctx context.Context, p install.Program, model string) (string, error) {
	if _, err := exec.LookPath(p.Args[0]); err != nil {
		return "cannot be run", err
	}
	switch {
	case p.From == install.Told && len(p.Args) > 1, p.Engine != "llamacpp" && p.From != install.Own:
		return "not tried", nil
	case p.Engine != "llamacpp":
		return "finds its packages", importable(p)
	case model == "":
		return noModel, nil
	}
	if err := install.Probe(ctx, p, model); err != nil {
		return "gave no token", err
	}
	return "gave a token", nil
}

// importable reports whether an installed vLLM finds its own metadata, which
// is quick; to start one takes a minute.
func importable(p install.Program) error {
	out, err := exec.Command(p.Args[0], "-c", "import importlib.metadata as m; m.version('vllm'); m.version('torch')").CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return nil
}

// checkEngines is the doctor's line about all engines.
func checkEngines(a *app, set *config.Set) check {
	store, err := a.engines()
	if err != nil {
		return check{"engines", "warn", err.Error(), "dyn engine doctor"}
	}
	var have []string
	for _, name := range install.Names() {
		p, err := store.Resolve(name, ownCommand(set, name))
		switch {
		case errors.Is(err, install.ErrMissing):
		case err != nil:
			return check{"engines", "bad", err.Error(), "dyn engine doctor"}
		default:
			have = append(have, strings.TrimSpace(name+" "+p.Version)+" ("+string(p.From)+")")
		}
	}
	if len(have) == 0 {
		return check{"engines", "ok", "none installed; the simulated engine needs none", ""}
	}
	return check{"engines", "ok", strings.Join(have, ", "), ""}
}
