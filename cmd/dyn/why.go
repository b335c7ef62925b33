package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/prompt/diff"
)

// whyDoc is `dyn why --json`.
type whyDoc struct {
	V        int             `json:"v"`
	Turn     whyTurn         `json:"turn"`
	Decision json.RawMessage `json:"decision"` // route.Decision; null when none was made
	Before   *whyTurn        `json:"before"`   // the agent's turn before it
	Break    *diff.Break     `json:"break"`    // null: the prompt goes on from the one before, if it was compared
	Compared bool            `json:"compared"` // false: the one before was not held any more, as after a restart
	AgainMS  float64         `json:"again_ms"` // about what the break cost; -1 unknown
	Try      []string        `json:"try"`
	Breaks   []whyBreak      `json:"breaks"` // of the session, the newest first
}

// whyTurn is a row without what the document has in a form of its own.
type whyTurn struct {
	ledger.Turn
	Decision *struct{} `json:"decision,omitempty"`
	Break    *struct{} `json:"break,omitempty"`
}

// whyBreak is one row of the turns whose prompts broke.
type whyBreak struct {
	Turn  string    `json:"turn"`
	At    time.Time `json:"at"`
	Agent string    `json:"agent"`
	Kind  diff.Kind `json:"kind"`
	Again int       `json:"again_tokens"`
}

// whyBreaks is how many of a session's breaks are told.
const whyBreaks = 5

func whyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why [<turn>|<session>|last]",
		Short: "Explain a turn: where it went, what was cached, where its prompt broke",
		Long: "Explains one turn: what each worker would have cost and which one was chosen, what\n" +
			"was believed to be cached and what the engine said, how long it waited, and where its\n" +
			"prompt parts from the agent's turn before: the message and field that changed, what\n" +
			"that cost, and what to do about it. Of a session it is the last turn. Read from the\n" +
			"ledger, so days later too; the words that changed are shown while the daemon holds\n" +
			"them, or where ledger.prompts is text.",
		Example: examples("dyn why", "the last turn", "dyn why t8f21", "a turn, by the start of its id",
			"dyn why 0b77 --json=break,try", "where a session's last prompt broke"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fail(usage, "why", fmt.Errorf("wants one turn or session, got %d", len(args)), "", "dyn why last")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			names := []string{"last"}
			for _, s := range quickly(a).Sessions {
				names = append(names, s.ID)
			}
			return names[:len(names)*(1-min(len(args), 1))], cobra.ShellCompDirectiveNoFileComp
		},
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		what := "last"
		if len(args) > 0 {
			what = args[0]
		}
		doc, err := readWhy(cmd.Context(), a, what)
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		return printWhy(a, doc, time.Now())
	}
	show = asJSON(cmd, whyDoc{})
	return cmd
}

// readWhy gathers what is known of a turn.
func readWhy(ctx context.Context, a *app, what string) (doc whyDoc, err error) {
	doc = whyDoc{V: 1, AgainMS: -1, Try: []string{}, Breaks: []whyBreak{}}
	r, err := openLedger(a, "why")
	if err != nil {
		return doc, err
	}
	defer r.Close()
	t, err := landed(ctx, a, what == "last", func() (ledger.Turn, error) { return findTurn(ctx, r, what) })
	if err != nil {
		return doc, err
	}
	doc.Turn.Turn = t
	if d := json.RawMessage(t.Decision); json.Valid(d) {
		doc.Decision = d
	}
	if before, ok, err := r.Before(ctx, t); err != nil {
		return doc, err
	} else if ok {
		doc.Before = &whyTurn{Turn: before}
	}
	doc.Compared = t.Break != ledger.Alone
	if doc.Break = readBreak(t.Break); doc.Break != nil {
		if doc.Break.Text == nil {
			doc.Break.Text = heldText(ctx, a, t.ID)
		}
		doc.AgainMS = againMS(t, doc.Break)
		doc.Try = tries(doc.Break, t)
	}
	return doc, doc.readBreaks(ctx, r)
}

// page is a text for a screen of so many columns.
type page struct {
	strings.Builder
	columns int
}

// whyOn is the explanation of an agent's last turn for a screen, as tui.Why wants
// it.
func (a *app) whyOn(ctx context.Context, session, agent string, columns int) (string, error) {
	what := cmp.Or(session, "last")
	if agent != "" {
		turn, err := a.lastOf(ctx, session, agent)
		if err != nil {
			return "", err
		}
		what = cmp.Or(turn, what)
	}
	doc, err := readWhy(ctx, a, what)
	if err != nil {
		return "", err
	}
	out, on := &page{columns: columns}, *a
	on.out = out
	err = printWhy(&on, doc, time.Now())
	return out.String(), err
}

