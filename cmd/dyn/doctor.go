package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/cmd/dyn/internal/keyring"
	"github.com/agentinfer/dyn/cmd/dyn/internal/ports"
	"github.com/agentinfer/dyn/engine/gpu"
	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/engine/secret"
	"github.com/agentinfer/dyn/ledger"
)

// check is one line of the doctor's.
type check struct {
	Name  string `json:"name"`
	State string `json:"state"` // "ok", "warn" or "bad"
	Text  string `json:"text"`
	Try   string `json:"try,omitempty"`
}

// doctorDoc is `dyn doctor --json`.
type doctorDoc struct {
	V        int                     `json:"v"`
	Checks   []check                 `json:"checks"`
	Settings map[string]config.Value `json:"settings"`
	Ignored  []string                `json:"ignored_environment"`
}

func doctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at this machine: GPUs, ports, disk, agents, settings",
		Long: "Looks at what matters for serving, one line each: ✓ good, ! works but look, ✗ will\n" +
			"not work, with what to try. Then the settings that are not the defaults, and where\n" +
			"each came from. Ends with 1 when a line has ✗.",
		Example: examples("dyn doctor", "look at everything", "dyn doctor --json=settings", "which place won for each setting",
			"dyn doctor --json=checks", "for scripts"),
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		doc, err := examine(cmd, a)
		if err != nil {
			return err
		}
		if show.on() {
			err = show.print(a.out, doc)
		} else {
			err = doc.print(a)
		}
		for _, c := range doc.Checks {
			if c.State == "bad" && err == nil {
				err = fail(failed, "doctor", errors.New(c.Name+": "+c.Text), "", c.Try)
			}
		}
		return err
	}
	show = asJSON(cmd, doctorDoc{})
	return cmd
}

// examine makes all checks.
func examine(cmd *cobra.Command, a *app) (doctorDoc, error) {
	f, err := a.folders()
	if err != nil {
		return doctorDoc{}, err
	}
	doc := doctorDoc{V: 1}
	set, err := settings(cmd)
	var bad *config.FileError
	if err != nil && !errors.As(err, &bad) {
		return doc, err
	}
	if set == nil {
		set = &config.Set{Values: map[string]config.Value{}}
	}
	set.Fill("", nil)
	doc.Ignored, doc.Settings = set.Ignored, maps.Clone(set.Values)
	for name, v := range doc.Settings {
		if v.Text = secret.Hide(v.Text); name == "server.api_key" {
			v.Text = secret.Dots
		}
		doc.Settings[name] = v
	}
	doc.Checks = []check{
		{"dyn", "ok", oneLine(version + " " + revision() + " " + runtime.Version()), ""},
		checkConfig(f, set, bad),
		checkKeys(f),
		checkDaemon(cmd.Context(), a, f),
		checkPort(f, set.Text("server.host"), set.Int("server.port")),
		checkGPUs(),
		checkMemory(),
		checkDisk(f),
		checkLedger(f),
		checkEngines(a, set),
		checkProgram("claude", "Claude Code", "npm install -g @anthropic-ai/claude-code"),
		checkProgram("codex", "Codex", "npm install -g @openai/codex"),
		checkIgnored(set.Ignored),
	}
	doc.Checks = append(doc.Checks, checkPrompts(cmd.Context(), a, f)...)
	return doc, nil
}

// lines prints the checks, one line each and what to try.
func (d doctorDoc) lines(a *app) {
	width := 0
	for _, c := range d.Checks {
		width = max(width, len(c.Name))
	}
	for _, c := range d.Checks {
		sign := map[string]string{"ok": "✓", "warn": "!", "bad": "✗"}[c.State]
		fmt.Fprintf(a.out, "%s %-*s  %s\n", sign, width, c.Name, strings.TrimSpace(c.Text))
		if c.Try != "" && c.State != "ok" {
			fmt.Fprintf(a.out, "             try: %s\n", c.Try)
		}
	}
}

func (d doctorDoc) print(a *app) error {
	d.lines(a)
	first := true
	for _, s := range config.Settings {
		v, ok := d.Settings[s.Key]
		if !ok || v.From == "default" {
			continue
		}
		if first {
			fmt.Fprintln(a.out, "\nsettings that are not the defaults:")
			first = false
		}
		fmt.Fprintf(a.out, "  %-30s %s  (%s)\n", s.Key, v.Text, v.From)
	}
	return nil
}

func checkKeys(f folders.Folders) check {
	keys, err := keyring.Ring{Path: f.Keys()}.Keys()
	d, _ := f.Daemon()
	switch {
	case err == nil && len(keys) == 0 && d.Key != "":
		return check{"keys", "ok", "the one that the daemon was started with, clients need it", ""}
	case err != nil:
		return check{"keys", "bad", err.Error(), "rm " + f.Keys() + " && dyn key add <name>"}
	case len(keys) == 0:
		return check{"keys", "ok", "none, so clients on this machine need no key", ""}
	}
	return check{"keys", "ok", plural(len(keys), "key") + ", clients need one", ""}
}

