package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// runner carries out steps for one environment.
type runner struct {
	dir  string // {env}
	op   string // for errors
	try  string // the command that is tried again when files were copied
	copy string // what to copy where, when there is no network
	from string // the only folder that packages are taken from; "" is an index
	show func(Progress)

	packages int   // that will be put there; 0 is not known
	bytes    int64 // that they have, about
	meter    meter
}

// keep is how many of a command's last lines are kept for an error.
const keep = 40

// run carries out the steps in their order. The error is a *turn.Fault; when
// ctx ends it is ctx's cause.
func (r *runner) run(ctx context.Context, steps []Step) error {
	stage := ""
	for _, s := range steps {
		if s.Stage != stage {
			stage = s.Stage
			r.meter = meter{now: Progress{Stage: stage}, all: r.packages, about: r.bytes}
			r.show(r.meter.now)
		}
		var err error
		if s.Path != "" {
			err = r.write(s)
		} else {
			err = r.command(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) write(s Step) error {
	path, err := r.fill(s.Path)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(s.text), 0o644)
	}
	if err != nil {
		return &turn.Fault{Op: r.op, Err: err}
	}
	return nil
}

// command runs one command in a process group of its own, so that all of it
// ends with ctx.
func (r *runner) command(ctx context.Context, s Step) error {
	words := make([]string, len(s.Command))
	for i, w := range s.Command {
		var err error
		if words[i], err = r.fill(w); err != nil {
			return &turn.Fault{Op: r.op, Err: err}
		}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), r.env()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	lines := make(chan []string, 1)
	go func() { lines <- r.read(read) }()
	err := cmd.Run()
	write.Close()
	last := <-lines
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return r.fault(s.Stage, err, last)
	}
	return nil
}

// env is what a command gets beside the user's own environment. What it puts
// down for a while lies in the new folder and goes with it. uv does not read
// pip's variables.
func (r *runner) env() []string {
	tmp := filepath.Join(r.dir, "tmp")
	env := []string{"TMPDIR=" + tmp, "PYTHONUNBUFFERED=1", "NO_COLOR=1"}
	for _, v := range []struct{ pip, uv string }{{"PIP_INDEX_URL", "UV_DEFAULT_INDEX"}, {"PIP_EXTRA_INDEX_URL", "UV_INDEX"}, {"PIP_CERT", "SSL_CERT_FILE"}} {
		if os.Getenv(v.pip) != "" && os.Getenv(v.uv) == "" {
			env = append(env, v.uv+"="+os.Getenv(v.pip))
		}
	}
	return env
}

// read shows the progress that a command's lines tell, and returns the last of
// them.
func (r *runner) read(from io.Reader) []string {
	var last []string
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			if last = append(last, line); len(last) > keep {
				last = last[1:]
			}
			if r.meter.line(line) {
				r.show(r.meter.now)
			}
		}
		if err != nil {
			return last
		}
	}
}

// fault says why a command failed, with its last words, or what to do where
// there is no network.
func (r *runner) fault(stage string, err error, lines []string) error {
	if offline(lines) {
		return &turn.Fault{Op: r.op, Err: ErrNoNetwork, Why: r.copy, Try: r.try}
	}
	if what := lacks(lines); what != "" && r.from != "" {
		return &turn.Fault{Op: r.op, Err: fmt.Errorf("%w: %s has no %s", ErrNoWheel, r.from, what), Why: r.copy, Try: r.try + " --wheels " + r.from}
	}
	why := lines[max(0, len(lines)-4):]
	for i, line := range why {
		if len(line) > 300 {
			why[i] = line[:300] + "…"
		}
	}
	var signal syscall.Signal
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			signal = w.Signal()
		}
	}
	if signal == syscall.SIGILL {
		err = fmt.Errorf("%w (%w)", ErrCPU, err)
	}
	return &turn.Fault{Op: r.op, Err: fmt.Errorf("%s: %w", stage, err), Why: strings.Join(why, "\n"), Try: "dyn engine doctor"}
}

// offline reports whether the last lines of uv or pip say that the index could
// not be reached.
func offline(lines []string) bool {
	text := strings.Join(lines, "\n")
	for _, mark := range []string{
		"error sending request", "dns error", "network was disabled", "Failed to fetch", // uv
		"NewConnectionError", "Failed to establish a new connection", "Temporary failure in name resolution", // pip
		"ConnectTimeoutError", "Connection refused", "Name or service not known", "Network is unreachable", "ProxyError",
	} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// lack is how pip and uv say that no place has a package.
var lack = regexp.MustCompile(`No matching distribution found for (\S+)|[Bb]ecause (\S+) was not found`)

// lacks is the package that the last lines of uv or pip say to be nowhere; ""
// when they do not say it.
func lacks(lines []string) string {
	if found := lack.FindStringSubmatch(strings.Join(lines, "\n")); found != nil {
		return found[1] + found[2]
	}
	return ""
}

// fill puts folders into a word.
func (r *runner) fill(word string) (string, error) {
	if strings.Contains(word, "{site}") {
		site, err := siteOf(r.dir)
		if err != nil {
			return "", err
		}
		word = strings.ReplaceAll(word, "{site}", site)
	}
	return strings.ReplaceAll(word, "{env}", r.dir), nil
}

// siteOf is the folder of an environment's packages.
func siteOf(env string) (string, error) {
	found, err := below(env, "lib/python3*/site-packages")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%s has no folder of packages", env)
	}
	return found[0], nil
}
