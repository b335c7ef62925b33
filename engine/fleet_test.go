package engine_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

func TestWorkerServes(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	r := newRig(t, engine.Options{})
	w := r.start(t, "rules:\n  - say: \"hello <tool_call> there\"\n")
	info := w.Info()
	if info.Name != "w0" || info.State != turn.Ready || info.PID == 0 || info.Attached || info.Why != "" {
		t.Errorf("info is %+v", info)
	}
	want := turn.Capabilities{
		Model: "sim", Context: 8192, BlockSize: 16, KVTokens: 16000, MaxSeqs: 256, MaxBatched: 8192,
		TokenIDs: true, Cached: true, Events: true, Replay: true, Priority: true, Chat: true, Engine: info.Caps.Engine,
	}
	if info.Caps != want || !strings.HasPrefix(want.Engine, "vllm ") {
		t.Errorf("capabilities are\n%+v, want\n%+v", info.Caps, want)
	}
	for i, cached := range []int{0, 96} {
		text, end, err := say(t, w, job(0, 100))
		if err != nil || text != "hello <tool_call> there" {
			t.Fatalf("turn %d: %q, %v", i, text, err)
		}
		if end.Reason != turn.Ended || !end.StopID || end.Usage.Prompt != 100 || end.Usage.Cached != cached {
			t.Errorf("turn %d ended as %+v", i, end)
		}
	}
	watched(t, r, w)
	if err := r.Stop(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if alive(info.PID) || w.Info().State != turn.Gone {
		t.Errorf("after stop it is %s, alive %v", w.Info().State, alive(info.PID))
	}
	if _, _, err := say(t, w, job(0, 1)); !errors.Is(err, turn.ErrLost) {
		t.Errorf("a stopped worker answers: %v", err)
	}
	if got := r.told(); !slices.Equal(got, []string{"w0 starting", "w0 ready", "w0 stopped"}) {
		t.Errorf("told %v", got)
	}
	if _, err := r.Start(t.Context(), engine.Spec{Recipe: recipe("sim")}); err == nil {
		t.Error("a stopped fleet starts workers")
	}
	goleak.VerifyNone(t, leaks)
}

// watched looks at what a worker tells beside its answers.
func watched(t *testing.T, r *rig, w *engine.Worker) {
	t.Helper()
	eventually(t, "6 blocks are told", func() bool { return r.seen("w0", turn.KVStored) >= 1 })
	if first := r.first("w0"); first.Kind != turn.KVRestart {
		t.Errorf("the first event is %+v", first)
	}
	eventually(t, "a load with hits", func() bool { l := w.Load(); return l.Hits >= 96 && !l.At.IsZero() })
	if tiers := w.Load().Tiers; len(tiers) != 1 || tiers[0].Capacity != 16000 {
		t.Errorf("tiers are %+v", tiers)
	}
	if _, err := os.Stat(w.Info().Log); err != nil || len(w.LogTail(10)) == 0 {
		t.Errorf("no log: %v", err)
	}
}

func TestFailsToStart(t *testing.T) {
	r := newRig(t, engine.Options{})
	_, err := r.Start(t.Context(), engine.Spec{Recipe: recipe("fail")})
	var fault *turn.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("error is %v", err)
	}
	if want := "start worker w0: the process ended: exit status 3"; err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
	if !strings.HasPrefix(fault.Why, "loading the model\nValueError") || !strings.HasSuffix(fault.Why, "giving up") || fault.Try != "dyn logs w0" {
		t.Errorf("fault is %+v", fault)
	}
	if len(r.Workers()) != 0 {
		t.Error("the worker is still listed")
	}
}

