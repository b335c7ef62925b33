package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/engine/secret"
)

// engineRow is one program that can run an engine, or none where it is not
// there.
type engineRow struct {
	Engine  string   `json:"engine"`
	State   string   `json:"state"` // "used", "there" or "missing"
	From    string   `json:"from"`  // "setting", "installed", "path", "" with missing
	Version string   `json:"version"`
	Name    string   `json:"name"` // of an installation, for dyn engine rm
	Command []string `json:"command"`
	Bytes   int64    `json:"bytes"` // on disk; -1 is unknown
	Probed  bool     `json:"probed"`
}

// engineListDoc is `dyn engine ls --json`.
type engineListDoc struct {
	V       int         `json:"v"`
	Dir     string      `json:"dir"`
	Engines []engineRow `json:"engines"`
}

func engineListCmd(a *app) *cobra.Command {
	var noHeader bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the engines, and which program each recipe gets",
		Long: "Lists the programs that can run each engine, the one that recipes get first (used).\n" +
			"VERSION is known of installed ones only; NAME is for dyn engine rm.",
		Example: examples("dyn engine ls", "what there is", "dyn engine ls --json=engines", "for scripts",
			"dyn engine ls --no-header | cut -f5", "the names for dyn engine rm"),
	}
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		doc, err := engineList(cmd, a)
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		if err := engineTable(doc.Engines, noHeader).narrowed(a.out, 4, 5, 2).print(a.out); err != nil {
			return err
		}
		return nil
	}
	show = asJSON(cmd, engineListDoc{})
	return cmd
}

// engineList finds all programs of all engines.
func engineList(cmd *cobra.Command, a *app) (engineListDoc, error) {
	set, err := settings(cmd)
	if err != nil {
		return engineListDoc{}, err
	}
	store, err := a.engines()
	if err != nil {
		return engineListDoc{}, err
	}
	doc := engineListDoc{V: 1, Dir: store.Dir, Engines: []engineRow{}}
	have, err := store.List()
	if err != nil {
		return doc, err
	}
	installed := map[string]install.Installed{}
	for _, i := range have {
		installed[i.Dir] = i
	}
	for _, e := range install.Catalog() {
		found, err := store.Find(e.Name, ownCommand(set, e.Name))
		if err != nil {
			return doc, err
		}
		if len(found) == 0 {
			doc.Engines = append(doc.Engines, engineRow{Engine: e.Name, State: "missing", Command: []string{}, Bytes: -1})
		}
		for n, p := range found {
			row := engineRow{Engine: e.Name, State: "there", From: string(p.From), Version: p.Version, Command: secret.Args(p.Args), Bytes: -1}
			if n == 0 {
				row.State = "used"
			}
			if i, ok := installed[p.Dir]; ok {
				row.Name, row.Bytes, row.Probed = i.Name(), i.Bytes, i.Probed
			}
			doc.Engines = append(doc.Engines, row)
		}
	}
	return doc, nil
}

func engineTable(rows []engineRow, noHeader bool) *table {
	t := &table{right: []int{5}}
	if !noHeader {
		t.head = []string{"ENGINE", "STATE", "FROM", "VERSION", "NAME", "DISK", "COMMAND"}
	}
	dash := func(s string) string {
		if s == "" {
			return "–"
		}
		return s
	}
	for _, r := range rows {
		var words []string
		for _, w := range r.Command {
			words = append(words, quote(w))
		}
		command := strings.Join(words, " ")
		if r.State == "missing" {
			command = "dyn engine install " + r.Engine
		}
		t.add(r.Engine, r.State, dash(r.From), dash(r.Version), dash(r.Name), size(r.Bytes), command)
	}
	return t
}