func checkConfig(f folders.Folders, set *config.Set, bad *config.FileError) check {
	switch {
	case bad != nil:
		return check{"config", "bad", bad.Error(), fmt.Sprintf("${EDITOR:-vi} +%d %s", bad.Line, bad.Path)}
	case len(set.Files) == 0:
		return check{"config", "ok", "no file; the user's would be " + f.UserFile(), ""}
	}
	return check{"config", "ok", strings.Join(set.Files, " over "), ""}
}

func checkDaemon(ctx context.Context, a *app, f folders.Folders) check {
	if !f.Alive() {
		return check{"daemon", "ok", "not running", ""}
	}
	c, err := a.control()
	if err != nil {
		return check{"daemon", "bad", err.Error(), "dyn down --now"}
	}
	s, err := c.Now(ctx)
	if err != nil {
		return check{"daemon", "bad", "runs, but does not answer: " + err.Error(), "dyn down --now"}
	}
	text := fmt.Sprintf("%s, pid %d, %s, %s", s.Daemon.State, s.Daemon.PID, s.Daemon.URL, plural(len(s.Workers), "worker"))
	if !s.Ledger.OK {
		return check{"daemon", "warn", text + ", ledger: " + s.Ledger.Why, "dyn logs"}
	}
	return check{"daemon", "ok", text, ""}
}

func checkPort(f folders.Folders, host string, port int) check {
	h, held := ports.Find(port)
	d, _ := f.Daemon()
	at := fmt.Sprintf("%s:%d", host, port)
	switch {
	case port == 0:
		return check{"port", "ok", "a free one", ""}
	case !held:
		return check{"port", "ok", at + " is free", ""}
	case h.PID != 0 && h.PID == d.PID:
		return check{"port", "ok", at + " is the daemon's", ""}
	}
	return check{"port", "warn", at + " is held by " + h.String(), fmt.Sprintf("dyn up --port %d", port+1)}
}

func checkGPUs() check {
	g, err := gpu.Count()
	switch {
	case errors.Is(err, gpu.ErrNoDriver):
		return check{"gpus", "ok", "none: no NVIDIA driver; recipes tiny and sim need none", ""}
	case err != nil:
		return check{"gpus", "warn", fmt.Sprintf("%d, but %v", len(g.Cards), err), "nvidia-smi"}
	case len(g.Cards) == 0:
		return check{"gpus", "ok", "none; recipes tiny and sim need none", ""}
	}
	kinds := map[string]int{}
	for _, c := range g.Cards {
		kind := fmt.Sprintf("%s %d GiB", c.Name, c.Total>>30)
		if c.Shared {
			kind += " shared with the CPU"
		}
		kinds[kind]++
	}
	var text []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		text = append(text, fmt.Sprintf("%d × %s", kinds[kind], kind))
	}
	return check{"gpus", "ok", strings.Join(text, ", ") + ", driver " + g.Driver, ""}
}

func checkMemory() check {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return check{"memory", "warn", err.Error(), ""}
	}
	total := float64(info.Totalram) * float64(info.Unit) / (1 << 30)
	return check{"memory", "ok", fmt.Sprintf("%.1f GiB, %d cores", total, runtime.NumCPU()), ""}
}

// lowDisk is how much room the ledger and the logs should find.
const lowDisk = 2 << 30

func checkDisk(f folders.Folders) check {
	dir := install.Above(f.State)
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return check{"disk", "bad", dir + " cannot be written: " + err.Error(), "ls -ld " + dir}
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return check{"disk", "warn", f.State + ": " + err.Error(), ""}
	}
	free := int64(fs.Bavail) * fs.Bsize
	text := size(free) + " free for " + f.State
	if free < lowDisk {
		return check{"disk", "warn", text, "df -h " + dir}
	}
	return check{"disk", "ok", text, ""}
}

// checkLedger looks at whether what was served can be read.
func checkLedger(f folders.Folders) check {
	r, err := ledger.OpenReader(f.Ledger())
	if errors.Is(err, ledger.ErrNone) {
		return check{"ledger", "ok", "nothing is recorded yet", ""}
	}
	if err != nil {
		told := understand("doctor", unreadable("doctor", f, err))
		return check{"ledger", "warn", told.Err.Error(), told.Try}
	}
	r.Close()
	text := f.Ledger()
	if info, err := os.Stat(f.Ledger()); err == nil {
		text = size(info.Size()) + " in " + text
	}
	return check{"ledger", "ok", text, ""}
}

func checkProgram(name, title, install string) check {
	path, err := exec.LookPath(name)
	if err != nil {
		return check{name, "warn", title + " is not installed", install}
	}
	return check{name, "ok", path, ""}
}

func checkIgnored(names []string) check {
	if len(names) == 0 {
		return check{"environ", "ok", "no unknown DYN_ name is set", ""}
	}
	shown := names[:min(len(names), 5)]
	if slices.Equal(shown, names) {
		return check{"environ", "warn", "ignored: " + strings.Join(names, " "), "dyn help environment"}
	}
	return check{"environ", "warn", fmt.Sprintf("%d ignored: %s …", len(names), strings.Join(shown, " ")), "dyn help environment"}
}
