package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
)

// spawned is a daemon of our own making: this program again, in a session of
// its own, so that it outlives the terminal.
type spawned struct {
	cmd  *exec.Cmd
	news *bufio.Scanner // its progress, one JSON object per line
	over chan struct{}  // closed when the process has ended
}

// spawn starts the daemon with its plan on standard input and its progress on
// a pipe. Its output goes to the daemon's log.
func spawn(f folders.Folders, p plan) (*spawned, error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	log, err := openLog(f.Log("daemon"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	defer write.Close()
	given, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "up", "--foreground", "--detached")
	cmd.Dir = f.State
	cmd.Stdin = bytes.NewReader(given)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		read.Close()
		return nil, fmt.Errorf("start daemon: %w", err)
	}
	s := &spawned{cmd, bufio.NewScanner(read), make(chan struct{})}
	go func() {
		cmd.Wait()
		close(s.over)
	}()
	return s, nil
}

// follow shows the daemon's progress until it is ready or has failed.
func (s *spawned) follow(show *steps) error {
	for s.news.Scan() {
		var st step
		var e errorDoc
		line := s.news.Bytes()
		if json.Unmarshal(line, &e) == nil && e.Type == "error" {
			return e.failure()
		}
		if json.Unmarshal(line, &st) != nil {
			continue
		}
		show.show(st)
		if st.Type == "done" {
			return nil
		}
	}
	return errors.New("the daemon ended before it was ready")
}

// start is `dyn up` without --foreground: it starts a daemon, or joins the one
// that lives. A daemon that ends meanwhile is replaced.
func start(ctx context.Context, a *app, p plan, show *steps) error {
	f, err := a.folders()
	if err != nil {
		return err
	}
	err = errLeft
	for try := 0; try < maxTries && errors.Is(err, errLeft); try++ {
		if f.Alive() {
			err = join(ctx, f, p, show)
		} else {
			err = launch(ctx, f, p, show)
		}
	}
	return err
}

// launch starts a daemon and waits until it serves. The error is errLeft when
// somebody else was faster.
func launch(ctx context.Context, f folders.Folders, p plan, show *steps) error {
	s, err := spawn(f, p)
	if err != nil {
		return err
	}
	end := make(chan error, 1)
	go func() { end <- s.follow(show) }()
	select {
	case err = <-end:
	case <-ctx.Done():
		return s.giveUp(p)
	}
	var known *failure
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &known):
		return fail(failed, p.op(), err, strings.Join(lastOf(f.Log("daemon"), 3), "\n"), "dyn logs")
	case known.Err.Error() == folders.ErrHeld.Error():
		return errLeft
	}
	return err
}

// giveUp ends a daemon that is still starting: tidily at the first ctrl-c, at
// once at the second.
func (s *spawned) giveUp(p plan) error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.over:
		return fail(interrupted, p.op(), errors.New("interrupted"), "nothing runs", "")
	case <-again:
	case <-time.After(30 * time.Second):
	}
	s.cmd.Process.Kill()
	<-s.over
	return fail(interrupted, p.op(), errors.New("interrupted"), "the daemon was killed", "dyn ps")
}

// lastOf returns the last lines of a file, none when it cannot be read.
func lastOf(path string, n int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := lastLines(file, n)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	text := strings.TrimRight(string(data), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
