package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

// real is the simulated engine as a recipe that outlives the daemon.
func real(role string) *recipes.Recipe {
	r := recipe(role)
	r.BindToDaemon = false
	r.Env["MY_TOKEN"] = "{env.SOME_TOKEN}"
	return r
}

// keeping is a daemon whose engine outlives it.
func keeping(dir string) error {
	f := engine.NewFleet(engine.Options{
		Logs: dir, Run: dir, Self: os.Args[0], Adapters: []engine.Adapter{vllm.Adapter{}},
	})
	os.Unsetenv(childRole)
	w, err := f.Start(context.Background(), engine.Spec{Name: "w0", Recipe: real("sim")})
	if err != nil {
		return err
	}
	fmt.Println(w.Info().PID)
	for n := 0; ; n++ { // under load
		s, err := w.Generate(context.Background(), job(5000, 100))
		for err == nil {
			var d turn.Delta
			if d, err = s.Next(); d.End != nil {
				break
			}
		}
		if n == 0 {
			fmt.Println("served")
		}
	}
}

// crashed runs a daemon with one engine in a run folder and kills it. It
// returns the engine's run file.
func crashed(t *testing.T, dir string) keep.Record {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, dir)
	cmd.Env = append(os.Environ(), childRole+"=keeping")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	rec, err := keep.Read(keep.Path(dir, "w0"))
	if err != nil || fmt.Sprintln(rec.Engine.PID) != line {
		t.Fatalf("run file %+v, %v; the daemon says pid %s", rec, err, line)
	}
	t.Cleanup(func() { keep.End(rec, 0) })
	eventually(t, "it is noted as ready", func() bool {
		rec, err = keep.Read(keep.Path(dir, "w0"))
		return err == nil && rec.Ready
	})
	if _, err := said.ReadString('\n'); err != nil { // it holds something by then
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	return rec
}

func TestAdopted(t *testing.T) {
	dir := t.TempDir()
	rec := crashed(t, dir)
	r := newRig(t, engine.Options{Run: dir})
	began := time.Now()
	w, err := r.Start(t.Context(), engine.Spec{Name: "w0", Recipe: real("sim")})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("adopted in %v", time.Since(began))
	info := w.Info()
	if info.PID != rec.Engine.PID || !info.Adopted || !info.Started.Equal(rec.Started) {
		t.Fatalf("worker is %+v, want the engine of %+v", info, rec)
	}
	if got := r.told(); !slices.Equal(got, []string{"w0 adopted", "w0 ready"}) {
		t.Errorf("told %v", got)
	}
	if r.seen("w0", turn.KVStored) == 0 {
		t.Error("what it holds was not replayed")
	}
	if rec.Events == "" {
		t.Error("the run file does not say where it sends its events")
	}
	_, end, err := say(t, w, job(5000, 100))
	if err != nil || end.Usage.Cached != 96 {
		t.Errorf("the next turn ended as %+v, %v; want 96 tokens cached", end, err)
	}
	if err := r.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if rec.Engine.Lives() || len(keep.List(dir)) > 0 {
		t.Errorf("after stop the engine lives: %v; run files %v", rec.Engine.Lives(), keep.List(dir))
	}
}

// TestAdoptedKeepsSecrets: what an adopted engine writes is told without the
// secrets that it was given, as before.
func TestAdoptedKeepsSecrets(t *testing.T) {
	t.Setenv("SOME_TOKEN", "what was asked for")
	dir := t.TempDir()
	rec := crashed(t, dir)
	r := newRig(t, engine.Options{Run: dir, Logs: dir})
	w, err := r.Start(t.Context(), engine.Spec{Name: "w0", Recipe: real("sim")})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(rec.Log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	fmt.Fprintf(log, "I was given %s and %s\n", os.Getenv("SOME_TOKEN"), rec.Key)
	if got := w.LogTail(1); !slices.Equal(got, []string{"I was given … and …"}) {
		t.Errorf("its log: %q", got)
	}
}

// An adopted engine that ends is started again like any other.
func TestAdoptedEnds(t *testing.T) {
	dir := t.TempDir()
	rec := crashed(t, dir)
	r := newRig(t, engine.Options{Run: dir})
	w, err := r.Start(t.Context(), engine.Spec{Name: "w0", Recipe: real("sim")})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(rec.Engine.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is ready again", func() bool {
		i := w.Info()
		return i.State == turn.Ready && i.PID != rec.Engine.PID && !i.Adopted && i.Restarts == 1
	})
}

