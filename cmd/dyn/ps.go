package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/turn"
)

// psDoc is `dyn ps --json`: the part of the picture that says who serves.
type psDoc struct {
	V       int               `json:"v"`
	Daemon  snapshot.Daemon   `json:"daemon"`
	Models  []snapshot.Model  `json:"models"`
	Workers []snapshot.Worker `json:"workers"`
	Ledger  snapshot.Ledger   `json:"ledger"`
}

func psCmd(a *app) *cobra.Command {
	var noHeader bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "Show the daemon, its models and its workers",
		Long: "Shows the daemon, its models and its workers. Ends with 3 when nothing is running,\n" +
			"and with 5 when no worker takes turns.",
		Example: examples("dyn ps", "who serves", "dyn ps --json=workers", "for scripts",
			"dyn ps --no-header | cut -f1", "the workers' names"),
	}
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := a.control()
		if err != nil {
			return err
		}
		s, err := c.Now(cmd.Context())
		if err != nil {
			return err
		}
		if show.on() {
			err = show.print(a.out, psDoc{1, s.Daemon, s.Models, s.Workers, s.Ledger})
		} else {
			err = psTable(s, noHeader).narrowed(a.out, 10, 4, 11, 8, 12, 3).print(a.out)
			a.warn(s.Ledger)
			if why := waits(s); why != "" {
				fmt.Fprintf(a.err, "! %s\n", why)
			}
			a.odd(s)
		}
		if err != nil {
			return err
		}
		return anyReady(s)
	}
	show = asJSON(cmd, psDoc{})
	return cmd
}

// odd tells on standard error what is not as it should be with each worker.
// Of the one that the command ends with that is said there.
func (a *app) odd(s snapshot.Snapshot) {
	unready, _ := unready(s)
	for _, w := range s.Workers {
		if w.Why != "" && w.Name != unready.Name && (w.State == string(turn.Down) || w.State == string(turn.Ready)) {
			text, _, _ := strings.Cut(w.Why, "\n") // its log's words are below
			fmt.Fprintf(a.err, "! %s is %s: %s\n", w.Name, w.State, oneLine(text))
		}
		if w.Ranks > 1 {
			fmt.Fprintf(a.err, "! %s: %d data-parallel ranks behind one address: what they hold is guessed, since the engine chooses among them\n", w.Name, w.Ranks)
		}
		if w.Drift != nil && math.Abs(*w.Drift) > 0.10 {
			fmt.Fprintf(a.err, "! %s: what is believed to be cached there and what its engine finds part by %+.0f points in %d s%s\n", w.Name, *w.Drift*100, w.WindowS, resynced(w, s.At))
		}
		switch w.Path {
		case "chat":
			fmt.Fprintf(a.err, "! %s: turns go to its own chat API: %s\n", w.Name, oneLine(w.PathWhy))
		case "both": // as it should be, but PATH does not tell why
			fmt.Fprintf(a.err, "  %s: path both: %s\n", w.Name, oneLine(w.PathWhy))
		}
	}
}

// resynced says how often that was mended.
func resynced(w snapshot.Worker, now time.Time) string {
	if w.Resyncs == 0 {
		return ""
	}
	return fmt.Sprintf("; learnt anew %s, %s ago", plural(w.Resyncs, "time"), ago(w.ResyncedAt, now))
}

// warn tells on standard error that bookkeeping does not work, or did not.
func (a *app) warn(l snapshot.Ledger) {
	switch {
	case l.Lost+l.LostRaw+l.LostResponses > 0:
		var lost []string
		for _, x := range []struct {
			n    int64
			what string
		}{{l.Lost, "row"}, {l.LostRaw, "raw turn"}, {l.LostResponses, "stored response"}} {
			if x.n > 0 {
				lost = append(lost, plural(int(x.n), x.what))
			}
		}
		fmt.Fprintf(a.err, "! ledger: %s lost: %s\n", strings.Join(lost, ", "), oneLine(l.Why))
	case !l.OK:
		fmt.Fprintf(a.err, "! ledger: not written: %s\n", oneLine(l.Why))
	case l.Why != "":
		fmt.Fprintf(a.err, "! ledger: %s\n", oneLine(l.Why))
	}
}

// waits says what a daemon that is stopping still waits for; "" is that it is
// not stopping.
func waits(s snapshot.Snapshot) string {
	if s.Daemon.State != "stopping" {
		return ""
	}
	n := 0
	for _, w := range s.Workers {
		n += w.InFlight
	}
	return "the daemon is stopping: it waits for " + plural(n, "turn")
}

// unready is the worker that is blamed when none takes turns. Its name is ""
// when there is no worker; the second value is false when some is ready.
func unready(s snapshot.Snapshot) (w snapshot.Worker, none bool) {
	for _, w = range s.Workers {
		if w.State == string(turn.Ready) {
			return snapshot.Worker{}, false
		}
	}
	return w, true
}

// anyReady is nil when some worker takes turns.
func anyReady(s snapshot.Snapshot) error {
	w, none := unready(s)
	switch {
	case !none:
		return nil
	case w.Name == "":
		return fail(unhealthy, "ps", errors.New("no worker is ready"), "no worker was started or attached", "dyn logs")
	}
	log := w.Name
	if w.Attached { // its log is elsewhere
		log = ""
	}
	return fail(unhealthy, "ps", errors.New("no worker is ready"), w.Name+" is "+w.State+": "+w.Why, strings.TrimSpace("dyn logs "+log))
}

func psTable(s snapshot.Snapshot, noHeader bool) *table {
	t := &table{right: []int{5, 6, 7, 8, 12}}
	if !noHeader {
		t.head = []string{"WORKER", "MODEL", "STATE", "ENGINE", "PATH", "RUN", "WAIT", "KV", "PID", "UP", "SINCE", "URL", "DRIFT"}
	}
	for _, w := range s.Workers {
		pid := "–"
		if w.PID > 0 {
			pid = strconv.Itoa(w.PID)
		}
		up := ago(w.Started, s.At)
		if w.Adopted {
			up += ", adopted"
		}
		t.add(w.Name, w.Model, w.State, w.Engine, w.Path, strconv.Itoa(w.Running), strconv.Itoa(w.Waiting),
			strconv.Itoa(int(w.KVUsed*100+0.5))+"%", pid, up, ago(w.Since, s.At), w.URL, points(w.Drift))
	}
	return t
}

// points writes a difference of two shares, in hundredths; – where it is unknown.
func points(x *float64) string {
	if x == nil {
		return "–"
	}
	if text := fmt.Sprintf("%+.0f", *x*100); text != "-0" && text != "+0" {
		return text
	}
	return "0"
}

// ago writes how long ago something was, in one unit: 3s, 12m, 5h, 2d.
func ago(then, now time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return "–"
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// workersNamed completes the names of workers; it answers at once or not at
// all.
func workersNamed(a *app) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if len(args) == 0 {
			for _, w := range quickly(a).Workers {
				if strings.HasPrefix(w.Name, prefix) {
					names = append(names, w.Name+"\t"+w.Model+" "+w.State)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
