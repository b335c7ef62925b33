package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/parsers/gen"
)

// parserGenDoc is `dyn parsers gen --json`.
type parserGenDoc struct {
	V         int      `json:"v"`
	Name      string   `json:"name"`
	Grade     string   `json:"grade"`
	Grammar   string   `json:"grammar"`
	Probes    int      `json:"probes"`
	Failed    int      `json:"failed"`
	Like      string   `json:"like"` // the parser of this program that reads all probes, "" when none does
	Notes     []string `json:"notes"`
	Files     []string `json:"files"`
	Fits      string   `json:"fits"`      // the spec that --check found to fit, "" without it
	Samples   int      `json:"samples"`   // recorded outputs that were read
	Installed string   `json:"installed"` // "" when it was not asked for
}

// genParser are the flags of parsers gen.
type genParser struct {
	out, name, samples string
	check, install     bool
}

func parsersGenCmd(a *app) *cobra.Command {
	var o genParser
	cmd := &cobra.Command{
		Use:   "gen <model>",
		Short: "Write a parser from a chat template, with proof",
		Long: "Renders small conversations with the model's chat template, compares what differs, and\n" +
			"writes a folder: the spec, a Go test with every probe, and report.md. Where the template\n" +
			"does not tell enough, it writes what an engineer or a coding agent needs to finish it too.\n" +
			"<model> is a model folder, a chat template, a tokenizer_config.json or a GGUF file.\n" +
			"The exit code is 1 where --check finds that the spec no longer fits.",
		Example: examples("dyn parsers gen ./my-model", "into ./my-model.parser", "dyn parsers gen ./my-model --install", "for dyn up --parser my-model",
			"dyn parsers gen ./my-model --check", "does the spec still fit the template?", "dyn parsers gen ./my-model --samples raw.jsonl", "recorded outputs as well"),
		Args: oneName("parsers gen", "dyn parsers gen <model folder>"),
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "folder to write to (default <name>.parser)")
	f.StringVar(&o.name, "name", "", "name of the spec (default that of the model)")
	f.StringVar(&o.samples, "samples", "", "recorded raw outputs, one JSON object a line: text, and tail, tools, expect where known")
	f.BoolVar(&o.check, "check", false, "write nothing: fail when the template changed, or the spec there does not read its probes")
	f.BoolVar(&o.install, "install", false, "put the spec into the config folder too; with --check the one that fits")
	var show *jsonFlag
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		doc, err := a.generate(args[0], o)
		if doc.Name == "" || err != nil && o.check && !show.on() {
			return err // what was derived is of no interest then
		}
		if show.on() {
			return errors.Join(show.print(a.out, doc), err)
		}
		return errors.Join(a.showGenerated(doc), err)
	}
	show = asJSON(cmd, parserGenDoc{})
	return cmd
}

