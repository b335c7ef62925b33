package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// first measures what a newcomer waits for: from a clone of what is committed
// here to the first token of a real model. Nothing of a build, an engine or a
// model is there before; Go's modules are.
func first(ctx context.Context, o options, s *sheet) error {
	dir := filepath.Join(o.work, "first")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone := filepath.Join(dir, "clone")
	env := append(os.Environ(), "GOCACHE="+filepath.Join(dir, "gocache"), "DYN_SERVER__PORT=0")
	for _, name := range []string{"DATA", "CACHE", "STATE", "CONFIG"} {
		env = append(env, "XDG_"+name+"_HOME="+filepath.Join(dir, strings.ToLower(name)))
	}
	began := time.Now()
	var parts []string
	for _, step := range []struct {
		name, dir string
		words     []string
	}{
		{"clone", ".", []string{"git", "clone", "--quiet", ".", clone}},
		{"build", clone, []string{"make", "build"}},
		{"`dyn up tiny --yes`", clone, []string{"./dyn", "up", "tiny", "--yes"}},
	} {
		at := time.Now()
		cmd := exec.CommandContext(ctx, step.words[0], step.words[1:]...)
		cmd.Dir, cmd.Env = step.dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(step.words, " "), err, tail(out))
		}
		parts = append(parts, fmt.Sprintf("%s %.0f s", step.name, time.Since(at).Seconds()))
	}
	defer func() {
		cmd := exec.Command("./dyn", "down", "--now")
		cmd.Dir, cmd.Env = clone, env
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintln(os.Stderr, "engines: dyn down:", err, tail(out))
		}
	}()
	cmd := exec.CommandContext(ctx, "./dyn", "run", "--max-tokens", "40", "What is the capital of France?")
	cmd.Dir, cmd.Env = clone, env
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	token := make([]byte, 1)
	if _, err := io.ReadFull(out, token); err != nil {
		return fmt.Errorf("dyn run prints nothing: %w", err)
	}
	took := time.Since(began)
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		return err
	}
	s.within("", "from a clone to the first token of `dyn run`, within 5 minutes", took, 5*time.Minute, "%.0f s: %s; it says: %s",
		took.Seconds(), strings.Join(parts, ", "), strings.TrimSpace(string(token)+string(rest)))
	return nil
}
