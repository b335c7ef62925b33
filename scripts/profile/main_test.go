package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"runtime/pprof"
	"testing"
)

// A profile of this program keeps the names of its functions and no path.
func TestClean(t *testing.T) {
	var in, out bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&in, 0); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil || !bytes.Contains(unzipped(t, in.Bytes()), []byte(program)) {
		t.Fatalf("the profile does not tell the path %s from the start, err = %v", program, err)
	}
	if err := clean(&in, &out); err != nil {
		t.Fatal(err)
	}
	b := unzipped(t, out.Bytes())
	if bytes.Contains(b, []byte(program)) || !bytes.Contains(b, []byte("scripts/profile.TestClean")) {
		t.Errorf("the profile is now %q", b)
	}
	again, err := withoutPaths(b)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("cleaned again it changes, err = %v", err)
	}
	for n := range b {
		withoutPaths(b[:n]) // no panic
	}
}

// What is no profile is an error.
func TestNoProfile(t *testing.T) {
	if err := clean(bytes.NewReader([]byte("no profile")), io.Discard); err == nil {
		t.Error("text passed")
	}
	for _, b := range [][]byte{{0x32, 9}, {0x32}, {0x35, 1, 2, 3, 4}, {0x80}} {
		if out, err := withoutPaths(b); err == nil {
			t.Errorf("% x became % x", b, out)
		}
	}
}

func unzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}
