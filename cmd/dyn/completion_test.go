package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

// The scripts in completions/ are those that this program prints.
func TestCompletionsAreFresh(t *testing.T) {
	for _, s := range shells {
		var want bytes.Buffer
		if err := s.write(newRoot(&app{out: io.Discard, err: io.Discard}), &want); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("..", "..", "completions", s.file), want.Bytes())
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: make completions", path)
	}
}
