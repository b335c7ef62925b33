package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/parsers/gen"
	"github.com/agentinfer/dyn/turn"
)

// parserEvent is one line of `dyn parsers run --json`.
type parserEvent struct {
	V     int      `json:"v"`
	Event string   `json:"event"` // reasoning, text, call, arguments, call_end
	Text  string   `json:"text"`  // of reasoning, text and arguments
	Call  int      `json:"call"`  // from 0, −1 outside calls
	ID    string   `json:"id"`    // with call
	Name  string   `json:"name"`  // with call
	Flaws []string `json:"flaws"` // with call_end
}

// runParser are the flags of parsers run.
type runParser struct {
	tail, tools string
	cut, pieces bool
	chunk       int
}

func parsersRunCmd(a *app) *cobra.Command {
	var o runParser
	cmd := &cobra.Command{
		Use:   "run <name> [<file>]",
		Short: "Read raw model text and print its events",
		Long: "Reads what a model wrote, from a file or from standard input, and prints what a parser\n" +
			"makes of it: reasoning, text, calls and their arguments. The text is raw: with the\n" +
			"special tokens, without the token that ends the turn. <name> is a parser of dyn parsers\n" +
			"ls, another engine's name of it, or a file NAME.yaml.",
		Example: examples("dyn parsers run hermes answer.txt", "what a model wrote", "dyn parsers run qwen3_coder --tail '<think>' < answer.txt", "the prompt opened reasoning",
			"dyn parsers run ./acme.yaml answer.txt --tools tools.json --json", "with schemas, one event a line"),
		ValidArgsFunction: parserNames(a),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fail(usage, "parsers run", fmt.Errorf("wants a parser and at most one file, got %d words", len(args)), "", "dyn parsers run hermes answer.txt")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.tail, "tail", "", "what the prompt ended with")
	f.StringVar(&o.tools, "tools", "", "file with the tools on offer, as the chat API takes them")
	f.BoolVar(&o.cut, "cut", false, "a token limit ended the text")
	f.IntVar(&o.chunk, "chunk", 0, "hand the text on in pieces of so many bytes; 0 is all at once")
	f.BoolVar(&o.pieces, "pieces", false, "print every event, as they come, not joined")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.chunk < 0 {
			return fail(usage, "parsers run", fmt.Errorf("--chunk %d is no number of bytes", o.chunk), "0 hands the text on at once", "")
		}
		text, err := rawText(cmd.InOrStdin(), args[1:])
		if err != nil {
			return err
		}
		events, err := a.readWith(args[0], text, o)
		if err != nil {
			return err
		}
		if show.on() {
			return printEvents(a.out, show, events)
		}
		return showEvents(a.out, events)
	}
	show = asJSON(cmd, parserEvent{})
	return cmd
}

