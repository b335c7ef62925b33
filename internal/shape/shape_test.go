package shape

import (
	"bytes"
	"go/format"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	longest    = 500 // lines of a file
	longestDoc = 60  // lines of a doc.go
)

func files(t *testing.T) []file {
	t.Helper()
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	all, err := walk(top)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("walked over %d files, want the repository", len(all))
	}
	return all
}

func TestFloors(t *testing.T) {
	for _, f := range files(t) {
		for _, fault := range floorFaults(f) {
			t.Error(fault)
		}
		if room(f.dir) == "" && !besides(f.dir) {
			t.Errorf("%s: belongs to no room", f.path)
		}
	}
}

func TestFences(t *testing.T) {
	for _, f := range files(t) {
		for _, fault := range fenceFaults(f) {
			t.Error(fault)
		}
	}
}

func TestLength(t *testing.T) {
	for _, f := range files(t) {
		if f.lines > longest && !f.made {
			t.Errorf("%s: %d lines, want at most %d", f.path, f.lines, longest)
		}
	}
}

func TestDoc(t *testing.T) {
	docs := map[string]int{}
	for _, f := range files(t) {
		if _, ok := docs[f.dir]; !ok && !f.test {
			docs[f.dir] = 0
		}
		if path.Base(f.path) == "doc.go" {
			docs[f.dir] = f.lines
		}
	}
	for dir, lines := range docs {
		switch {
		case lines == 0:
			t.Errorf("%s: has no doc.go", dir)
		case lines > longestDoc:
			t.Errorf("%s/doc.go: %d lines, want at most %d", dir, lines, longestDoc)
		}
	}
}

func TestNames(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "types", "misc", "base", "shared", "lib"}
	for _, f := range files(t) {
		if slices.Contains(empty, f.name) {
			t.Errorf("%s: package %s says nothing", f.path, f.name)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, f := range files(t) {
		want, err := format.Source(f.text)
		if err != nil {
			t.Errorf("%s: %v", f.path, err)
		} else if !bytes.Equal(want, f.text) {
			t.Errorf("%s: gofmt would change it", f.path)
		}
	}
}

// marks are words of unfinished work. They are put together here so that this
// file holds none.
var marks = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX", "(?i:not imple" + "mented)", "(?i:for n" + "ow)"}, "|") + `)\b`)

func TestMarks(t *testing.T) {
	for _, f := range files(t) {
		for i, line := range strings.Split(string(f.text), "\n") {
			if m := marks.FindString(line); m != "" {
				t.Errorf("%s:%d: says %q", f.path, i+1, m)
			}
		}
	}
}

// machine finds absolute paths of somebody's home or work folder.
var machine = regexp.MustCompile(`["'\x60 =(]/(work|` + "ro" + `ot|farm|Users)/`)

func TestPaths(t *testing.T) {
	for _, f := range files(t) {
		for i, line := range strings.Split(string(f.text), "\n") {
			if m := machine.FindString(line); m != "" {
				t.Errorf("%s:%d: holds a path of a machine: %s", f.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}
