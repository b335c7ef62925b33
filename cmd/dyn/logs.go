package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func logsCmd(a *app) *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "logs [worker]",
		Short: "Print the log of the daemon or of a worker",
		Long: "Prints the end of the daemon's log, or of a worker's. The files stay after their\n" +
			"process has ended, so this works when nothing is running, too. What is or looks\n" +
			"like a key is not printed.",
		Example: examples("dyn logs", "the daemon's last lines", "dyn logs w0 -f", "a worker's, as they come",
			"dyn logs w0 -n 1000", "more of them", "dyn logs w0 -f --json", "for scripts, an object for each part"),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines as they come")
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many `lines` from the end")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fail(usage, "logs", errors.New("wants one worker"), "", "dyn logs "+args[0])
		}
		return nil
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return logNames(a), cobra.ShellCompDirectiveNoFileComp
	}
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name := "daemon"
		if len(args) == 1 {
			name = args[0]
		}
		if lines < 0 {
			return fail(usage, "logs", fmt.Errorf("-n %d is below 0", lines), "", "dyn logs "+name+" -n 100")
		}
		names := logNames(a)
		if !slices.Contains(names, name) {
			why, try := "there is no log yet", "dyn up"
			if len(names) > 0 {
				why, try = "there are: "+strings.Join(names, ", "), "dyn logs "+names[0]
			}
			return fail(nothing, "logs "+name, errors.New("no such log"), why, try)
		}
		f, err := a.folders()
		if err != nil {
			return err
		}
		to := &logWriter{out: a.out, show: show, name: name, path: f.Log(name), run: f.Run()}
		return printLog(cmd.Context(), to, f.Log(name), lines, follow)
	}
	show = asJSON(cmd, logDoc{})
	return cmd
}

// logNames lists what has a log, the daemon first.
func logNames(a *app) []string {
	f, err := a.folders()
	if err != nil {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(f.Logs(), "*.log"))
	var names []string
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".log")
		if name == "daemon" {
			names = slices.Insert(names, 0, name)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// tailBytes is how far back the last lines of a log are looked for.
const tailBytes = 4 << 20

// printLog prints the last lines of a file and follows it when asked. A file
// that was replaced or cut is followed from its new beginning.
func printLog(ctx context.Context, w *logWriter, path string, lines int, follow bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer func() { file.Close() }()
	end, err := lastLines(file, lines)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if _, err := w.Write(end); err != nil {
		return err
	}
	if !follow {
		return w.flush(true)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := io.Copy(w, file); err != nil {
			return err
		}
		if err := w.flush(false); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return w.flush(true)
		case <-tick.C:
		}
		if again := reopened(file, path); again != nil {
			file.Close()
			file = again
		}
	}
}

// lastLines reads the end of a file and leaves its offset at the end.
func lastLines(f *os.File, lines int) ([]byte, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	from := max(0, size-tailBytes)
	data := make([]byte, size-from)
	n, err := f.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	data = data[:n]
	at := len(data)
	for range lines + 1 {
		at = bytes.LastIndexByte(data[:at], '\n')
		if at < 0 {
			return data, nil
		}
	}
	return data[at+1:], nil
}

// reopened returns the file that path names now, when that is another one, or
// the same one if it became shorter; nil when nothing changed.
func reopened(f *os.File, path string) *os.File {
	now, err := os.Stat(path)
	if err != nil {
		return nil
	}
	was, err := f.Stat()
	if err != nil {
		return nil
	}
	at, _ := f.Seek(0, io.SeekCurrent)
	if os.SameFile(was, now) && now.Size() >= at {
		return nil
	}
	again, err := os.Open(path)
	if err != nil {
		return nil
	}
	return again
}
