package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/ledger"
)

// forgetDoc is `dyn forget --json`.
type forgetDoc struct {
	V       int    `json:"v"`
	Session string `json:"session"`
	ledger.Forgotten
}

func forgetCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget <session>",
		Short: "Remove all that is kept of a session",
		Long: "Removes a session whole: the rows of its turns, the model's own raw turns, and\n" +
			"responses that were stored, from the ledger and from a running daemon's memory. The\n" +
			"engines' caches hold it until it is evicted there. A session that goes on is kept\n" +
			"anew, and its next turn is computed in full.",
		Example: examples("dyn forget 77c0aa12", "a session, by the name that dyn stats tells", "dyn stats --no-header | cut -f1 | sort -u", "the names there are",
			"dyn forget 77c0aa12 --json", "what was removed"),
		Args: oneName("forget", "dyn stats"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				for _, s := range quickly(a).Sessions {
					names = append(names, s.ID)
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
		doc := forgetDoc{V: 1, Session: args[0]}
		if doc.Forgotten, err = forget(cmd.Context(), f, args[0]); err != nil {
			return err
		}
		if show.on() {
			return show.print(a.out, doc)
		}
		_, err = fmt.Fprintf(a.out, "%s is forgotten: %s, %s, %s\n", doc.Session, plural(int(doc.Turns), "turn"),
			plural(int(doc.RawTurns), "raw turn"), plural(int(doc.Responses), "stored response"))
		return err
	}
	show = asJSON(cmd, forgetDoc{})
	return cmd
}

// forgetLimit is how long the ledger may take.
const forgetLimit = 10 * time.Second

// forget asks the daemon, or does it itself where none runs.
func forget(ctx context.Context, f folders.Folders, session string) (ledger.Forgotten, error) {
	var done ledger.Forgotten
	ctx, cancel := context.WithTimeout(ctx, forgetLimit)
	defer cancel()
	unknown := fail(nothing, "forget", fmt.Errorf("nothing is kept of session %q", session), "", "dyn stats")
	data, err := control.New(f.Socket()).Raw(ctx, http.MethodDelete, "/sessions/"+url.PathEscape(session), nil)
	var no *control.Refusal
	switch {
	case err == nil:
		return done, json.Unmarshal(data, &done)
	case errors.As(err, &no) && strings.HasPrefix(no.Message, "no such command"):
		return done, fail(failed, "forget", errors.New("the running daemon is of another version and cannot forget"), "", "dyn down && dyn forget "+quote(session))
	case errors.As(err, &no) && no.Status == http.StatusNotFound:
		return done, unknown
	case !errors.Is(err, control.ErrNone):
		return done, err
	}
	r, err := ledger.OpenReader(f.Ledger()) // which begins no file where there is none
	if errors.Is(err, ledger.ErrNone) {
		return done, unknown
	}
	if err := unreadable("forget", f, err); errors.Is(err, ledger.ErrNewer) || errors.Is(err, ledger.ErrForeign) {
		return done, err
	}
	if err == nil {
		r.Close()
	}
	l := ledger.Open(f.Ledger(), ledger.Options{MaxAge: -1, MaxBytes: -1, RawAge: forEver})
	done, err = l.Forget(ctx, session)
	if err = errors.Join(err, l.Close()); err == nil && !done.Any() {
		return done, unknown
	}
	return done, err
}

// forEver is a time that nothing outlives: whoever only removes a session
// leaves the rest as it is.
const forEver = 100 * 365 * 24 * time.Hour
