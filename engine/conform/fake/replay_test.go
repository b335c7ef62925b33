package fake_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/internal/fixtures"
)

// Every recording of llama-server is an answer that can be parsed, and what
// is in it comes back through a replay in writes of any size.
func TestLlama(t *testing.T) {
	dir := fixtures.Dir(t, "engines/llamacpp")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	n := 0
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		for _, e := range fake.Llama(t, dir, name) {
			if e.Status == 0 {
				continue
			}
			n++
			r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(e.Response)), nil)
			if err != nil || r.StatusCode != e.Status {
				t.Fatalf("%s: %v", name, err)
			}
			want, _ := io.ReadAll(r.Body)
			got, err := http.Get(fake.Replay(t, 7, fake.Same(e.Response)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			body, _ := io.ReadAll(got.Body)
			got.Body.Close()
			if !bytes.Equal(body, want) || len(want) == 0 && !bytes.HasSuffix(e.Response, []byte("\r\n\r\n")) {
				t.Errorf("%s: %d bytes, want %d", name, len(body), len(want))
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d exchanges in %d files", n, len(files))
	}
}

func TestVLLM(t *testing.T) {
	dir := fixtures.Dir(t, "engines/vllm")
	all := fake.VLLM(t, dir)
	e, ok := all["completion-ids-stream"]
	if !ok || e.Status != 200 || e.Path != "/v1/completions" || !bytes.HasPrefix(e.Body, []byte("{")) {
		t.Errorf("of %d recordings one is %+v", len(all), e)
	}
	if _, err := os.Stat(filepath.Join(dir, "http.jsonl")); err != nil || len(all) < 100 {
		t.Errorf("%d recordings, %v", len(all), err)
	}
}