// lastOf is the id of an agent's last turn, among its session's newest; "" is none.
func (a *app) lastOf(ctx context.Context, session, agent string) (string, error) {
	r, err := openLedger(a, "why")
	if err != nil {
		return "", err
	}
	defer r.Close()
	rows, err := r.Turns(ctx, ledger.Query{Session: session, Limit: 100})
	for _, t := range slices.Backward(rows) {
		if t.Agent == agent {
			return t.ID, nil
		}
	}
	return "", err
}

// readBreaks finds the breaks of the turn's session.
func (d *whyDoc) readBreaks(ctx context.Context, r *ledger.Reader) error {
	if d.Turn.Session == "" {
		return nil
	}
	rows, err := r.Broken(ctx, d.Turn.Session, whyBreaks)
	for _, t := range rows {
		if b := readBreak(t.Break); b != nil {
			d.Breaks = append(d.Breaks, whyBreak{t.ID, t.At, t.Agent, b.Kind, b.Again})
		}
	}
	return err
}

// trails is how long the ledger may trail a daemon.
const trails = time.Second

// landed finds a turn, and again until the ledger has its end and, where it is to
// be the newest, no later one is on its way there: a daemon's rows come some
// moments late. A turn that still runs is not waited for longer.
func landed(ctx context.Context, a *app, newest bool, find func() (ledger.Turn, error)) (t ledger.Turn, err error) {
	limit, cancel := context.WithTimeout(ctx, trails)
	defer cancel()
	t, err = find()
	seen := lastSeen(quickly(a))
	if seen.IsZero() {
		return t, err
	}
	control.Wait(limit, 20*time.Millisecond, func() bool {
		end := t.At.Add(time.Duration(t.TotalMS * float64(time.Millisecond)))
		if err == nil && t.Outcome != "" && !(newest && seen.After(end.Add(50*time.Millisecond))) {
			return true
		}
		t, err = find()
		return false
	})
	return t, err
}

// lastSeen is when a daemon last saw a sign of a turn.
func lastSeen(s snapshot.Snapshot) (at time.Time) {
	for _, x := range s.Sessions {
		if x.LastSeen.After(at) {
			at = x.LastSeen
		}
	}
	return at
}

// turnForm is how ids of turns look.
var turnForm = regexp.MustCompile(`^t?[0-9a-f]{3,16}$`)

// findTurn finds the turn that is meant: the last one, one by its id, or a
// session's last.
func findTurn(ctx context.Context, r *ledger.Reader, what string) (t ledger.Turn, err error) {
	ok := false
	if what == "last" {
		t, ok, err = r.Latest(ctx, "")
	} else if turnForm.MatchString(what) {
		t, ok, err = r.Named(ctx, what)
	}
	if err == nil && !ok && what != "last" {
		t, ok, err = r.Latest(ctx, what)
	}
	if err == nil && !ok {
		err = fail(nothing, "why", fmt.Errorf("no turn or session %q is kept", what), "", "dyn stats --turns")
	}
	return t, err
}

// readBreak reads a row's break; nil where there is none, or it was too long.
func readBreak(row string) *diff.Break {
	var b diff.Break
	if row == "" || json.Unmarshal([]byte(row), &b) != nil || b.Kind == "" {
		return nil
	}
	return &b
}

// heldText asks a running daemon for the text of a turn's break; nil where it
// has none.
func heldText(ctx context.Context, a *app, turn string) *diff.Text {
	c, err := a.control()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	data, err := c.Raw(ctx, http.MethodGet, "/turns/"+url.PathEscape(turn)+"/break", nil)
	var t diff.Text
	if err != nil || json.Unmarshal(data, &t) != nil {
		return nil
	}
	return &t
}

// againMS is about how long the engine took for what it computed again: its
// share of the turn's own time to first token, else of what was predicted.
func againMS(t ledger.Turn, b *diff.Break) float64 {
	if b.Again == 0 {
		return 0
	}
	each, err := perToken(t)
	if err != nil {
		return -1
	}
	return each * float64(b.Again)
}

// errUnknown says that nothing was measured.
var errUnknown = errors.New("unknown")

// perToken is how long a turn's worker took for each token that it computed.
func perToken(t ledger.Turn) (ms float64, err error) {
	computed := t.Prompt - max(t.Cached, 0)
	if t.TTFTMS < 0 || t.TTFTMS <= t.QueueMS || t.Cached < 0 || computed <= 0 || t.Moved > 0 {
		return 0, errUnknown
	}
	return (t.TTFTMS - t.QueueMS) / float64(computed), nil
}
