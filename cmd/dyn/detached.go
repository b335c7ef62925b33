package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// progressFD is where a detached daemon tells its progress; see spawn.
const progressFD = 3

// detached is the daemon in a session of its own: its plan comes on standard
// input, its progress and a failed start go to the one who started it.
func detached(ctx context.Context, a *app, in io.Reader) error {
	var p plan
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return fail(usage, "up", fmt.Errorf("read plan: %w", err), "--detached is for dyn itself", "dyn up")
	}
	syscall.CloseOnExec(progressFD) // an engine must not hold the pipe open
	pipe := os.NewFile(progressFD, "progress")
	once := &closing{pipe}
	show := &steps{out: once, err: once, json: true, began: time.Now()}
	err := serve(ctx, a, &daemon{plan: p, show: show, background: true})
	if err != nil {
		jsonLine(pipe, understand(p.op(), err).doc())
	}
	return err
}

// closing is a pipe that is closed after the line that says "done": what
// comes later is nobody's to read.
type closing struct{ pipe *os.File }

// Write writes one line.
func (c *closing) Write(line []byte) (int, error) {
	n, err := c.pipe.Write(line)
	var st step
	if json.Unmarshal(line, &st) == nil && st.Type == "done" {
		c.pipe.Close()
	}
	return n, err
}

// summary is the plan in one line.
func (p plan) summary() string {
	text := fmt.Sprintf("port %d", p.Port)
	if n := len(p.Attach); n > 0 {
		text = plural(n, "attached engine") + ", " + text
	}
	if p.Recipe != "" {
		context := "the model's context"
		if p.Context > 0 {
			context = "context " + count(p.Context)
		}
		text = fmt.Sprintf("%s, %s, %s, ", plural(p.Workers, "worker"), p.Recipe, context) + text
	}
	return text
}
