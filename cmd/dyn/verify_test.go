package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine"
	prompts "github.com/agentinfer/dyn/engine/check"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// The prompts of an engine that is adopted are compared again only if it, or
// what dyn makes, is another than before.
func TestComparedOnce(t *testing.T) {
	r, w := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- sim.Run(ctx, []string{"--speed", "0"}, w, io.Discard)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("the simulated engine does not start: %v", <-ended)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	_, url, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	c := vllm.Adapter{}.Open(engine.Endpoint{URL: url})
	defer c.Close()
	if _, err := c.Probe(ctx); err != nil {
		t.Fatal(err)
	}
	own, err := prompt.OpenFS(model.FS(), prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := model.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte("{% for m in messages %}{{ m.content }}{% endfor %}"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := prompt.Open(dir, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := folders.Folders{State: t.TempDir()}
	d := &daemon{folders: f, log: slog.New(slog.DiscardHandler)}
	if err := os.MkdirAll(f.Logs(), 0o700); err != nil {
		t.Fatal(err)
	}
	life := turn.WorkerInfo{Name: "w0", PID: 7, Started: time.Unix(1000, 5)}
	if got, before := d.compare(ctx, life, c, own); before || got.Summary() != "8 conversations compared: 8 equal" {
		t.Fatalf("at first: %v, before %v", got, before)
	}
	end()
	<-ended // so that it can tell nothing more
	adopted := func(pid int, started time.Time) turn.WorkerInfo {
		return turn.WorkerInfo{Name: "w0", PID: pid, Started: started, Adopted: true}
	}
	for _, c2 := range []struct {
		name string
		info turn.WorkerInfo
		m    *prompt.Model
		same bool
	}{
		{"the same life", adopted(7, life.Started), own, true},
		{"once more", adopted(7, life.Started), own, true},
		{"our template is another", adopted(7, life.Started), other, false},
		{"our template again, but the last look had no answer", adopted(7, life.Started), own, false},
	} {
		got, before := d.compare(t.Context(), c2.info, c, c2.m)
		if before != c2.same || before != (got.Reason() == "" && got.Whole()) {
			t.Errorf("%s: %v, before %v", c2.name, got, before)
		}
	}
	for name, info := range map[string]turn.WorkerInfo{
		"started by this daemon": life, "another process": adopted(8, life.Started), "another start": adopted(7, life.Started.Add(1)),
	} {
		if lifeOf(info, own) == lifeOf(life, own) && info.Adopted {
			t.Errorf("%s is taken for the same", name)
		}
	}
}

// What doctor says of a worker's prompts tells each way that turns go there,
// and why.
func TestPromptLine(t *testing.T) {
	equal := prompts.Report{Findings: []prompts.Finding{{Name: "plain", Result: prompts.Equal}}}
	for _, c := range []struct {
		name   string
		report prompts.Report
		worker snapshot.Worker
		state  string
		text   string
	}{
		{"by ids", equal, snapshot.Worker{Name: "w0", Path: "tokens"}, "ok", "w0: " + equal.Summary()},
		{
			"images by its chat API", equal,
			snapshot.Worker{Name: "w0", Path: "both", PathWhy: "turns with images take its chat API"},
			"ok", "w0: " + equal.Summary() + "; turns with images take its chat API",
		},
		{
			"all by its chat API",
			prompts.Report{},
			snapshot.Worker{Name: "a0", Path: "chat", PathWhy: "no tokenizer"},
			"warn", "a0: turns go to its chat API: no tokenizer",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := promptLine(c.report, c.worker, false); got.State != c.state || got.Text != c.text {
				t.Errorf("%s %q, want %s %q", got.State, got.Text, c.state, c.text)
			}
		})
	}
}