// generate does what gen was asked for. A document without a name comes with
// an error; one with a name may, too.
func (a *app) generate(path string, o genParser) (doc parserGenDoc, err error) {
	model, err := modelAt("parsers gen", path)
	if err != nil {
		return doc, err
	}
	if o.name != "" {
		model.Name = o.name
	}
	if model.Name != clean(model.Name) {
		return doc, fail(usage, "parsers gen", fmt.Errorf("%q is no name of a spec", model.Name), "it is the name of a file: small letters, digits, dots, - and _", "dyn parsers gen "+quote(path)+" --name "+clean(model.Name))
	}
	if o.out == "" {
		o.out = model.Name + ".parser"
	}
	r, err := gen.Generate(model)
	if err != nil {
		return doc, fail(failed, "parsers gen", err, "a template is foreign code, and bounded", "")
	}
	if o.samples != "" {
		data, err := os.ReadFile(o.samples)
		if err != nil {
			return doc, fail(nothing, "parsers gen", err, "", "")
		}
		if r.Samples, err = gen.ReadSamples(data); err != nil {
			return doc, fail(usage, "parsers gen", fmt.Errorf("%s: %w", o.samples, err), "", "")
		}
	}
	doc = parserGenDoc{
		V: 1, Name: r.Spec.Name, Grade: r.Spec.Evidence.Verified, Grammar: string(r.Spec.Grammar),
		Probes: len(r.Probes), Failed: len(r.Failures), Notes: list(r.Notes), Files: []string{}, Samples: len(r.Samples),
	}
	if r.Like != nil {
		doc.Like = r.Like.Spec.Name
	}
	if o.check {
		path := filepath.Join(o.out, r.Spec.Name+".yaml")
		spec, err := a.checkSpec(r, path)
		if err != nil {
			return doc, err
		}
		doc.Fits = path
		if o.install {
			doc.Installed, err = a.installSpec(r.Spec.Name, spec)
		}
		return doc, err
	}
	if err := r.Try(); err != nil {
		doc.Notes = append(doc.Notes, strings.Split(err.Error(), "\n")...)
	}
	files, err := r.Files()
	if err != nil {
		return doc, fail(failed, "parsers gen", err, "", "")
	}
	if doc.Files, err = writeAll(o.out, files); err != nil {
		return doc, err
	}
	if o.install {
		if err := r.Spec.Check(); err != nil {
			return doc, fail(failed, "parsers gen", fmt.Errorf("the spec cannot be used yet: %w", err), "report.md says what is missing, SKILL.md how to finish it", "")
		}
		doc.Installed, err = a.installSpec(r.Spec.Name, files[0].Data)
	}
	return doc, err
}

// writeAll writes files into a folder and lists them.
func writeAll(dir string, files []gen.File) (all []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fail(failed, "parsers gen", err, "", "")
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return all, fail(failed, "parsers gen", err, "", "")
		}
		all = append(all, path)
	}
	return all, nil
}

// checkSpec compares what is generated now with the spec that lies there, and
// returns its text.
func (a *app) checkSpec(r *gen.Result, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(nothing, "parsers gen", err, "--check compares with what gen wrote before", "dyn parsers gen without --check, or --out with its folder")
	}
	if err != nil {
		return nil, fail(failed, "parsers gen", err, "", "")
	}
	spec, err := parsers.ReadSpec(data)
	if err != nil {
		return nil, fail(failed, "parsers gen", fmt.Errorf("%s: %w", path, err), "", "${EDITOR:-vi} "+quote(path))
	}
	if err := r.Check(spec); err != nil {
		return nil, fail(failed, "parsers gen", fmt.Errorf("%s does not fit", path), err.Error(), "${EDITOR:-vi} "+quote(path))
	}
	return data, nil
}

// installSpec puts a spec where dyn up finds it.
func (a *app) installSpec(name string, data []byte) (string, error) {
	f, err := a.folders()
	if err != nil {
		return "", err
	}
	written, err := writeAll(f.Parsers(), []gen.File{{Name: name + ".yaml", Data: data}})
	if err != nil {
		return "", err
	}
	return written[0], nil
}

// showGenerated tells people what was found and written.
func (a *app) showGenerated(doc parserGenDoc) error {
	if doc.Fits != "" {
		_, err := fmt.Fprintf(a.out, "%s fits: %d probes, %d samples\n", doc.Fits, doc.Probes, doc.Samples)
		if doc.Installed != "" {
			fmt.Fprintf(a.out, "installed %s: dyn up --parser %s\n", doc.Installed, doc.Name)
		}
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s: %s, %s, %d of %d probes read back\n", doc.Name, dash(doc.Grammar), doc.Grade, doc.Probes-doc.Failed, doc.Probes)
	if doc.Like != "" {
		fmt.Fprintf(a.out, "like %s, which reads all of them\n", doc.Like)
	}
	for _, n := range doc.Notes {
		fmt.Fprintf(a.out, "note: %s\n", oneLine(n))
	}
	for _, f := range doc.Files {
		fmt.Fprintf(a.out, "wrote %s\n", f)
	}
	if doc.Installed != "" {
		fmt.Fprintf(a.out, "installed %s: dyn up --parser %s\n", doc.Installed, doc.Name)
	}
	return err
}