// A worker whose port somebody else took is launched with another one, some
// times.
func TestPortTaken(t *testing.T) {
	for lives, ok := range map[string]bool{"2": true, "9": false} {
		r := newRig(t, engine.Options{})
		crowded := recipe("crowded")
		folder := t.TempDir()
		crowded.Env["DYN_TEST_FOLDER"], crowded.Env["DYN_TEST_LIVES"] = folder, lives
		_, err := r.Start(t.Context(), engine.Spec{Recipe: crowded})
		var fault *turn.Fault
		if ok && err != nil || !ok && (!errors.As(err, &fault) || !strings.Contains(fault.Why, "address already in use")) {
			t.Errorf("%s lives without a port: %v", lives, err)
		}
		if all, err := os.ReadDir(folder); err != nil || len(all) != 3 {
			t.Errorf("%s lives without a port: %d lives, %v", lives, len(all), err)
		}
	}
}

// A start that lasts too long is ended, with the last words of who started: by
// the fleet's own limit, which may end before there are any on a busy machine,
// and by who does not wait any more.
func TestNoTokenInTime(t *testing.T) {
	t.Run("own limit", func(t *testing.T) {
		for limit := 200 * time.Millisecond; ; limit *= 2 {
			r := newRig(t, engine.Options{StartLimit: limit, TermWait: 50 * time.Millisecond})
			_, err := r.Start(t.Context(), engine.Spec{Recipe: recipe("deaf")})
			var fault *turn.Fault
			if !errors.As(err, &fault) || !errors.Is(err, engine.ErrNotReady) {
				t.Fatalf("error is %v", err)
			}
			if fault.Why == "" && limit < time.Minute {
				continue
			}
			if fault.Why != "loading for ever" {
				t.Errorf("fault is %+v", fault)
			}
			return
		}
	})
	t.Run("context", func(t *testing.T) {
		logs := t.TempDir()
		r := newRig(t, engine.Options{Logs: logs, StartLimit: time.Hour, TermWait: 50 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := r.Start(ctx, engine.Spec{Recipe: recipe("deaf")})
			ended <- err
		}()
		eventually(t, "it speaks", func() bool {
			words, _ := os.ReadFile(filepath.Join(logs, "w0.log"))
			return string(words) == "loading for ever\n"
		})
		cancel()
		err := <-ended
		var fault *turn.Fault
		if !errors.As(err, &fault) || !errors.Is(err, context.Canceled) || fault.Why != "loading for ever" {
			t.Errorf("error is %v, %+v", err, fault)
		}
	})
}

func TestUnknownEngine(t *testing.T) {
	r := newRig(t, engine.Options{})
	bad := recipe("sim")
	bad.Engine = "abacus"
	if _, err := r.Start(t.Context(), engine.Spec{Recipe: bad}); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("error is %v", err)
	}
	if _, err := r.Worker("w9"); !errors.Is(err, engine.ErrNoWorker) {
		t.Errorf("error is %v", err)
	}
}

// slowly says many words, a token every few milliseconds.
const slowly = "rules:\n  - say: one two three four five six seven eight nine ten eleven twelve\n    token_ms: 30\n"

// endless says so much that no test sees its end.
var endless = "rules:\n  - say: " + strings.Repeat("word ", 4000) + "\n    token_ms: 30\n"

