package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/ledger"
)

// house is a home of its own with a recipe whose simulated engines outlive
// the daemon, as real ones do.
type house struct {
	env    []string
	f      folders.Folders
	recipe string
	url    string
	dyn    string // the program; another one is another release
}

func newHouse(t *testing.T) *house {
	t.Helper()
	home := t.TempDir()
	h := &house{recipe: filepath.Join(home, "real.yaml"), dyn: "dyn"}
	set := map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "DYN_SERVER__PORT": "0"}
	for name, value := range set {
		h.env = append(h.env, name+"="+value)
	}
	var err error
	if h.f, err = folders.Find(func(name string) string { return set[name] }); err != nil {
		t.Fatal(err)
	}
	brain := filepath.Join(home, "brain.yaml")
	recipe := `{name: real, model: real, engine: vllm, command: ["{self}", worker, sim], context: 65536,
parsers: {tools: hermes, reasoning: think}, flags: {speed: "0", block-size: "16", kv-tokens: "400000",
max-model-len: "65536", max-num-seqs: "64", max-num-batched-tokens: "8192", brain: ` + brain + `}}`
	for path, text := range map[string]string{h.recipe: recipe, brain: spelled} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { h.run(t, "down", "--now") })
	return h
}

// run runs a command of dyn.
func (h *house) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(h.dyn, args...)
	cmd.Env = h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("dyn %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// up starts a daemon with two workers.
func (h *house) up(t *testing.T) {
	t.Helper()
	h.run(t, "up", h.recipe, "--workers", "2")
	d, ok := h.f.Daemon()
	if !ok {
		t.Fatal("no daemon runs")
	}
	h.url = d.URL
}

// kill ends the daemon as a crash would.
func (h *house) kill(t *testing.T) {
	t.Helper()
	d, _ := h.f.Daemon()
	if err := syscall.Kill(d.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.wait(t, "the daemon's lock is free", func() bool { return !h.f.Alive() })
}

func (h *house) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !control.Wait(ctx, 5*time.Millisecond, ok) {
		t.Fatalf("never: %s", what)
	}
}

// workers are the engines' names, numbers and states.
func (h *house) workers(t *testing.T) (all string) {
	t.Helper()
	s, err := control.New(h.f.Socket()).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range s.Workers {
		all += fmt.Sprintf("%s %d %s ", w.Name, w.PID, w.State)
	}
	if len(keep.List(h.f.Run())) != len(s.Workers) {
		t.Fatalf("%d run files of %d workers", len(keep.List(h.f.Run())), len(s.Workers))
	}
	return all
}

// recorded waits until the ledger has so many turns that ended.
func (h *house) recorded(t *testing.T, n int) {
	t.Helper()
	r, err := ledger.OpenReader(h.f.Ledger())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h.wait(t, "the turns are in the ledger", func() bool {
		turns, err := r.Turns(t.Context(), ledger.Query{Limit: 10 * n})
		ended := 0
		for _, one := range turns {
			if one.Outcome != "" {
				ended++
			}
		}
		return err == nil && ended >= n
	})
}

// load streams answers that last, until the daemon is gone; it returns when
// each has begun.
func (h *house) load(t *testing.T, n int) *sync.WaitGroup {
	t.Helper()
	var ends, begun sync.WaitGroup
	begun.Add(n)
	for i := range n {
		ends.Go(func() {
			body := fmt.Sprintf(`{"model":"real","stream":true,"messages":[{"role":"user","content":"stay %d"}]}`, i)
			resp, err := http.Post(h.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				begun.Done()
				return
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for said := false; lines.Scan(); {
				if !said && strings.Contains(lines.Text(), `"content":"`) {
					said = true
					begun.Done()
				}
			}
		})
	}
	begun.Wait()
	return &ends
}

// chat is a conversation, and what its last turn cost.
type chat struct {
	messages               []map[string]string
	prompt, cached, answer int
}

func (c *chat) hears(role, text string) {
	c.messages = append(c.messages, map[string]string{"role": role, "content": text})
}

// ask adds a question and its answer.
func (c *chat) ask(t *testing.T, url, text string) {
	t.Helper()
	c.hears("user", text)
	body, err := json.Marshal(map[string]any{"model": "real", "messages": c.messages})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Prompt  int `json:"prompt_tokens"`
			Answer  int `json:"completion_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || len(doc.Choices) != 1 {
		t.Fatalf("no answer: %s, %v", resp.Status, err)
	}
	c.hears("assistant", doc.Choices[0].Message.Content)
	c.prompt, c.answer, c.cached = doc.Usage.Prompt, doc.Usage.Answer, doc.Usage.Details.Cached
}
