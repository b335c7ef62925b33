package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/engine/secret"
)

func configCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "List settings, and change them, the router's while it works",
		Example: examples("dyn config ls", "every setting, and where it came from", "dyn config set router.mode round-robin", "from now on",
			"dyn config set router.queue_threshold off --live", "until the daemon ends"),
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configListCmd(a), configSetCmd(a))
	return cmd
}

// configSetDoc is `dyn config set --json`.
type configSetDoc struct {
	V     int    `json:"v"`
	Key   string `json:"key"`
	Value string `json:"value"`
	Was   string `json:"was"`   // in the running daemon, else by the files
	Live  string `json:"live"`  // "told", "not_running", or "next_start": a daemon takes it when it starts
	File  string `json:"file"`  // that it was written to; "" is none
	Above string `json:"above"` // what stands above any file at the next start
	unset bool   // the value is what holds without one
	live  bool   // no file was to be changed
}

func configSetCmd(a *app) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "set <key> <value>",
		Short: "Change a setting: in the running daemon where that can be, and in the file where it lies",
		Long: "Changes a setting. The router's are changed in the running daemon at once, others hold\n" +
			"from the next dyn up on. It is written to the file that has the setting, else to the\n" +
			"user's; what the environment sets is changed in the running daemon only. The value ''\n" +
			"unsets it: the file loses it, and what a file below or the default says holds.",
		Example: examples("dyn config set router.mode round-robin", "another strategy, from now on", "dyn config set router.queue_threshold off --live", "until the daemon ends",
			"dyn config set server.port 9000", "from the next dyn up on"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fail(usage, "config set", fmt.Errorf("wants a key and a value, got %d", len(args)), "", "dyn config ls")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var words []string
			if s, ok := config.Find(strings.Join(args, "")); ok {
				words = s.Among
			} else if len(args) == 0 {
				words = config.Keys()
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "change the running daemon only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		doc, err := configSet(cmd, a, args[0], args[1], live)
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		_, err = fmt.Fprintln(a.out, doc.says())
		return err
	}
	show = asJSON(cmd, configSetDoc{})
	return cmd
}

// configSet changes a setting.
func configSet(cmd *cobra.Command, a *app, key, value string, live bool) (configSetDoc, error) {
	s, ok := config.Find(key)
	if !ok {
		try := "dyn config ls"
		if near := config.Nearest(key, config.Keys()); near != "" {
			try = "dyn config set " + near + " " + quote(value)
		}
		return configSetDoc{}, fail(usage, "config set", fmt.Errorf("unknown key %q", key), "", try)
	}
	doc := configSetDoc{V: 1, Key: s.Key, live: live}
	var err error
	if doc.Value, err = checked(s, value); err != nil {
		return doc, err
	}
	set, err := settings(cmd)
	if err != nil {
		return doc, err
	}
	set.Fill("", nil)
	from := set.Values[s.Key]
	doc.Was = from.Text
	if strings.HasPrefix(from.From, "env ") {
		doc.Above = from.From
	}
	if doc.unset = value == ""; doc.unset && !live && doc.Above == "" {
		return doc, doc.clear(cmd, a, s, from.From, set.Files)
	}
	if err := doc.tell(cmd.Context(), a, s); err != nil {
		return doc, err
	}
	switch {
	case live && doc.Live != "told":
		return doc, doc.notLive()
	case doc.Above != "" && doc.Live != "told":
		return doc, fail(failed, "config set", errors.New(doc.Above+" stands above any file"), "", "unset "+s.Env())
	case live || doc.Above != "":
		return doc, nil
	}
	if s.Kind == config.Path || s.Kind == config.Rule { // where it is relative to is not where the file lies
		value = doc.Value
	}
	err = doc.write(a, from.From, value, set.Files)
	if s.Key == "server.api_key" {
		doc.Value, doc.Was = secret.Dots, ""
	}
	return doc, err
}

// checked brings a value to the form that programs read; "" unsets any setting.
func checked(s config.Setting, value string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working folder: %w", err)
	}
	if value == "" {
		return "", nil
	}
	if value, err = s.Check(value, dir); err == nil {
		return value, nil
	}
	try := "dyn help environment"
	if bad := new(config.ValueError); errors.As(err, &bad) && bad.Good() != "" {
		try = "dyn config set " + s.Key + " " + quote(bad.Good())
	}
	return "", fail(usage, "config set", fmt.Errorf("%s: %w", s.Key, err), "", try)
}

// clear takes a setting out of the file that has it, and tells the running daemon
// what holds then: a file below may have it too, or it has a default.
func (d *configSetDoc) clear(cmd *cobra.Command, a *app, s config.Setting, from string, files []string) error {
	if slices.Contains(files, from) {
		switch err := config.Unset(from, s.Key); {
		case errors.Is(err, config.ErrByHand):
			return fail(failed, "config set", err, "", "${EDITOR:-vi} "+from)
		case err != nil:
			return fail(failed, "config set", err, "", "")
		}
		d.File = from
	}
	set, err := settings(cmd)
	if err != nil {
		return err
	}
	set.Fill("", nil)
	d.Value = set.Text(s.Key)
	if err := d.tell(cmd.Context(), a, s); err != nil {
		return err
	}
	if s.Key == "server.api_key" {
		d.Value, d.Was = "", ""
	}
	return nil
}

