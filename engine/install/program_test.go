package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		bad  string
	}{
		{"vllm", []string{"vllm"}, ""},
		{"  docker run  --rm x ", []string{"docker", "run", "--rm", "x"}, ""},
		{`sh -c 'a "b"' "c \"d\"" e\ f ''`, []string{"sh", "-c", `a "b"`, `c "d"`, "e f", ""}, ""},
		{`a$HOME '\n'`, []string{"a$HOME", `\n`}, ""},
		{`a "b`, nil, "no end"},
		{`a \`, nil, "at the end"},
		{"  ", nil, "no program"},
		{"'' a", nil, "no program"},
	} {
		got, err := Words(c.in)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: %v, want %q", c.in, err, c.bad)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q = %q (%v), want %q", c.in, got, err, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	path := t.TempDir()
	t.Setenv("PATH", path)
	s := Store{filepath.Join(t.TempDir(), "engines")}
	resolve := func(engine, command string) string {
		p, err := s.Resolve(engine, command)
		if err != nil {
			return err.Error()
		}
		return string(p.From) + " " + strings.Join(p.Args, " ")
	}
	if _, err := s.Resolve("vllm", ""); !errors.Is(err, ErrMissing) || faultOf(t, err).Try != "dyn engine install vllm" {
		t.Errorf("nothing: %v", err)
	}
	if _, err := s.Resolve("mine", ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if got := resolve("mine", "/opt/mine --x"); got != "setting /opt/mine --x" {
		t.Errorf("one of the user's own: %s", got)
	}
	if got := resolve("vllm", `docker "run`); !strings.Contains(got, "engine.vllm: a quote") {
		t.Errorf("a bad command: %s", got)
	}
	for _, name := range []string{"vllm", "llama-server"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := resolve("vllm", ""), "path "+filepath.Join(path, "vllm"); got != want {
		t.Errorf("on PATH: %s", got)
	}
	installed(t, s, "vllm", "1", "vllm")
	installed(t, s, "llamacpp", "1", "llama-server")
	if got, want := resolve("vllm", ""), "installed "+filepath.Join(s.Dir, "vllm/1/vllm"); got != want {
		t.Errorf("installed: %s", got)
	}
	if got, want := resolve("llamacpp", ""), "path "+filepath.Join(path, "llama-server"); got != want {
		t.Errorf("of llama.cpp the one on PATH goes first: %s", got)
	}
	if got := resolve("vllm", "docker run --rm image"); got != "setting docker run --rm image" {
		t.Errorf("the user's own goes first: %s", got)
	}
	all, err := s.Find("vllm", "")
	if err != nil || len(all) != 2 || all[1].From != Path {
		t.Errorf("all of them: %+v, %v", all, err)
	}
}

// What is no manifest is no installation.
func TestList(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "[a]*")} // a name, not a pattern
	installed(t, s, "vllm", "1", "a")
	for name, text := range map[string]string{"half": "{", "empty": "{}", "none": ""} {
		dir := filepath.Join(s.Dir, "vllm", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, manifest), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("listed %+v, %v", all, err)
	}
}
