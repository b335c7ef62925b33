package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/parsers/gen"
)

// parserWhichDoc is `dyn parsers which --json`.
type parserWhichDoc struct {
	V         int      `json:"v"`
	Model     string   `json:"model"`
	Tools     string   `json:"tools"`     // the parser of calls, "" when there is none
	Reasoning string   `json:"reasoning"` // the parser of reasoning, "" when there is none
	Why       string   `json:"why"`
	Probes    int      `json:"probes"`
	Others    []string `json:"others"` // that read all probes as well
}

func parsersWhichCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "which <model>",
		Short: "Say which parser a model wants, and why",
		Long: "Renders small conversations with the model's chat template and reads them back with\n" +
			"each parser: the one that reads all of them is it. <model> is a model folder, a chat\n" +
			"template, a tokenizer_config.json or a GGUF file.",
		Example: examples("dyn parsers which ./Qwen3-4B", "a model folder", "dyn parsers which model.gguf --json=tools", "for scripts"),
		Args:    oneName("parsers which", "dyn parsers which <model folder>"),
	}
	var show *jsonFlag
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		model, err := modelAt("parsers which", args[0])
		if err != nil {
			return err
		}
		set, err := a.parserSet()
		if err != nil {
			return err
		}
		w, err := gen.Which(set, model)
		if err != nil {
			return fail(failed, "parsers which", err, "", "")
		}
		doc := parserWhichDoc{1, model.Name, w.Tools, w.Reasoning, w.Why, w.Probes, list(w.Others)}
		if show.on() {
			return show.print(a.out, doc)
		}
		if _, err := fmt.Fprintf(a.out, "calls      %s\nreasoning  %s\nwhy        %s\n", dash(w.Tools), dash(w.Reasoning), w.Why); err != nil {
			return err
		}
		if len(w.Others) > 0 {
			_, err = fmt.Fprintf(a.out, "also       %s\n", strings.Join(w.Others, ", "))
		}
		return err
	}
	show = asJSON(cmd, parserWhichDoc{})
	return cmd
}
