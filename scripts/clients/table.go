package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/internal/fixtures/families"
)

// tabulate writes the document that shows a run's results.
func tabulate(w io.Writer, results io.Reader, command, commit, date string) error {
	var all []report
	in := bufio.NewScanner(results)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r report
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		all = append(all, r)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if len(all) > 0 && !slices.ContainsFunc(all, func(r report) bool { return !r.Family }) {
		return tabulateFamilies(w, all, command, commit, date)
	}
	var agents, sdks []report
	for _, r := range all {
		if slices.ContainsFunc(clients, func(c client) bool { return c.title == r.Subject }) {
			agents = append(agents, r)
		} else {
			sdks = append(sdks, r)
		}
	}
	fmt.Fprintf(w, head, command, date, commit)
	fmt.Fprint(w, "\n## Agents\n\n", aboutAgents)
	matrix(w, agents)
	fmt.Fprint(w, "\n## Official SDKs\n\n", aboutSDKs)
	matrix(w, sdks)
	_, err := fmt.Fprint(w, "\n## Notes\n\n", notes(all))
	return err
}

// tabulateFamilies writes the document of the families.
func tabulateFamilies(w io.Writer, all []report, command, commit, date string) error {
	fmt.Fprintf(w, headFamilies, command, date, commit)
	matrix(w, all)
	fmt.Fprint(w, "\n## What a family is here\n\n| model | parser | tokenizer |\n|---|---|---|\n")
	for _, f := range families.All {
		tokenizer := "its own"
		switch {
		case f.Own && len(f.Special)+len(f.Added) > 0:
			tokenizer += ", of the release before, with the tokens that came since"
		case !f.Own:
			tokenizer = "that of " + f.Tokenizer + ", with its special tokens"
		}
		fmt.Fprintf(w, "| %s | `%s` | %s |\n", f.Models, f.Name, tokenizer)
	}
	seconds := 0.0
	bad := all[:0]
	for _, r := range all {
		if seconds += r.Seconds; r.State != success {
			bad = append(bad, r)
		}
	}
	_, err := fmt.Fprintf(w, "\n## Notes\n\n* All cells together took %.0f s.\n%s", seconds, notes(bad))
	return err
}

// matrix writes a table with a column for each subject and a row for each case.
func matrix(w io.Writer, all []report) {
	var subjects, cases []string
	cells := map[[2]string]string{}
	for _, r := range all {
		subject := strings.TrimSpace(r.Subject + " " + r.Version)
		if !slices.Contains(subjects, subject) {
			subjects = append(subjects, subject)
		}
		if !slices.Contains(cases, r.Case) {
			cases = append(cases, r.Case)
		}
		cells[[2]string{subject, r.Case}] = r.State
	}
	fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(subjects, " | "), strings.Repeat("---|", len(subjects)))
	for _, c := range cases {
		fmt.Fprintf(w, "| %s |", c)
		for _, s := range subjects {
			state := cells[[2]string{s, c}]
			if state == "" || state == none {
				state = "–"
			}
			fmt.Fprintf(w, " %s |", state)
		}
		fmt.Fprintln(w)
	}
}

// notes lists what the cells have to say.
func notes(all []report) string {
	var b strings.Builder
	for _, r := range all {
		if r.Note != "" {
			line, _, _ := strings.Cut(r.Note, "\n")
			fmt.Fprintf(&b, "* %s, %s: %s.\n", r.Subject, r.Case, strings.TrimSuffix(line, "."))
		}
	}
	return b.String()
}

const head = `# What clients do with dyn

Written by ` + "`%s`" + ` on %s at commit %s; not by hand.
`

const headFamilies = `# Real agents on ten families of models

Written by ` + "`%s`" + ` on %s at commit %s; not by hand.

Each cell is a real client, as published, against a daemon of its own whose simulated model writes as one family does: its chat
template, its special tokens, its way to write reasoning and calls (` + "`engine/sim/voice`" + `). The recipe names no parser: the template
tells which one reads the answers. The client has to read a file, edit it and answer; the new text holds quotes, a tab, line feeds and
other families' markers. A cell is ok when the client ended without an error and said the model's last words, the file holds just the
new text, and all is true that [clients.md](clients.md) asks of a cell: no status of 400 or more, each turn in the ledger, and each
turn after the first computed no more than what was new.

`

const aboutAgents = `Each cell is a real client, as published, against a daemon of its own with a simulated model (` + "`dyn up sim`" + `) whose answers are
scripted, where only the loopback interface exists. A cell is ok when

* the client ended by itself without an error and printed what the script lets the model say last;
* no request was answered with a status of 400 or more, but where the case is about that;
* every turn is in the ledger, under one session where the client names its sessions, a subagent under an agent of its own;
* every turn after an agent's first computed no more than what was new, and two blocks (` + "`scripts/reuse`" + `), by the engine's figures;
  only a compaction may begin anew.

*Started by dyn*: ` + "`dyn claude` and `dyn codex`" + `, with settings of the user's own that lead elsewhere. *Compaction* declares a
window of 65,536 tokens to Claude Code, which keeps about 33,000 in reserve, and of 32,768 to the others. *Fault in mid-stream*: the
engine cuts its connection to dyn after 20 tokens, twice; the answer has to go on, and the client must not notice. *Connection cut*: the
client's own connection is cut in mid-stream, once. *Client killed*: while it reads an answer; the engine has to let go of the turn
before its end. A dash: there is no such case, the notes say why.

`

const aboutSDKs = `The vendors' own libraries, against one daemon with a simulated model. Every stream is read by the library's types.

`