func TestKilledWorkerComesBack(t *testing.T) {
	r := newRig(t, engine.Options{})
	w := r.start(t, endless)
	s, err := w.Generate(t.Context(), job(0, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	old, forgot := w.Info(), r.seen("w0", turn.KVRestart)
	if err := syscall.Kill(old.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, turn.ErrLost) {
		t.Errorf("the running turn got %v", err)
	}
	eventually(t, "the index forgets", func() bool { return r.seen("w0", turn.KVRestart) > forgot })
	eventually(t, "it is ready again", func() bool { i := w.Info(); return i.State == turn.Ready && i.Restarts == 1 })
	if w.Info().PID == old.PID {
		t.Error("the same process")
	}
	short := job(0, 100)
	short.MaxTokens = 2
	if _, end, err := say(t, w, short); err != nil || end.Usage.Cached != 0 {
		t.Errorf("after the restart: %+v, %v", end, err)
	}
	want := []string{"w0 starting", "w0 ready", "w0 down", "w0 starting", "w0 restarted"}
	if got := r.told(); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestDrainAndRestart(t *testing.T) {
	r := newRig(t, engine.Options{})
	w := r.start(t, slowly)
	s, err := w.Generate(t.Context(), job(0, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(t.Context(), "w0") }()
	eventually(t, "it drains", func() bool { return w.Info().State == turn.Draining })
	if _, err := w.Generate(t.Context(), job(0, 1)); !errors.Is(err, turn.ErrLost) {
		t.Errorf("a draining worker takes turns: %v", err)
	}
	select {
	case err := <-drained:
		t.Errorf("drained with a turn running: %v", err)
	default:
	}
	var d turn.Delta
	for d.End == nil {
		if d, err = s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	pid := w.Info().PID
	if err := r.Restart(t.Context(), "w0"); err != nil {
		t.Fatal(err)
	}
	if i := w.Info(); i.State != turn.Ready || i.Restarts != 1 || i.PID == pid || alive(pid) {
		t.Errorf("after the restart: %+v", i)
	}
}

// A drained worker that dies and comes back is still drained.
func TestDrainOutlivesCrash(t *testing.T) {
	r := newRig(t, engine.Options{})
	w := r.start(t, "")
	if err := r.Drain(t.Context(), "w0"); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(w.Info().PID, syscall.SIGKILL)
	eventually(t, "it is drained again", func() bool { i := w.Info(); return i.Restarts == 1 && i.State == turn.Draining })
}

const stalls = "rules:\n  - say: one two three four five six seven\n    fault: stall\n    after: 2\n"

func TestSilentStreamIsCut(t *testing.T) {
	r := newRig(t, engine.Options{DrainStall: 200 * time.Millisecond})
	w := r.start(t, stalls)
	s, err := w.Generate(t.Context(), job(0, 100))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Next(); err != nil || d.Text == "" {
		t.Fatalf("%+v, %v", d, err)
	}
	go func() { _ = r.Drain(t.Context(), "w0") }()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, turn.ErrLost) || !strings.Contains(err.Error(), "silent") {
		t.Errorf("it ends with %v", err)
	}
}

func TestStopCutsWhatOutlastsTheGrace(t *testing.T) {
	r := newRig(t, engine.Options{})
	w := r.start(t, stalls)
	s, err := w.Generate(t.Context(), job(0, 100))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := s.Next(); err != nil {
				ended <- err
				return
			}
		}
	}()
	pid := w.Info().PID
	if err := r.Stop(t.Context(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Errorf("pid %d is alive after the stop", pid)
	}
	if err := <-ended; !errors.Is(err, turn.ErrLost) {
		t.Errorf("the turn got %v", err)
	}
}

// The kernel takes the children with the daemon.
func TestKilledDaemonLeavesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, t.TempDir())
	cmd.Env = append(os.Environ(), childRole+"=daemon")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 2 && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil || !alive(pid) {
			t.Fatalf("no worker: %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 {
		t.Fatal("the daemon started no workers")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the workers are gone", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
}

// TestNoSecretsInFaults: the words of an engine's log that go to people hold
// none of its keys, and the engine saw none of ours.
func TestNoSecretsInFaults(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-ours")
	t.Setenv("SOME_TOKEN", "hf_asked_for")
	r := newRig(t, engine.Options{})
	leaky := recipe("leaks")
	leaky.Env["MY_TOKEN"] = "{env.SOME_TOKEN}"
	_, err := r.Start(t.Context(), engine.Spec{Recipe: leaky})
	var fault *turn.Fault
	if !errors.As(err, &fault) || !strings.Contains(fault.Why, "my key is … and my token … and yours\n") {
		t.Errorf("the fault is %v: %s", fault, fault.Why)
	}
}
