package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// inner is an engine that the daemon does not start, and a tap before it: what
// the daemon really sends can be read there.
type inner struct {
	cmd *exec.Cmd
	url string
	tap *tap
}

// attached starts an engine of its own with a tap, and a daemon that has it
// attached.
func (l *lab) attached(ctx context.Context, brain string) error {
	model := filepath.Join(l.root, "model")
	if _, err := l.own(ctx, "worker", "sim", "--write-model", model); err != nil {
		return err
	}
	cmd := exec.Command(l.dyn, "worker", "sim", "--speed", "0", "--brain", brain, "--max-model-len", strconv.Itoa(l.context))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	l.inner = &inner{cmd: cmd}
	lines := bufio.NewScanner(out)
	for l.inner.url == "" && lines.Scan() {
		_, l.inner.url, _ = strings.Cut(lines.Text(), "listening on ")
	}
	if l.inner.url == "" {
		return fmt.Errorf("the engine does not say where it listens")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // it ends with the engine
	if l.inner.tap, err = newTap(l.inner.url); err != nil {
		return err
	}
	if _, err := l.own(ctx, "up", "--port", "0", "--attach", l.inner.tap.addr, "--model-dir", model); err != nil {
		return err
	}
	return l.meet(ctx)
}

// close ends the engine and its tap.
func (i *inner) close() {
	if i.tap != nil {
		i.tap.close()
	}
	_ = syscall.Kill(-i.cmd.Process.Pid, syscall.SIGKILL) // an error is that it is gone
	_ = i.cmd.Wait()                                      // it was killed
}

// prompts are the token ids of all turns that reached the engine, in order.
// What the daemon asks to see what an engine can do is text, or shorter than
// any turn of a client.
func (i *inner) prompts() ([][]uint32, error) {
	var all [][]uint32
	for _, e := range i.tap.exchanges() {
		if e.Path != "/v1/completions" {
			continue
		}
		var body struct{ Prompt json.RawMessage }
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return nil, fmt.Errorf("a request of the daemon: %w", err)
		}
		if !bytes.HasPrefix(body.Prompt, []byte("[")) {
			continue
		}
		var ids []uint32
		if err := json.Unmarshal(body.Prompt, &ids); err != nil {
			return nil, fmt.Errorf("a prompt of the daemon: %w", err)
		}
		if len(ids) > 1000 {
			all = append(all, ids)
		}
	}
	return all, nil
}

// text is what token ids stand for.
func (i *inner) text(ctx context.Context, ids []uint32) (string, error) {
	body, err := json.Marshal(map[string]any{"model": "sim", "tokens": ids})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url+"/detokenize", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("detokenize: status %d: %s", resp.StatusCode, tail(string(data), 200))
	}
	if err != nil {
		return "", err
	}
	var out struct{ Prompt string }
	return out.Prompt, json.Unmarshal(data, &out)
}
