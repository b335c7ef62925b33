package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// runFlags are the flags of run.
type runFlags struct {
	model, system string
	most          int
}

// runDoc is `dyn run --json`.
type runDoc struct {
	V         int     `json:"v"`
	Model     string  `json:"model"`
	Text      string  `json:"text"`
	Reasoning string  `json:"reasoning"`
	Finish    string  `json:"finish_reason"` // "stop" or "length"
	Prompt    int     `json:"prompt_tokens"`
	Cached    int     `json:"cached_tokens"`
	Output    int     `json:"output_tokens"`
	TTFT      float64 `json:"ttft_ms"`
	Total     float64 `json:"total_ms"`
}

func runCmd(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [prompt]",
		Short: "Send one prompt to the running daemon and print the answer as it comes",
		Long: "Sends one prompt to the running daemon and prints the answer as it comes. What is\n" +
			"piped in is the prompt, or follows the one that is given. The model's thoughts go\n" +
			"to a terminal's standard error only. Ctrl-C ends the turn.",
		Example: examples(`dyn run "why is the sky blue?"`, "one answer", `git diff | dyn run "what does this change?"`, "with text from a pipe",
			`dyn run --json=text,output_tokens "hello"`, "for scripts"),
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.model, "model", "", "`name` of the model (default the first that is served)")
	flags.StringVar(&f.system, "system", "", "a `text` that stands before the prompt: who the model shall be")
	flags.IntVar(&f.most, "max-tokens", 0, "most tokens of the answer (default as many as fit)")
	cmd.RegisterFlagCompletionFunc("model", modelsNamed(a))
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.most < 0 {
			return fail(usage, "run", fmt.Errorf("--max-tokens %d: 1 or more", f.most), "", "dyn run --max-tokens 200")
		}
		prompt, err := promptOf(args, os.Stdin)
		if err != nil {
			return err
		}
		s, err := serving(cmd.Context(), a, "run", f.model)
		if err != nil {
			return err
		}
		return f.run(cmd.Context(), a, s, prompt, show)
	}
	show = asJSON(cmd, runDoc{})
	return cmd
}

// maxPiped bounds what is read from a pipe: no model holds more.
const maxPiped = 16 << 20

// promptOf is the prompt: the arguments, and what is piped in after them. A
// terminal is not waited for.
func promptOf(args []string, in *os.File) (string, error) {
	parts := []string{strings.Join(args, " ")}
	if info, err := in.Stat(); err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0) {
		piped, err := io.ReadAll(io.LimitReader(in, maxPiped+1))
		switch {
		case err != nil:
			return "", fail(failed, "run", fmt.Errorf("read standard input: %w", err), "", "")
		case len(piped) > maxPiped:
			return "", fail(usage, "run", errors.New("standard input has more than 16 MiB"), "no model holds that much", "head -c 1000000 <file> | dyn run")
		}
		parts = append(parts, string(piped))
	}
	prompt := strings.TrimSpace(strings.Join(parts, "\n\n"))
	if prompt == "" {
		return "", fail(usage, "run", errors.New("there is no prompt"), "", `dyn run "hello"`)
	}
	return prompt, nil
}

// run sends the prompt and prints what comes.
func (f runFlags) run(ctx context.Context, a *app, s served, prompt string, show *jsonFlag) error {
	_, dim := terminal(a.err)
	doc := runDoc{V: 1, Model: s.Model, Prompt: -1, Cached: -1, Output: -1, TTFT: -1}
	thinking, begun := false, false
	say := func(c chunk) error {
		if show.on() {
			return nil
		}
		if c.Reasoning != "" && dim {
			thinking = true
			fmt.Fprint(a.err, "\x1b[2m"+c.Reasoning+"\x1b[0m")
		}
		if c.Text == "" {
			return nil
		}
		if thinking && !begun {
			fmt.Fprint(a.err, "\n\n")
		}
		begun = true
		_, err := io.WriteString(a.out, c.Text)
		return err
	}
	err := stream(ctx, s, f.body(s.Model, prompt), &doc, say)
	if !show.on() && begun && !strings.HasSuffix(doc.Text, "\n") {
		fmt.Fprintln(a.out)
	}
	switch {
	case err != nil:
		return err
	case show.on():
		return show.print(a.out, doc)
	case doc.Finish == "length":
		fmt.Fprintf(a.err, "! the answer was cut at %s tokens\n", count(doc.Output))
	}
	return nil
}

// body is the request, as a chat completion.
func (f runFlags) body(model, prompt string) map[string]any {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var messages []message
	if f.system != "" {
		messages = append(messages, message{"system", f.system})
	}
	body := map[string]any{
		"model": model, "stream": true, "stream_options": map[string]bool{"include_usage": true},
		"messages": append(messages, message{"user", prompt}),
	}
	if f.most > 0 {
		body["max_tokens"] = f.most
	}
	return body
}
