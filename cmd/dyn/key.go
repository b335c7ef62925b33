package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/cmd/dyn/internal/keyring"
	"github.com/agentinfer/dyn/turn"
)

func keyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Make, list and remove API keys; each is a tenant with its own limits",
		Long: "Makes, lists and removes API keys. Without keys the daemon serves clients on this\n" +
			"machine only; with keys it serves whoever sends one, from anywhere that it listens.\n" +
			"A key is a tenant: with limits, cached prefixes and ledger rows of its own. dyn\n" +
			"claude and dyn codex have a key of the daemon's, or send what DYN_API_KEY holds.",
		Example: examples("dyn key add alice", "prints the secret, once", "dyn key ls", "who has a key, and what is used of it",
			"dyn key rm alice", "it counts no longer"),
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(keyAddCmd(a), keyListCmd(a), keyRemoveCmd(a))
	return cmd
}

// keyDoc is `dyn key add --json` and `dyn key rm --json`.
type keyDoc struct {
	V      int    `json:"v"`
	State  string `json:"state"` // "added" or "removed"
	Name   string `json:"name"`
	Secret string `json:"secret,omitempty"` // of an added one; shown this once
	Daemon string `json:"daemon"`           // "told", "not_running", or why it could not be told
}

func keyAddCmd(a *app) *cobra.Command {
	var k turn.Key
	var tokens string
	cmd := &cobra.Command{
		Use:   "add <name> [flags]",
		Short: "Make a key and print its secret, once",
		Long: "Makes a key and prints its secret, which is shown this once and kept nowhere. A\n" +
			"running daemon takes it at once. Limits are none unless they are set.",
		Example: examples("dyn key add alice", "without limits", "dyn key add ci --rpm 60 --tpm 500k --concurrent 4 --max-priority 0", "with limits",
			"dyn key add bob --json=secret", "for scripts"),
		Args: oneName("key add", "dyn key add alice"),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&k.Requests, "rpm", 0, "requests per minute")
	flags.StringVar(&tokens, "tpm", "", "tokens per minute, prompt and answer: a `size` such as 500k")
	flags.IntVar(&k.Concurrent, "concurrent", 0, "turns at once")
	flags.IntVar(&k.MaxPriority, "max-priority", 0, "the most that a turn's priority and class may count for together")
	flags.BoolVar(&k.Route, "route", false, "let its turns name a routing strategy and weights of their own")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k.Name, k.Capped = args[0], cmd.Flags().Changed("max-priority")
		if err := limits(&k, tokens); err != nil {
			return err
		}
		f, err := a.folders()
		if err != nil {
			return err
		}
		secret, err := keyring.Ring{Path: f.Keys()}.Add(k)
		switch {
		case errors.Is(err, keyring.ErrExists):
			return fail(failed, "key add", err, "its secret is kept nowhere", "dyn key rm "+k.Name+" && dyn key add "+k.Name)
		case errors.Is(err, keyring.ErrName):
			return fail(usage, "key add", err, "", "dyn key add alice")
		case err != nil:
			return err
		}
		return changed(cmd.Context(), a, f, show, keyDoc{V: 1, State: "added", Name: k.Name, Secret: secret})
	}
	show = asJSON(cmd, keyDoc{})
	return cmd
}

// limits checks the limits of a key.
func limits(k *turn.Key, tokens string) error {
	if k.Requests < 0 || k.Concurrent < 0 {
		return fail(usage, "key add", errors.New("a limit is 0, which is none, or more"), "", "dyn key add "+k.Name+" --rpm 60")
	}
	if tokens == "" {
		return nil
	}
	n, err := config.ParseSize(tokens)
	if err != nil {
		return fail(usage, "key add", fmt.Errorf("--tpm: %w", err), "", "dyn key add "+k.Name+" --tpm 500k")
	}
	k.Tokens = int(n)
	return nil
}

func keyRemoveCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm <name>",
		Short: "Remove a key: it counts no longer, running turns go on",
		Example: examples("dyn key rm alice", "it counts no longer", "dyn key ls", "the names there are",
			"dyn stats --by tenant", "what each has used"),
		Args: oneName("key rm", "dyn key ls"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if f, err := a.folders(); err == nil && len(args) == 0 {
				keys, _ := keyring.Ring{Path: f.Keys()}.Keys()
				for _, k := range keys {
					names = append(names, k.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := a.folders()
		if err != nil {
			return err
		}
		err = keyring.Ring{Path: f.Keys()}.Remove(args[0])
		switch {
		case errors.Is(err, keyring.ErrNone):
			return fail(nothing, "key rm", err, "", "dyn key ls")
		case err != nil:
			return err
		}
		return changed(cmd.Context(), a, f, show, keyDoc{V: 1, State: "removed", Name: args[0]})
	}
	show = asJSON(cmd, keyDoc{})
	return cmd
}

// oneName is the rule of a command that takes one name.
func oneName(op, try string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(usage, op, fmt.Errorf("wants one name, got %d", len(args)), "", try)
		}
		return nil
	}
}

