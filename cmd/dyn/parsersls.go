package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/parsers"
)

// parserRow is one spec.
type parserRow struct {
	Name      string   `json:"name"`
	Grammar   string   `json:"grammar"`   // of calls, "" when it has none
	Reasoning string   `json:"reasoning"` // what opens and closes it, "" when it has none
	Grade     string   `json:"grade"`
	Models    []string `json:"models"`
	Tools     []string `json:"tools_aliases"`
	Thinking  []string `json:"reasoning_aliases"`
}

// parserListDoc is `dyn parsers ls --json`.
type parserListDoc struct {
	V       int         `json:"v"`
	Parsers []parserRow `json:"parsers"`
}

func parsersListCmd(a *app) *cobra.Command {
	var noHeader bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the parsers, with their models and how sure they are",
		Long: "Lists the parsers of this program and those of the config folder. GRADE says what a\n" +
			"spec rests on: exact and typed are read back from the models' own templates (typed\n" +
			"with the schemas of the tools), lossy is a form that templates print without quotes or\n" +
			"escapes, documented is one that was written down and that no template prints.\n" +
			"A recipe may use the names of vLLM, SGLang, TensorRT-LLM and Dynamo too: --json has them.",
		Example: examples("dyn parsers ls", "what there is", "dyn parsers ls --json=parsers", "with the names of other engines",
			"dyn parsers ls --no-header | cut -f1", "the names"),
	}
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	var show *jsonFlag
	cmd.RunE = func(*cobra.Command, []string) error {
		set, err := a.parserSet()
		if err != nil {
			return err
		}
		doc := parserListDoc{V: 1, Parsers: []parserRow{}}
		for _, s := range set.Specs() {
			doc.Parsers = append(doc.Parsers, parserRowOf(s))
		}
		if show.on() {
			return show.print(a.out, doc)
		}
		t := &table{}
		if !noHeader {
			t.head = []string{"NAME", "CALLS", "REASONING", "GRADE", "MODELS"}
		}
		for _, r := range doc.Parsers {
			t.add(r.Name, dash(r.Grammar), dash(r.Reasoning), dash(r.Grade), dash(strings.Join(r.Models, ", ")))
		}
		return t.narrowed(a.out, 2, 1).print(a.out)
	}
	show = asJSON(cmd, parserListDoc{})
	return cmd
}

func parserRowOf(s *parsers.Spec) parserRow {
	r := parserRow{Name: s.Name, Grammar: string(s.Grammar), Grade: s.Evidence.Verified, Models: list(s.Models), Tools: list(s.Aliases.Tools), Thinking: list(s.Aliases.Reasoning)}
	if t := s.Reasoning; t != nil {
		r.Reasoning = strings.Join(first(t.Open), "") + "…" + strings.Join(first(t.Close), "")
	}
	return r
}

// list is never null in JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// first is the usual spelling of a marker.
func first(m parsers.Marks) parsers.Marks {
	if len(m) > 1 {
		return m[:1]
	}
	return m
}
