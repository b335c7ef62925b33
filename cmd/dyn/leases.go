package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// leasesDoc is `dyn leases --json`.
type leasesDoc struct {
	V       int                    `json:"v"`
	Leases  []snapshot.Lease       `json:"leases"`
	Budgets []snapshot.LeaseBudget `json:"budgets"`
}

func leasesCmd(a *app) *cobra.Command {
	var session string
	var noHeader bool
	cmd := &cobra.Command{
		Use:   "leases [flags]",
		Short: "Show what is asked to be kept, and what became of it",
		Long: "Shows the leases: prefixes that a client's cache_control or dyn pin asks to be kept.\n" +
			"A lease is asked until its worker was seen to have it when it was next used: then it\n" +
			"is kept, or lost. What is over the budget of its worker is cut, or gave way to leases\n" +
			"of more worth. HELD is what is within the budget, FOUND what was there at the last use.",
		Example: examples("dyn leases", "all of them", "dyn leases --session 77c0aa12", "of one session",
			"dyn leases --json=leases", "for scripts"),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&session, "session", "", "`name` of the session whose leases are shown")
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := a.control()
		if err != nil {
			return err
		}
		path := "/leases"
		if session != "" {
			path += "?session=" + url.QueryEscape(session)
		}
		data, err := c.Raw(cmd.Context(), http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		doc := leasesDoc{V: 1, Budgets: []snapshot.LeaseBudget{}}
		if err := json.Unmarshal(data, &doc); err != nil {
			return err
		}
		if show.on() {
			return show.print(a.out, doc)
		}
		if err := leaseTable(doc.Leases, noHeader, time.Now()).print(a.out); err != nil {
			return err
		}
		for _, b := range doc.Budgets {
			if b.Budget >= 0 {
				fmt.Fprintf(a.err, "%s: %s of %s tokens are leased\n", b.Worker, count(b.Tokens), count(b.Budget))
			}
		}
		return nil
	}
	show = asJSON(cmd, leasesDoc{})
	return cmd
}

// leaseTable is one row for each lease.
func leaseTable(rows []snapshot.Lease, noHeader bool, now time.Time) *table {
	t := &table{right: []int{4, 5, 6, 7}}
	if !noHeader {
		t.head = []string{"LEASE", "SESSION", "AGENT", "WORKER", "TOKENS", "HELD", "FOUND", "LEFT", "BY", "STATE", "WHY"}
	}
	for _, l := range rows {
		t.add(l.ID, l.Session, l.Agent, dash(l.Worker), count(l.Tokens), count(l.Held), count(l.Found), ago(now, l.Ends), l.Source, l.State, dash(l.Why))
	}
	return t
}