func TestNotAdopted(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.Spec, keep.Record)
		told   []string
	}{
		{"other flags", func(s *engine.Spec, _ keep.Record) { s.Flags = map[string]string{"max-num-seqs": "9"} }, []string{"w0 starting", "w0 ready"}},
		{"other environment", func(s *engine.Spec, _ keep.Record) { s.Recipe.Env["OTHER"] = "1" }, []string{"w0 starting", "w0 ready"}},
		{"bound now", func(s *engine.Spec, _ keep.Record) { s.Recipe.BindToDaemon = true }, []string{"w0 starting", "w0 ready"}},
		{"ended meanwhile", func(_ *engine.Spec, r keep.Record) {
			_ = syscall.Kill(r.Engine.PID, syscall.SIGKILL)
			for rec, err := r, error(nil); rec.Ended == "" && err == nil; {
				rec, err = keep.Read(keep.Path(filepath.Dir(r.Socket), "w0"))
			}
		}, []string{"w0 down", "w0 starting", "w0 ready"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			rec := crashed(t, dir)
			r := newRig(t, engine.Options{Run: dir})
			s := engine.Spec{Name: "w0", Recipe: real("sim")}
			c.change(&s, rec)
			w, err := r.Start(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if w.Info().PID == rec.Engine.PID || rec.Engine.Lives() {
				t.Errorf("pid %d, and the old %d lives: %v", w.Info().PID, rec.Engine.PID, rec.Engine.Lives())
			}
			if got := r.told(); !slices.Equal(got, c.told) {
				t.Errorf("told %v, want %v", got, c.told)
			}
		})
	}
}

func TestClear(t *testing.T) {
	dir := t.TempDir()
	rec := crashed(t, dir)
	r := newRig(t, engine.Options{Run: dir})
	if n := r.Clear("w0"); n != 0 || !rec.Engine.Lives() {
		t.Fatalf("cleared %d that shall be adopted", n)
	}
	if n := r.Clear("w1"); n != 1 || rec.Engine.Lives() || len(keep.List(dir)) > 0 {
		t.Fatalf("cleared %d, lives %v", n, rec.Engine.Lives())
	}
}

func TestKeptRestart(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, engine.Options{Run: dir})
	w, err := r.Start(t.Context(), engine.Spec{Recipe: real("sim")})
	if err != nil {
		t.Fatal(err)
	}
	before := w.Info().PID
	if rec, err := keep.Read(keep.Path(dir, "w0")); err != nil || !w.Info().Started.Equal(rec.Started) {
		t.Errorf("it says %v, and its run file %v: %v", w.Info().Started, rec.Started, err)
	}
	if err := r.Restart(t.Context(), "w0"); err != nil {
		t.Fatal(err)
	}
	if now := w.Info().PID; now == before || alive(before) {
		t.Fatalf("pid %d, then %d; the first one lives: %v", before, now, alive(before))
	}
}

func TestKeptNeverStarts(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, engine.Options{Run: dir})
	_, err := r.Start(t.Context(), engine.Spec{Recipe: real("fail")})
	if fault := new(turn.Fault); err == nil || !errors.As(err, &fault) || !strings.Contains(fault.Why, "no such block size") {
		t.Fatalf("error %v, want one with the log's lines", err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "w0*")); len(files) > 0 {
		t.Fatalf("left behind: %v", files)
	}
}
