package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// Feed returns the newest snapshot. It may block until its context ends. It
// is called by one goroutine at a time.
type Feed = func(context.Context) (snapshot.Snapshot, error)

// Options says how the dashboard runs. The zero value draws on the standard
// terminal once a second, without colour.
type Options struct {
	Period time.Duration // between snapshots; default 1 s, 0.5 to 10 s
	Color  Color         // see ColorFor
	ASCII  bool
	Why    Why // behind the key w; nil has none

	Input  io.Reader // nil is standard input
	Output io.Writer // nil is standard output
}

// The periods that + and - choose from.
const (
	slowest       = 10 * time.Second
	fastest       = 500 * time.Millisecond
	defaultPeriod = time.Second
)

// fps is how often a second the terminal is written to when there is something
// new: enough for keys to feel immediate, few enough to cost nothing.
const fps = 20

// Run shows the dashboard until the user quits or ctx ends; neither is an
// error. It takes the whole terminal and gives it back as it was. What the
// feed does never ends it.
func Run(ctx context.Context, feed Feed, o Options) error {
	if o.Period == 0 {
		o.Period = defaultPeriod
	}
	o.Period = min(max(o.Period, fastest), slowest)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithAltScreen(), tea.WithFPS(fps)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	feedCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(feedCtx, feed, o)
	m.view.Width, m.view.Height = size(o.Output)
	_, err := tea.NewProgram(m, options...).Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// size asks the terminal for its size, so that the first frame has it; 80×24
// where there is none to ask.
func size(out io.Writer) (width, height int) {
	f, ok := out.(*os.File)
	if out == nil {
		f, ok = os.Stdout, true
	}
	if ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return 80, 24
}