// tell has the running daemon take the value, where it can.
func (d *configSetDoc) tell(ctx context.Context, a *app, s config.Setting) error {
	c, err := a.control()
	if err != nil {
		return err
	}
	if !s.Live {
		d.Live = "next_start"
		return nil
	}
	return d.tellAt(ctx, c)
}

// tellAt is tell for a setting that may be changed while a daemon runs.
func (d *configSetDoc) tellAt(ctx context.Context, c *control.Client) error {
	data, err := c.Raw(ctx, http.MethodPost, "/settings", map[string]string{"key": d.Key, "value": d.Value})
	switch {
	case errors.Is(err, control.ErrNone):
		d.Live = "not_running"
		return nil
	case err != nil:
		return err
	}
	var told struct{ Was, Value string }
	d.Live = "told"
	if err := json.Unmarshal(data, &told); err != nil {
		return err
	}
	if d.Was = told.Was; d.unset {
		d.Value = told.Value
	}
	return nil
}

// notLive says why a change of the running daemon alone is none.
func (d *configSetDoc) notLive() error {
	if d.Live == "not_running" {
		return fail(nothing, "config set", control.ErrNone, "", "dyn config set "+d.Key+" "+quote(d.Value))
	}
	return fail(usage, "config set", errors.New(d.Key+" cannot be changed while the daemon runs"), "", "dyn config set "+d.Key+" "+quote(d.Value))
}

// write puts the value where the setting lies, or into the user's file.
func (d *configSetDoc) write(a *app, from, value string, files []string) error {
	f, err := a.folders()
	if err != nil {
		return err
	}
	path := f.UserFile()
	if slices.Contains(files, from) {
		path = from
	}
	err = config.Write(path, d.Key, value)
	switch {
	case errors.Is(err, config.ErrByHand):
		return fail(d.partly(), "config set", err, d.changed(), "${EDITOR:-vi} "+path)
	case err != nil:
		return fail(d.partly(), "config set", err, d.changed(), "")
	}
	d.File = path
	return nil
}

// partly is the exit code of a change that could not be written.
func (d *configSetDoc) partly() code {
	if d.Live == "told" {
		return partly
	}
	return failed
}

// changed says what holds although nothing was written.
func (d *configSetDoc) changed() string {
	if d.Live == "told" {
		return "the running daemon has it, until it ends"
	}
	return ""
}

// says is what was done, for people.
func (d *configSetDoc) says() string {
	value := d.Value
	if value == "" || d.unset {
		value = "unset"
	}
	line := fmt.Sprintf("%s is %s", d.Key, value)
	switch d.Live {
	case "told":
		line += " now"
	case "next_start":
		line += " from the next dyn up on"
	default:
		line += " from dyn up on"
	}
	if d.Was != d.Value && d.Was != "" {
		line += ", it was " + d.Was
	}
	if d.unset && d.Value != "" {
		line += ", so it is " + d.Value
	}
	switch {
	case d.File != "":
		return line + "; written to " + d.File
	case d.Above != "":
		return line + "; until the daemon ends: " + d.Above + " stands above any file"
	case d.unset && !d.live:
		return line + "; no file had it"
	}
	return line + "; until the daemon ends"
}

// configListDoc is `dyn config ls --json`.
type configListDoc struct {
	V        int         `json:"v"`
	Settings []configRow `json:"settings"`
}

// configRow is one setting.
type configRow struct {
	Key   string `json:"key"`
	Value string `json:"value"` // by flags, environment and files; a key is hidden
	From  string `json:"from"`  // "" where nothing sets it
	Live  bool   `json:"live"`  // may be changed while the daemon runs
	Now   string `json:"now"`   // in the running daemon, where it may
}

func configListCmd(a *app) *cobra.Command {
	var noHeader bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List every setting, what it is and where that came from",
		Example: examples("dyn config ls", "every setting", "dyn config ls --json", "for scripts",
			"dyn config ls --no-header | cut -f1", "their keys"),
	}
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		doc, err := configList(cmd, a)
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		t := &table{}
		if !noHeader {
			t.head = []string{"KEY", "VALUE", "NOW", "FROM"}
		}
		for _, r := range doc.Settings {
			t.add(r.Key, dash(r.Value), dash(r.Now), dash(r.From))
		}
		return t.print(a.out)
	}
	show = asJSON(cmd, configListDoc{})
	return cmd
}

// configList is every setting.
func configList(cmd *cobra.Command, a *app) (configListDoc, error) {
	doc := configListDoc{V: 1}
	set, err := settings(cmd)
	if err != nil {
		return doc, err
	}
	set.Fill("", nil)
	c, err := a.control()
	if err != nil {
		return doc, err
	}
	now := map[string]string{}
	data, err := c.Raw(cmd.Context(), http.MethodGet, "/settings", nil)
	if err == nil {
		err = json.Unmarshal(data, &now)
	}
	if err != nil && !errors.Is(err, control.ErrNone) {
		return doc, err
	}
	for _, s := range config.Settings {
		v := set.Values[s.Key]
		if v.Text = secret.Hide(v.Text); s.Key == "server.api_key" && v.Text != "" {
			v.Text = secret.Dots
		}
		doc.Settings = append(doc.Settings, configRow{s.Key, v.Text, v.From, s.Live, now[s.Key]})
	}
	return doc, nil
}
