package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/server/dialect"
)

// pinDoc is `dyn pin --json`.
type pinDoc struct {
	V     int            `json:"v"`
	Lease snapshot.Lease `json:"lease"`
}

// unpinDoc is `dyn unpin --json`.
type unpinDoc struct {
	V      int              `json:"v"`
	Leases []snapshot.Lease `json:"leases"`
}

// pinAsk is what the daemon is asked.
type pinAsk struct {
	Session string `json:"session"`
	Agent   string `json:"agent,omitempty"`
	TTL     string `json:"ttl,omitempty"`
}

func pinCmd(a *app) *cobra.Command {
	ask := pinAsk{}
	var model string
	cmd := &cobra.Command{
		Use:   "pin <session|file> [flags]",
		Short: "Ask for a session's prefix, or that of a file, to be kept",
		Long: "Asks for all that a session has in the cache to be kept for a time after its last turn,\n" +
			"whatever its client asks. Of a file the text is a system prompt, or, where it is JSON,\n" +
			"the body of a request in the chat or messages dialect: its prompt is computed once.\n" +
			"A pin is a lease: it is tried, it answers (dyn leases), and it has a budget.",
		Example: examples("dyn pin 77c0aa12", "a session, for an hour", "dyn pin 77c0aa12 --ttl 8h --agent explore-1", "one of its subagents",
			"dyn pin ./system.txt --ttl 4h", "a prefix that sessions share"),
		Args: oneName("pin", "dyn pin 77c0aa12"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, s := range quickly(a).Sessions {
				names = append(names, s.ID)
			}
			return names, cobra.ShellCompDirectiveDefault
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&ask.TTL, "ttl", "1h", "how long after the last turn: a `time` such as 90s, 5m or 8h, up to 24h")
	flags.StringVar(&ask.Agent, "agent", "", "`name` of the session's agent (default its lead)")
	flags.StringVar(&model, "model", "", "`name` of the model that a file is for (default the first that is served)")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ask.Session = args[0]
		if _, ok := dialect.Time(ask.TTL); !ok {
			return fail(usage, "pin", fmt.Errorf("--ttl: %q is no time such as 90s, 5m or 8h", ask.TTL), "", "dyn pin "+quote(args[0])+" --ttl 1h")
		}
		if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
			if ask.Session, err = prime(cmd.Context(), a, args[0], model, ask.TTL); err != nil {
				return err
			}
		}
		doc := pinDoc{V: 1}
		if err := leaseAsk(cmd.Context(), a, "pin", http.MethodPost, "/leases", ask, &doc.Lease); err != nil {
			return err
		}
		if show.on() {
			return show.print(a.out, doc)
		}
		l := doc.Lease
		_, err := fmt.Fprintf(a.out, "%s: %s, %s of %s tokens at %s, for %s after its last turn%s\n", l.Session, l.State, count(l.Held), count(l.Tokens),
			cmp.Or(l.Worker, "no worker yet"), ask.TTL, because(l.Why))
		return err
	}
	show = asJSON(cmd, pinDoc{})
	return cmd
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return "; " + why
}

func unpinCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unpin <session|lease>",
		Short: "End a lease, or all leases of a session",
		Long: "Ends a lease by its name, or all of a session, whoever asked for them. A client that\n" +
			"asks with each turn has new ones with its next.",
		Example: examples("dyn unpin 77c0aa12", "all of a session", "dyn unpin l0123456789abcdef", "one lease",
			"dyn leases", "the names there are"),
		Args: oneName("unpin", "dyn leases"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, l := range quickly(a).Leases.Live {
				names = append(names, l.ID)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		doc := unpinDoc{V: 1}
		if err := leaseAsk(cmd.Context(), a, "unpin", http.MethodDelete, "/leases/"+url.PathEscape(args[0]), nil, &doc); err != nil {
			return err
		}
		if show.on() {
			return show.print(a.out, doc)
		}
		_, err := fmt.Fprintf(a.out, "%s: %s ended\n", args[0], plural(len(doc.Leases), "lease"))
		return err
	}
	show = asJSON(cmd, unpinDoc{})
	return cmd
}

// leaseAsk asks the daemon about leases.
func leaseAsk(ctx context.Context, a *app, op, method, path string, body, to any) error {
	c, err := a.control()
	if err != nil {
		return err
	}
	data, err := c.Raw(ctx, method, path, body)
	var no *control.Refusal
	if errors.As(err, &no) && no.Status == http.StatusNotFound {
		return fail(nothing, op, errors.New(no.Message), "", "dyn stats --no-header | cut -f1 | sort -u")
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// primeMost bounds what is read of a prefix file.
const primeMost = 16 << 20

// prime has the prompt of a file computed once, with a lease, and returns the
// session that it was computed for.
func prime(ctx context.Context, a *app, file, model, ttl string) (session string, err error) {
	bad := func(err error) error {
		return fail(usage, "pin", fmt.Errorf("%s: %w", file, err), "a file is a text, or the JSON body of a request", "dyn pin --help")
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, primeMost+1))
	if err != nil {
		return "", err
	}
	if len(text) == 0 || len(text) > primeMost {
		return "", bad(fmt.Errorf("is empty, or larger than %d MiB", primeMost>>20))
	}
	at, err := serving(ctx, a, "pin", model)
	if err != nil {
		return "", err
	}
	path, body, err := primeBody(text, at.Model, ttl)
	if err != nil {
		return "", bad(err)
	}
	session = "pin-" + strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL+path, strings.NewReader(string(body)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-dyn-session-id", session)
	if at.Key != "" {
		req.Header.Set("Authorization", "Bearer "+at.Key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusOK {
		return "", fail(failed, "pin", fmt.Errorf("the daemon did not take it: %d %.300s", resp.StatusCode, said), "", "dyn ps")
	}
	return session, nil
}

// primeBody is the request that computes a prefix: one token is made of it.
func primeBody(text []byte, model, ttl string) (path string, body []byte, err error) {
	control := map[string]any{"cache_control": map[string]string{"type": "ephemeral", "ttl": ttl}}
	if trimmed := strings.TrimSpace(string(text)); !strings.HasPrefix(trimmed, "{") {
		body, err = json.Marshal(map[string]any{
			"model": model, "max_tokens": 1, "nvext": control,
			"messages": []any{map[string]string{"role": "system", "content": string(text)}, map[string]string{"role": "user", "content": "."}},
		})
		return "/v1/chat/completions", body, err
	}
	var ask map[string]json.RawMessage
	if err := json.Unmarshal(text, &ask); err != nil {
		return "", nil, err
	}
	if ask["messages"] == nil {
		return "", nil, errors.New("has no messages")
	}
	path = "/v1/chat/completions"
	if ask["system"] != nil {
		path = "/v1/messages"
	}
	delete(ask, "max_completion_tokens")
	for name, value := range map[string]any{"model": model, "max_tokens": 1, "stream": false, "nvext": control} {
		if ask[name], err = json.Marshal(value); err != nil {
			return "", nil, err
		}
	}
	body, err = json.Marshal(ask)
	return path, body, err
}
