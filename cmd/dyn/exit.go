package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// code is what a failure means to a script: the exit code of the process.
type code int

// The exit codes; `dyn help exit-codes` prints them.
const (
	done        code = 0   // also "already so"
	failed      code = 1   // everything that is none of the others
	usage       code = 2   // wrong usage
	nothing     code = 3   // nothing running, or no such thing
	wontFit     code = 4   // GPU, memory, port
	unhealthy   code = 5   // worker or engine
	late        code = 6   // timed out waiting
	partly      code = 7   // some workers
	interrupted code = 130 // by a signal
)

// meanings are the lines of the help page.
var meanings = []struct {
	code code
	text string
}{
	{done, `done, also "already so"`},
	{failed, "failed"},
	{usage, "wrong usage"},
	{nothing, "nothing running, or no such thing"},
	{wontFit, "will not fit (GPU, memory, port)"},
	{unhealthy, "worker or engine unhealthy"},
	{late, "timed out waiting"},
	{partly, "partly done (some workers)"},
	{interrupted, "interrupted"},
}

// failure is a fault with its exit code.
type failure struct {
	code code
	turn.Fault
}

// Unwrap returns what the fault wraps.
func (f *failure) Unwrap() error { return f.Err }

// fail makes a failure. why and try may be empty.
func fail(c code, op string, err error, why, try string) error {
	return &failure{c, turn.Fault{Op: op, Err: err, Why: why, Try: try}}
}

// understand finds the code of any error, and the three lines that tell it.
func understand(op string, err error) *failure {
	var f *failure
	var fault *turn.Fault
	var file *config.FileError
	var no *control.Refusal
	out := &failure{code: failed, Fault: turn.Fault{Op: op, Err: err}}
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &file):
		out.code = usage
		if file.Hint != "" {
			out.Why = fmt.Sprintf("did you mean %q?", file.Hint)
		}
		out.Try = fmt.Sprintf("${EDITOR:-vi} +%d %s", file.Line, file.Path)
		return out
	case errors.As(err, &no):
		out.Fault = turn.Fault{Op: no.Op, Err: no, Why: no.Why, Try: no.Try}
	case errors.As(err, &fault):
		out.Fault = *fault
	}
	switch {
	case errors.Is(err, control.ErrSilent):
		out.code, out.Err, out.Try = unhealthy, control.ErrSilent, "dyn down --now"
	case errors.Is(err, context.Canceled):
		out.code, out.Err = interrupted, errors.New("interrupted")
	case errors.Is(err, context.DeadlineExceeded):
		out.code = late
	case errors.Is(err, control.ErrNone):
		left := leftHere()
		out.code, out.Err, out.Why, out.Try = nothing, control.ErrNone, left.says(), left.up()
	case errors.Is(err, folders.ErrNotMade):
		out.code, out.Why, out.Try = failed, "what dyn keeps lies there", "XDG_STATE_HOME=<dir> dyn "+op
	case errors.Is(err, folders.ErrNoHome):
		out.code, out.Try = usage, "HOME=<dir> dyn "+op
	case errors.Is(err, prompt.ErrUnsupported):
		out.code = usage
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		out.place(err)
	case errors.Is(err, fs.ErrNotExist), no != nil && no.Message == engine.ErrNoWorker.Error():
		out.code = nothing
	}
	return out
}

// place says where a file was to be written that could not be.
func (f *failure) place(err error) {
	var at *fs.PathError
	if !errors.As(err, &at) || f.Try != "" || strings.HasPrefix(at.Path, "/dev/") {
		return
	}
	dir := install.Above(filepath.Dir(at.Path))
	f.Try = "ls -ld " + dir
	if errors.Is(err, syscall.ENOSPC) {
		f.code, f.Try = wontFit, "df -h "+dir
	}
}

// lines are the three lines at most that a person reads.
func (f *failure) lines() string {
	var b strings.Builder
	op := f.Op
	if op != "" {
		op += ": "
	}
	fmt.Fprintf(&b, "dyn: %s%s\n", op, oneLine(f.Err.Error()))
	for line := range strings.Lines(f.Why) { // one, or the last ones of a log
		fmt.Fprintf(&b, "  %s\n", strings.TrimRight(line, " \r\n"))
	}
	if f.Try != "" {
		fmt.Fprintf(&b, "  try: %s\n", f.Try)
	}
	return b.String()
}

// errorDoc is an error as JSON, on standard error.
type errorDoc struct {
	V     int    `json:"v"`
	Type  string `json:"type"` // "error"
	Op    string `json:"op"`
	Error string `json:"error"`
	Why   string `json:"why,omitempty"`
	Try   string `json:"try,omitempty"`
	Code  int    `json:"exit_code"`
}

func (f *failure) doc() errorDoc {
	return errorDoc{1, "error", f.Op, f.Err.Error(), f.Why, f.Try, int(f.code)}
}

// failure is the way back: an error that a daemon reported.
func (d errorDoc) failure() *failure {
	return &failure{code(d.Code), turn.Fault{Op: d.Op, Err: errors.New(d.Error), Why: d.Why, Try: d.Try}}
}

// report prints an error and returns the exit code.
func report(w io.Writer, op string, err error, asJSON bool) int {
	if err == nil {
		return int(done)
	}
	f := understand(op, err)
	if asJSON {
		jsonLine(w, f.doc())
	} else {
		io.WriteString(w, f.lines())
	}
	return int(f.code)
}

// oneLine is a text on one line, with nothing in it that a terminal would act on.
func oneLine(s string) string { return signs(strings.Join(strings.Fields(s), " ")) }
