package check

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/engine/vllm"
)

// simulated is a client of the simulated engine, which runs inside the test
// with the model of a folder.
func simulated(t *testing.T, dir string) engine.Client {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- sim.Run(ctx, []string{"--speed", "0", "--model-dir", dir}, w, io.Discard)
		w.Close()
	}()
	t.Cleanup(func() { cancel(); <-done })
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("the simulated engine does not start: %v", <-done)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	_, url, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	c := vllm.Adapter{}.Open(engine.Endpoint{URL: url})
	t.Cleanup(c.Close)
	if _, err := c.Probe(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSimulated checks the simulated engine as it is, and with another
// template than dyn has.
func TestSimulated(t *testing.T) {
	m := folder(t, nil)
	if r := Run(t.Context(), simulated(t, ""), m); r.Summary() != "8 conversations compared: 8 equal" {
		t.Error(r)
	}
	dir := t.TempDir()
	if err := model.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte(chatML), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Run(t.Context(), simulated(t, dir), m)
	golden(t, "simulated.txt", r.Reason()+"\n"+r.String())
}
