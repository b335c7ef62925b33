package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/tui"
)

func topCmd(a *app) *cobra.Command {
	var once, ascii bool
	var period time.Duration
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch workers, queue, leases, cache and sessions",
		Long: "Draws the daemon's picture of itself once a second. It stays when the daemon goes,\n" +
			"and goes on when it comes back. --once prints one frame, --once --json the very\n" +
			"numbers a frame is drawn from.",
		Example: examples("dyn top", "watch", "dyn top --once", "one frame", "dyn top --once --json=workers", "for scripts"),
	}
	cmd.Flags().BoolVar(&once, "once", false, "print one frame and stop")
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw with ASCII signs only")
	cmd.Flags().DurationVar(&period, "every", time.Second, "`time` between two pictures, 500ms to 10s")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := a.control()
		if err != nil {
			return err
		}
		_, tty := terminal(a.out)
		if once || show.on() || !tty || os.Getenv("TERM") == "dumb" {
			return frame(cmd.Context(), a, c.Now, ascii, show)
		}
		return tui.Run(cmd.Context(), c.Snapshot, tui.Options{
			Period: period, ASCII: ascii, Color: colorFor(a.out), Input: os.Stdin, Output: a.out,
			Why: a.whyOn,
		})
	}
	show = asJSON(cmd, snapshot.Snapshot{})
	return cmd
}

// frame prints one picture: drawn, or its numbers.
func frame(ctx context.Context, a *app, feed tui.Feed, ascii bool, show *jsonFlag) error {
	s, err := feed(ctx)
	if err != nil {
		return err
	}
	if show.on() {
		return show.print(a.out, s)
	}
	columns, _ := terminal(a.out)
	text := tui.Frame(s, tui.View{Width: columns, Color: colorFor(a.out), ASCII: ascii})
	_, err = io.WriteString(a.out, text+"\n")
	return err
}

// colorFor says which colours may be used on w.
func colorFor(w io.Writer) tui.Color {
	_, tty := terminal(w)
	return tui.ColorFor(os.Getenv, tty)
}
