package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/tui"
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

	extra extra
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
		if f.most < 0 || f.most == 0 && cmd.Flags().Changed("max-tokens") {
			return fail(usage, "run", fmt.Errorf("--max-tokens %d: 1 or more", f.most), "", "dyn run --max-tokens 200")
		}
		prompt, err := promptOf(cmd.Context(), args, os.Stdin, 2*time.Second, func() {
			if show.on() {
				return
			}
			fmt.Fprintln(a.err, "! waiting for the end of standard input; without it: dyn run … </dev/null")
		})
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
// terminal is not waited for. A pipe may be one that nobody writes to, left by
// what starts us: when it stays open for patience, waits is called. When ctx
// ends the error is its cause.
func promptOf(ctx context.Context, args []string, in *os.File, patience time.Duration, waits func()) (string, error) {
	parts := []string{strings.Join(args, " ")}
	if info, err := in.Stat(); err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0) {
		late := time.AfterFunc(patience, waits)
		piped, err := readPiped(ctx, in)
		late.Stop()
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
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

// readPiped reads what is piped in, until ctx ends: a read of a pipe cannot be
// broken off, so then it is left to the end of the process.
func readPiped(ctx context.Context, in io.Reader) ([]byte, error) {
	type piped struct {
		data []byte
		err  error
	}
	got := make(chan piped, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, maxPiped+1))
		got <- piped{data, err}
	}()
	select {
	case p := <-got:
		return p.data, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run sends the prompt and prints what comes.
func (f runFlags) run(ctx context.Context, a *app, s served, prompt string, show *jsonFlag) error {
	_, thinks := terminal(a.err)
	_, shown := terminal(a.out)
	dim, bright := "\x1b[2m", "\x1b[0m"
	if tui.ColorFor(os.Getenv, thinks) == tui.NoColor {
		dim, bright = "", ""
	}
	doc := runDoc{V: 1, Model: s.Model, Prompt: -1, Cached: -1, Output: -1, TTFT: -1}
	thinking, begun := false, false
	say := func(c chunk) error {
		if show.on() {
			return nil
		}
		if c.Reasoning != "" && thinks {
			thinking = true
			fmt.Fprint(a.err, dim+harmless(c.Reasoning)+bright)
		}
		if c.Text == "" {
			return nil
		}
		if thinking && !begun {
			fmt.Fprint(a.err, "\n\n")
		}
		begun = true
		if shown {
			c.Text = harmless(c.Text)
		}
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

// harmless is a model's text as a terminal may show it: what could move its
// cursor, change its title or fill its clipboard becomes a sign. A file or a
// pipe gets the text as it is.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, text)
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
