package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/turn"
)

// ownSim is a simulated engine that no fleet started.
func ownSim(t *testing.T, port int, more ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{
		"--port", fmt.Sprint(port), "--speed", "0", "--kv-tokens", "16000", "--max-model-len", "8192", "--api-key", "secret",
		"--kv-events-config", `{"enable_kv_cache_events":true,"endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0"}`,
	}, more...)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childRole+"=sim", "VLLM_HOST_IP=127.0.0.1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the engine listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
	return cmd
}

func freePort(t *testing.T) int {
	t.Helper()
	p, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAttach(t *testing.T) {
	port := freePort(t)
	ownSim(t, port)
	at := turn.Attach{URL: fmt.Sprintf("http://127.0.0.1:%d/v1/", port), Key: "secret"}
	first := newRig(t, engine.Options{})
	w, err := first.Attach(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if i := w.Info(); !i.Attached || i.PID != 0 || i.State != turn.Ready || !i.Caps.Events || !i.Caps.Replay || i.Caps.KVTokens != 16000 || i.Caps.Priority {
		t.Errorf("info is %+v", i)
	}
	if again, err := first.Attach(t.Context(), at); err != nil || again != w {
		t.Errorf("attached again: %v, %v", again, err)
	}
	if _, _, err := say(t, w, job(0, 100)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its events", func() bool { return first.seen("a0", turn.KVStored) > 0 })

	second := newRig(t, engine.Options{}) // what happened before is replayed to it
	if _, err := second.Attach(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if second.seen("a0", turn.KVStored) == 0 {
		t.Error("ready, and the cache's content is not known")
	}
	_ = second.Stop(t.Context(), 0)
	if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
		t.Error("stop has ended an attached engine")
	} else {
		c.Close()
	}
}

func TestAttachedComesBack(t *testing.T) {
	port := freePort(t)
	cmd := ownSim(t, port)
	first := newRig(t, engine.Options{})
	w, err := first.Attach(t.Context(), turn.Attach{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "it is down", func() bool { return w.Info().State == turn.Down && w.Info().Why != "" })
	forgot := first.seen("a0", turn.KVRestart)
	ownSim(t, port, "--block-size", "32")
	eventually(t, "it is back, and another one", func() bool {
		i := w.Info()
		return i.State == turn.Ready && i.Caps.BlockSize == 32 && first.seen("a0", turn.KVRestart) > forgot
	})
	if err := first.Detach(t.Context(), "a0"); err != nil {
		t.Fatal(err)
	}
	if len(first.Workers()) != 0 || w.Info().State != turn.Gone {
		t.Errorf("detached, it is %s", w.Info().State)
	}
	want := []string{"a0 attached", "a0 ready", "a0 down", "a0 ready", "a0 detached"}
	if got := first.told(); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// An engine that comes back with another model is no place for the turns of
// the old one.
func TestAttachedComesBackWithAnotherModel(t *testing.T) {
	port := freePort(t)
	cmd := ownSim(t, port)
	r := newRig(t, engine.Options{})
	w, err := r.Attach(t.Context(), turn.Attach{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "it is down", func() bool { return w.Info().State == turn.Down })
	if _, err := r.Attach(t.Context(), turn.Attach{URL: w.Info().URL}); err == nil || !strings.Contains(err.Error(), "attached as a0 and down") {
		t.Errorf("attached again while it is down: %v", err)
	}
	stranger := ownSim(t, port, "--served-model-name", "other")
	eventually(t, "it is not taken for the old one", func() bool {
		return w.Info().State == turn.Ready || strings.Contains(w.Info().Why, `serves "other" now`)
	})
	if i := w.Info(); i.State != turn.Down || i.Caps.Model != "sim" {
		t.Fatalf("another model: it is %s as %s", i.State, i.Caps.Model)
	}
	_ = stranger.Process.Kill()
	_ = stranger.Wait()
	ownSim(t, port)
	eventually(t, "the old model is back", func() bool { return w.Info().State == turn.Ready })
}

// Many who attach the same engine at once get the same worker.
func TestAttachAtOnce(t *testing.T) {
	port := freePort(t)
	ownSim(t, port)
	r := newRig(t, engine.Options{})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := r.Attach(t.Context(), turn.Attach{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Key: "secret"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(r.Workers()); n != 1 {
		t.Errorf("%d workers for one engine", n)
	}
	for range 2 { // and who detaches it lets it go once
		all.Go(func() {
			if err := r.Detach(t.Context(), "a0"); err != nil && !errors.Is(err, engine.ErrNoWorker) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(r.Workers()); n != 0 {
		t.Errorf("%d workers after detach", n)
	}
}

func TestAttachFails(t *testing.T) {
	port := freePort(t)
	ownSim(t, port)
	r := newRig(t, engine.Options{})
	for name, url := range map[string]string{
		"nobody there":  fmt.Sprintf("http://127.0.0.1:%d", freePort(t)),
		"wrong key":     fmt.Sprintf("http://127.0.0.1:%d", port),
		"no URL":        "ftp://x",
		"with password": "http://a:b@127.0.0.1:1",
	} {
		_, err := r.Attach(t.Context(), turn.Attach{URL: url, Key: "wrong"})
		var fault *turn.Fault
		if !errors.As(err, &fault) || fault.Try == "" {
			t.Errorf("%s: error is %#v", name, err)
		}
		if name == "nobody there" && err.Error() != "attach "+url+": nothing listens there: connection refused" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(r.Workers()) != 0 {
		t.Error("a worker is listed")
	}
	w := r.start(t, "")
	if err := r.Detach(t.Context(), w.Name()); !errors.Is(err, engine.ErrNotAttached) {
		t.Errorf("detached a launched worker: %v", err)
	}
}

// plain is an engine with less than vLLM has: no ids in its answers, no
// events, no health route, no figures about its cache.
func plain(t *testing.T) *httptest.Server {
	m := http.NewServeMux()
	m.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data":[{"id":"qwen3","max_model_len":131072}]}`)
	})
	m.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `data: {"choices":[{"index":0,"text":" tok","logprobs":null,"finish_reason":null}]}`+"\n\n")
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"length"}]}`+"\n\n")
		io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}`+"\n\n")
		io.WriteString(w, "data: [DONE]\n\n")
	})
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s
}

// An engine whose answers do not end is told of at once, and not attached.
func TestAttachEndlessEngine(t *testing.T) {
	m := http.NewServeMux()
	m.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data":[{"id":"qwen3","max_model_len":131072}]}`)
	})
	m.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, q *http.Request) {
		for q.Context().Err() == nil {
			io.WriteString(w, `data: {"choices":[{"index":0,"text":" tok","finish_reason":null}]}`+"\n\n")
		}
	})
	s := httptest.NewServer(m)
	defer s.Close()
	r := newRig(t, engine.Options{})
	_, err := r.Attach(t.Context(), turn.Attach{URL: s.URL})
	if !errors.Is(err, engine.ErrEndless) {
		t.Errorf("error is %v", err)
	}
	if len(r.Workers()) != 0 {
		t.Error("a worker is listed")
	}
}