// rawText reads the one file, or standard input.
func rawText(in io.Reader, files []string) (string, error) {
	const most = 64 << 20
	if len(files) == 1 && files[0] != "-" {
		f, err := os.Open(files[0])
		if err != nil {
			return "", fail(nothing, "parsers run", err, "", "")
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return "", fail(failed, "parsers run", err, "", "")
	}
	if len(data) > most {
		return "", fail(usage, "parsers run", errors.New("the text has more than 64 MiB"), "no model writes that much in a turn", "")
	}
	return string(data), nil
}

// readWith parses a text.
func (a *app) readWith(name, text string, o runParser) ([]turn.Event, error) {
	spec, err := a.specNamed(name)
	if err != nil {
		return nil, err
	}
	opt := parsers.Options{Tail: o.tail}
	if o.tools != "" {
		if opt.Offered, err = offeredIn(o.tools); err != nil {
			return nil, err
		}
	}
	s, err := parsers.Using(spec, opt)
	if err != nil {
		return nil, fail(usage, "parsers run", err, "", "dyn parsers ls")
	}
	var all []turn.Event
	var joined strings.Builder // the text of the last of them
	add := func(events []turn.Event) {
		for _, e := range events {
			if n := len(all); n > 0 && (o.pieces || !joins(&all[n-1], e)) {
				all[n-1].Text = joined.String()
				joined = strings.Builder{}
				all = append(all, e)
			} else if n == 0 {
				all = append(all, e)
			}
			joined.WriteString(e.Text)
		}
	}
	for len(text) > 0 {
		n := len(text)
		if o.chunk > 0 {
			n = min(n, o.chunk)
		}
		add(s.Push(nil, text[:n]))
		text = text[n:]
	}
	if o.cut {
		s.Cut()
	}
	add(s.Close(nil))
	if n := len(all); n > 0 {
		all[n-1].Text = joined.String()
	}
	return all, nil
}

// joins reports whether an event only goes on with the one before.
func joins(last *turn.Event, e turn.Event) bool {
	return last.Kind == e.Kind && last.Call.Index == e.Call.Index &&
		(e.Kind == turn.Reasoning || e.Kind == turn.Says || e.Kind == turn.CallArgs)
}

// specNamed finds a spec by a name, another engine's name, or a file.
func (a *app) specNamed(name string) (*parsers.Spec, error) {
	if strings.HasSuffix(name, ".yaml") {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fail(nothing, "parsers run", err, "", "dyn parsers ls")
		}
		spec, err := parsers.ReadSpec(data)
		if err != nil {
			return nil, fail(usage, "parsers run", fmt.Errorf("%s: %w", name, err), "it wants a spec, as dyn parsers gen writes one", "")
		}
		return spec, nil
	}
	set, err := a.parserSet()
	if err != nil {
		return nil, err
	}
	spec, err := set.Lookup(name, parsers.Tools)
	if err != nil {
		var other error
		if spec, other = set.Lookup(name, parsers.Thinking); other != nil {
			return nil, fail(nothing, "parsers run", fmt.Errorf("no parser %q", name), "", "dyn parsers ls")
		}
	}
	return spec, nil
}

// offeredIn reads the tools of a file: a list as the chat API takes it.
func offeredIn(path string) ([]turn.Tool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fail(nothing, "parsers run", err, "", "")
	}
	tools, err := gen.ReadTools(data)
	if err != nil {
		return nil, fail(usage, "parsers run", fmt.Errorf("read %s: %w", path, err), `it wants a list such as [{"type":"function","function":{"name":"f","parameters":{}}}]`, "")
	}
	return tools, nil
}

// eventOf is an event for scripts.
func eventOf(e turn.Event) parserEvent {
	p := parserEvent{V: 1, Text: e.Text, Call: e.Call.Index, ID: e.Call.ID, Name: e.Call.Name, Flaws: flawWords(e.Call.Flaws)}
	switch e.Kind {
	case turn.Reasoning:
		p.Event, p.Call = "reasoning", -1
	case turn.Says:
		p.Event, p.Call = "text", -1
	case turn.CallStart:
		p.Event = "call"
	case turn.CallArgs:
		p.Event = "arguments"
	case turn.CallEnd:
		p.Event = "call_end"
	}
	return p
}

// flawWords names what was wrong with a call.
func flawWords(f turn.Flaw) []string {
	words := []string{}
	for _, w := range []struct {
		flaw turn.Flaw
		word string
	}{{turn.Repaired, "repaired"}, {turn.Mistyped, "mistyped"}, {turn.Unknown, "unknown_tool"}, {turn.Truncated, "truncated"}} {
		if f&w.flaw != 0 {
			words = append(words, w.word)
		}
	}
	return words
}

// printEvents prints one event a line.
func printEvents(w io.Writer, show *jsonFlag, events []turn.Event) error {
	for _, e := range events {
		if err := show.line(w, eventOf(e)); err != nil {
			return err
		}
	}
	return nil
}

// showEvents prints events for people: what it is, and its text quoted where
// it would break the line.
func showEvents(w io.Writer, events []turn.Event) error {
	for _, e := range events {
		p := eventOf(e)
		line := ""
		switch e.Kind {
		case turn.Reasoning, turn.Says:
			line = fmt.Sprintf("%-10s %q", p.Event, p.Text)
		case turn.CallStart:
			line = fmt.Sprintf("%-10s %d %s  id %s", p.Event, p.Call, p.Name, p.ID)
		case turn.CallArgs:
			line = fmt.Sprintf("%-10s %d %s", p.Event, p.Call, strings.ReplaceAll(p.Text, "\n", " "))
		case turn.CallEnd:
			line = strings.TrimRight(fmt.Sprintf("%-10s %d %s", p.Event, p.Call, strings.Join(p.Flaws, ", ")), " ")
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