// changed tells a running daemon that the keys are others now, and the user
// what was done. A daemon that could not be told is a partial success: the
// file is as it was asked for.
func changed(ctx context.Context, a *app, f folders.Folders, show *jsonFlag, doc keyDoc) error {
	_, told := control.New(f.Socket()).Raw(ctx, http.MethodPost, "/keys/reload", nil)
	switch {
	case told == nil:
		doc.Daemon = "told"
	case errors.Is(told, control.ErrNone):
		doc.Daemon, told = "not_running", nil
	default:
		doc.Daemon = told.Error()
		told = fail(partly, "key "+doc.State, fmt.Errorf("the running daemon could not be told: %w", told), "it goes on with the keys it had",
			"dyn down && dyn up")
	}
	if show.on() {
		return errors.Join(show.print(a.out, doc), told)
	}
	fmt.Fprintf(a.err, "key %s is %s\n", doc.Name, doc.State)
	if doc.Secret != "" {
		fmt.Fprintln(a.err, "this is its secret, shown this once:")
		fmt.Fprintln(a.out, doc.Secret)
	}
	return told
}

// keyListDoc is `dyn key ls --json`.
type keyListDoc struct {
	V    int      `json:"v"`
	Keys []keyRow `json:"keys"`
}

// keyRow is one key; limits of 0 are none. What is used of it is there while
// a daemon runs.
type keyRow struct {
	Name        string    `json:"name"`
	Requests    int       `json:"requests_per_minute"`
	Tokens      int       `json:"tokens_per_minute"`
	Concurrent  int       `json:"concurrent"`
	MaxPriority *int      `json:"max_priority"` // null is no ceiling
	Route       bool      `json:"route"`        // its turns may set the router for themselves
	Created     time.Time `json:"created"`
	Used        *keyUse   `json:"used"`
}

// keyUse is what came with a key since the daemon's start.
type keyUse struct {
	Turns   int64 `json:"turns"`
	Refused int64 `json:"refused"`
	Tokens  int64 `json:"tokens"`
	Running int   `json:"running"`
}

func keyListCmd(a *app) *cobra.Command {
	var noHeader bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the keys, their limits, and what is used of them",
		Example: examples("dyn key ls", "the keys", "dyn key ls --json", "for scripts",
			"dyn key ls --no-header | cut -f1", "their names"),
	}
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		doc, err := keyList(cmd.Context(), a)
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		return keyTable(doc.Keys, noHeader, time.Now()).narrowed(a.out, 9, 4, 2, 6).print(a.out)
	}
	show = asJSON(cmd, keyListDoc{})
	return cmd
}

// keyList reads the keys, and asks the daemon what is used of them.
func keyList(ctx context.Context, a *app) (keyListDoc, error) {
	doc := keyListDoc{V: 1, Keys: []keyRow{}}
	f, err := a.folders()
	if err != nil {
		return doc, err
	}
	keys, err := keyring.Ring{Path: f.Keys()}.Keys()
	if err != nil {
		return doc, err
	}
	used := map[string]*keyUse{}
	if data, err := control.New(f.Socket()).Raw(ctx, http.MethodGet, "/keys", nil); err == nil {
		used = usedKeys(data)
	}
	for _, k := range keys {
		row := keyRow{
			Name: k.Name, Requests: k.Requests, Tokens: k.Tokens, Concurrent: k.Concurrent, Created: k.Created, Route: k.Route, Used: used[k.Name],
		}
		if k.Capped {
			row.MaxPriority = &k.MaxPriority
		}
		doc.Keys = append(doc.Keys, row)
	}
	return doc, nil
}

// usedKeys reads the daemon's list, an array or an object with one.
func usedKeys(data []byte) map[string]*keyUse {
	type row struct {
		Name string `json:"name"`
		keyUse
	}
	var rows []row
	if json.Unmarshal(data, &rows) != nil {
		return nil
	}
	used := map[string]*keyUse{}
	for _, r := range rows {
		used[r.Name] = &r.keyUse
	}
	return used
}

func keyTable(rows []keyRow, noHeader bool, now time.Time) *table {
	t := &table{right: []int{1, 2, 3, 4, 5, 6, 7, 8}}
	if !noHeader {
		t.head = []string{"NAME", "RPM", "TPM", "CONCURRENT", "MAX PRIORITY", "TURNS", "REFUSED", "TOKENS", "RUNNING", "CREATED"}
	}
	limit := func(n int) string {
		if n == 0 {
			return "–"
		}
		return count(n)
	}
	for _, k := range rows {
		ceiling := "–"
		if k.MaxPriority != nil {
			ceiling = strconv.Itoa(*k.MaxPriority)
		}
		cells := []string{k.Name, limit(k.Requests), limit(k.Tokens), limit(k.Concurrent), ceiling, "–", "–", "–", "–"}
		if u := k.Used; u != nil {
			copy(cells[5:], []string{count(int(u.Turns)), count(int(u.Refused)), count(int(u.Tokens)), strconv.Itoa(u.Running)})
		}
		t.add(append(cells, ago(k.Created, now))...)
	}
	return t
}