func TestAttachPlainEngine(t *testing.T) {
	r := newRig(t, engine.Options{})
	w, err := r.Attach(t.Context(), turn.Attach{URL: strings.TrimPrefix(plain(t).URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	if want := (turn.Capabilities{Model: "qwen3", Context: 131072, BlockSize: 64, Engine: "openai"}); w.Info().Caps != want {
		t.Errorf("capabilities are %+v", w.Info().Caps)
	}
	s, err := w.Generate(t.Context(), job(0, 9))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if d, err := s.Next(); err != nil || d.Text != " tok" || d.IDs != nil {
		t.Errorf("got %+v, %v", d, err)
	}
	if d, err := s.Next(); err != nil || d.End == nil || d.End.Reason != turn.Cut || d.End.Usage.Output != 1 || d.End.StopID {
		t.Errorf("got %+v, %v", d, err)
	}
	eventually(t, "it is looked at and stays ready", func() bool { return w.Info().State == turn.Ready && w.InFlight() == 0 })
}

// A detached worker's running turn goes on.
func TestDetachLetsTurnsEnd(t *testing.T) {
	brain := t.TempDir() + "/brain.yaml"
	if err := os.WriteFile(brain, []byte(slowly), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	ownSim(t, port, "--brain", brain)
	r := newRig(t, engine.Options{})
	w, err := r.Attach(t.Context(), turn.Attach{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Generate(t.Context(), job(0, 10))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Detach(soon, "a0"); err != nil {
		t.Fatal(err)
	}
	var d turn.Delta
	for d.End == nil {
		if d, err = s.Next(); err != nil {
			t.Fatal(err)
		}
	}
}
