package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// quickly returns the picture if it can be had in the time that a person's
// tab key allows, and an empty one otherwise.
func quickly(a *app) snapshot.Snapshot {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	c, err := a.control()
	if err != nil {
		return snapshot.Snapshot{}
	}
	s, _ := c.Snapshot(ctx)
	return s
}

// modelsNamed completes the names of models that are served.
func modelsNamed(a *app) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		for _, m := range quickly(a).Models {
			ids = append(ids, m.ID)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// served is what an agent's launcher needs to know of the daemon.
type served struct {
	URL     string // without /v1
	Key     string // "" when the daemon asks for none
	Model   string
	Context int    // tokens; 0 unknown
	Run     string // folder of files that live as long as a session or a daemon
	Hooks   string // socket that hooks tell; "" for none

	client *http.Client // that asks it; nil is one for each request
	header http.Header  // that requests have beside what they need
}

// serving asks the daemon where it listens and which model an agent shall
// use: the named one, or the first.
func serving(ctx context.Context, a *app, op, model string) (served, error) {
	f, err := a.folders()
	if err != nil {
		return served{}, err
	}
	c, err := a.control()
	if err != nil {
		return served{}, err
	}
	s, err := c.Now(ctx)
	if err != nil {
		return served{}, err
	}
	d, _ := f.Daemon()
	var known []string
	for _, m := range s.Models {
		if model == "" || m.ID == model {
			return served{URL: s.Daemon.URL, Key: launchKey(d, os.Getenv), Model: m.ID, Context: m.Context, Run: f.Run(), Hooks: f.HookSocket()}, nil
		}
		known = append(known, m.ID)
	}
	try := "dyn ps"
	if len(known) > 0 {
		try = "dyn " + op + " --model " + cmp.Or(config.Nearest(model, known), known[0])
	}
	return served{}, fail(nothing, op, fmt.Errorf("no model %q is served", model), "served: "+strings.Join(known, " "), try)
}
