package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/ledger"
)

// lab is the surroundings of one cell.
type lab struct {
	dyn, modules string // the program, and where the clients are installed
	root         string // all the cell writes
	home         string
	project      string
	context      int
	daemon       string // its address
	engine       string // its worker's address
	tap          *tap
	inner        *inner   // between daemon and engine, where a case has it
	extra        []string // the client's environment
	note         string   // what its case has to tell
}

// newLab starts a daemon whose model follows the rules.
func newLab(ctx context.Context, dyn, modules, root string, window int, rules []rule, start func(*lab, context.Context, string) error) (*lab, error) {
	l := &lab{dyn: dyn, modules: modules, root: root, home: filepath.Join(root, "home"), context: window}
	l.project = filepath.Join(l.home, "project")
	if err := l.folder(ctx, l.project); err != nil {
		return nil, err
	}
	brain := filepath.Join(root, "brain.yaml")
	if err := write(brain, rules); err != nil {
		return nil, err
	}
	if err := start(l, ctx, brain); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// up starts the daemon and its engine, and looks where they listen.
func (l *lab) up(ctx context.Context, brain string) error {
	args := []string{"up", "sim", "--port", "0", "--speed", "0", "--brain", brain, "--max-model-len", strconv.Itoa(l.context)}
	if _, err := l.own(ctx, args...); err != nil {
		return err
	}
	return l.meet(ctx)
}

// meet looks where daemon and engine listen, and puts the tap before the
// daemon.
func (l *lab) meet(ctx context.Context) error {
	var seen struct {
		Daemon  struct{ URL string }
		Workers []struct{ URL string }
	}
	out, err := l.own(ctx, "ps", "--json")
	if err == nil {
		err = json.Unmarshal(out, &seen)
	}
	if err == nil && len(seen.Workers) != 1 {
		err = fmt.Errorf("dyn ps shows %d workers, want 1", len(seen.Workers))
	}
	if err == nil {
		l.daemon, l.engine = seen.Daemon.URL, seen.Workers[0].URL
		l.tap, err = newTap(l.daemon)
	}
	return err
}

// folder makes a git project for a client to work in.
func (l *lab) folder(ctx context.Context, path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(path, "hello.txt"), []byte("hello\n"), 0o600); err != nil {
		return err
	}
	return exec.CommandContext(ctx, "git", "init", "-q", path).Run()
}

// url is what the client is told.
func (l *lab) url() string { return l.tap.addr }

// module is a file of an installed client.
func (l *lab) module(path string) string { return filepath.Join(l.modules, "node_modules", path) }

// own runs dyn in the cell's folders.
func (l *lab) own(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, l.dyn, args...)
	cmd.Env = append(os.Environ(), l.folders()...)
	out, err := cmd.Output()
	if err != nil {
		var why string
		if e, ok := err.(*exec.ExitError); ok {
			why = tail(string(e.Stderr), 500)
		}
		return out, fmt.Errorf("dyn %s: %w: %s", strings.Join(args, " "), err, why)
	}
	return out, nil
}

// folders are where dyn keeps what is the cell's.
func (l *lab) folders() []string {
	return []string{"XDG_STATE_HOME=" + l.root + "/state", "XDG_CONFIG_HOME=" + l.root + "/config", "XDG_CACHE_HOME=" + l.root + "/cache"}
}

// close stops the daemon and all it started.
func (l *lab) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if l.tap != nil {
		l.tap.close()
	}
	if _, err := l.own(ctx, "down", "--now"); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if l.inner != nil {
		l.inner.close()
	}
}

// turns are the ledger's rows.
func (l *lab) turns(ctx context.Context) ([]ledger.Turn, error) {
	out, err := l.own(ctx, "stats", "--turns", "--json=turns")
	if err != nil {
		return nil, err
	}
	var doc struct{ Turns []ledger.Turn }
	return doc.Turns, json.Unmarshal(out, &doc)
}

// environment is all that a client gets: nothing of the caller's but where
// programs are.
func (l *lab) environment() []string {
	bin := l.module(".bin")
	if _, err := os.Stat(l.module("node/bin/node")); err == nil {
		bin += ":" + l.module("node/bin") // newer than what the system may have
	}
	return append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + l.home, "USER=dyn", "LANG=C.UTF-8", "TERM=dumb", "SHELL=/bin/bash",
		"DO_NOT_TRACK=1", "NO_UPDATE_NOTIFIER=1", "CI=1",
	}, l.extra...)
}

// process is a client that runs.
type process struct {
	cmd  *exec.Cmd
	out  *os.File
	over chan struct{} // closed when it has ended
	err  error         // of Wait, once over is closed
}

// begin starts a client in a process group of its own.
func (l *lab) begin(argv []string) (*process, error) {
	out, err := os.CreateTemp(l.root, "output-")
	if err != nil {
		return nil, err
	}
	path, err := l.look(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: l.project, Env: l.environment(), Stdout: out, Stderr: out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, out: out, over: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.over)
	}()
	return p, nil
}

// look finds a program where the client looks for it.
func (l *lab) look(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	for _, e := range l.environment() {
		if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
			for _, dir := range filepath.SplitList(dirs) {
				if path := filepath.Join(dir, name); executable(path) {
					return path, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no program %s is installed", name)
}

func executable(path string) bool {
	i, err := os.Stat(path)
	return err == nil && !i.IsDir() && i.Mode()&0o111 != 0
}

// wait returns what the client printed. One that takes too long is ended.
func (p *process) wait(limit time.Duration) (string, error) {
	watch := time.NewTimer(limit)
	defer watch.Stop()
	select {
	case <-p.over:
	case <-watch.C:
		p.kill()
		return p.printed(), fmt.Errorf("still running after %v", limit)
	}
	p.kill() // what it left running
	return p.printed(), p.err
}

// kill ends the client and its process group.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // an error is that nothing is left
	<-p.over
}

// printed is both of the client's outputs so far.
func (p *process) printed() string {
	data, err := os.ReadFile(p.out.Name())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// tail is the end of a text.
func tail(s string, n int) string {
	if s = strings.TrimSpace(s); len(s) > n {
		s = "…" + strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}
