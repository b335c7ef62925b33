package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// daemon is one with folders of its own.
type daemon struct {
	dyn, dir string
	url      string
}

// run runs a command of dyn to its end and returns what it printed.
func (d *daemon) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, d.dyn, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "XDG_") || strings.HasPrefix(e, "DYN_") })
	for _, name := range []string{"config", "state", "data", "cache"} {
		cmd.Env = append(cmd.Env, "XDG_"+strings.ToUpper(name)+"_HOME="+filepath.Join(d.dir, name))
	}
	cmd.Dir = d.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("dyn %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

// up starts a daemon and its simulated engines, from nothing.
func (o *options) up(ctx context.Context, strategy string, block int) (*daemon, error) {
	dir, err := os.MkdirTemp("", "dyn-live-")
	if err != nil {
		return nil, err
	}
	d := &daemon{dyn: o.dyn, dir: dir}
	_, err = d.run(ctx, "up", "sim", "--port", "0", "--workers", fmt.Sprint(o.workers), "--router-mode", strategy, "--router-queue-threshold", "off",
		"--profile", o.profile.Name, "--speed", fmt.Sprint(o.speed), "--block-size", fmt.Sprint(block),
		"--kv-tokens", fmt.Sprint(o.kv+block), // one block is the engine's own
		"--max-num-batched-tokens", fmt.Sprint(o.profile.Batched), "--max-num-seqs", fmt.Sprint(o.profile.Slots))
	var doc struct{ Daemon snapshot.Daemon }
	if err == nil {
		var out []byte
		if out, err = d.run(ctx, "ps", "--json"); err == nil {
			err = json.Unmarshal(out, &doc)
		}
	}
	d.url = doc.Daemon.URL
	if err != nil {
		d.down()
		return nil, err
	}
	return d, nil
}

// down ends it, and removes its folders.
func (d *daemon) down() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if _, err := d.run(ctx, "down", "--now"); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
	}
	if err := os.RemoveAll(d.dir); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
	}
}
