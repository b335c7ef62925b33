package prompt

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
)

// fixture reads a file of the fixtures, unpacked, or skips the test where
// the fixtures are not there.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures(t), name))
	if os.IsNotExist(err) {
		t.Skipf("fixture %s is not there", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".gz" {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return data
}

// fixtures is the folder of fixtures: DYN_FIXTURES, else beside the
// repository.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		at, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; ; at = filepath.Dir(at) {
			if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
				break
			}
			if at == filepath.Dir(at) {
				t.Fatal("no go.mod above the package")
			}
		}
		dir = filepath.Join(at, "..", "shared", "fixtures")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no fixtures at %s; set DYN_FIXTURES to run this test", dir)
	}
	return dir
}

// modelFolder is a published tokenizer as a model folder; extra names further
// files with their content.
func modelFolder(t testing.TB, name string, extra map[string]string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, file := range []string{"tokenizer.json", "tokenizer_config.json"} {
		fsys[file] = &fstest.MapFile{Data: fixture(t, filepath.Join("tokenizers", name, file+".gz"))}
	}
	for file, text := range extra {
		fsys[file] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

var qwen3Once struct {
	sync.Once
	m   *Model
	err error
}

// qwen3 is Qwen3's model, opened once.
func qwen3(t testing.TB) *Model {
	t.Helper()
	fsys := modelFolder(t, "qwen3", map[string]string{
		"config.json":            `{"max_position_embeddings": 40960, "vocab_size": 151936}`,
		"generation_config.json": `{"eos_token_id": [151645, 151643]}`,
	})
	qwen3Once.Do(func() { qwen3Once.m, qwen3Once.err = OpenFS(fsys, Options{}) })
	if qwen3Once.err != nil {
		t.Fatal(qwen3Once.err)
	}
	return qwen3Once.m
}

// unmarshal reads JSON or ends the test.
func unmarshal(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
