package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentinfer/dyn/engine/install/shelf"
)

// index serves packages until the script ends, and lets pip know of nothing
// else: index good. There are those of llama.cpp, with a library of that kind,
// and a-model 1.2 with a_model/m.gguf, which is no model. Environments get the
// pip that is there, where one is, since a new one takes seconds.
func index(ts *testscript.TestScript, _ bool, args []string) {
	s := shelf.Shelf{Dir: ts.MkAbs("shelf")}
	ts.Check(os.MkdirAll(s.Dir, 0o755))
	ts.Check(s.AddLlama(args[0]))
	ts.Check(s.Add("a-model", "1.2", shelf.File{Path: "a_model/m.gguf", Text: strings.Repeat("GGUF weights ", 1000)}))
	server := httptest.NewServer(s.Handler())
	ts.Defer(server.Close)
	ts.Setenv("PIP_INDEX_URL", server.URL+"/simple")
	ts.Setenv("PIP_CONFIG_FILE", os.DevNull)
	ts.Setenv("PIP_FIND_LINKS", "")
	ts.Setenv("PIP_RETRIES", "1")
	python, err := exec.LookPath("python3")
	ts.Check(err)
	if exec.Command(python, "-m", "pip", "--version").Run() == nil {
		script := fmt.Sprintf("#!/bin/sh\n[ \"$2\" = venv ] && exec %s -m venv --without-pip --system-site-packages \"$3\"\nexec %[1]s \"$@\"\n", python)
		ts.Check(os.MkdirAll(ts.MkAbs("bin"), 0o755))
		ts.Check(os.WriteFile(ts.MkAbs("bin/python3"), []byte(script), 0o755))
		ts.Setenv("PATH", ts.MkAbs("bin")+string(filepath.ListSeparator)+ts.Getenv("PATH"))
	}
}

// condition is what scripts ask: caninstall is whether engines can be
// installed here. uv is left out: it keeps what it fetches in a cache.
func condition(name string) (bool, error) {
	if name != "caninstall" {
		return false, fmt.Errorf("no condition %q", name)
	}
	if _, err := exec.LookPath("uv"); err == nil || testing.Short() {
		return false, nil
	}
	return exec.Command("python3", "-c", "import venv, ensurepip").Run() == nil, nil
}
