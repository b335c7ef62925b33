package shape

import "testing"

// The rules themselves: each case is one import and whether it is a fault.
func TestFloorFaults(t *testing.T) {
	for _, c := range []struct {
		name, dir, imports string
		test, want         bool
	}{
		{"down", "server", module + "/route", false, false},
		{"up", "route", module + "/server", false, true},
		{"own floor", "route", module + "/engine", false, true},
		{"inside a room", "engine/vllm", module + "/engine", false, false},
		{"words", "cache", module + "/turn", false, false},
		{"a leaf of another room", "parsers", module + "/prompt/bpe", false, false},
		{"a leaf climbs", "prompt/bpe", module + "/prompt", false, true},
		{"a leaf takes a leaf", "prompt/bpe", module + "/ledger/snapshot", false, true},
		{"a leaf takes the words", "ledger/snapshot", module + "/turn", false, false},
		{"the words take a library", "turn", "github.com/zeebo/xxh3", false, true},
		{"the words take the standard library", "turn", "encoding/json", false, false},
		{"a test is free", "route", module + "/server", true, false},
		{"no room", "server", module + "/internal/shape", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := floorFaults(file{path: c.dir + "/x.go", dir: c.dir, test: c.test, imports: []string{c.imports}})
			if (len(got) > 0) != c.want {
				t.Fatalf("faults = %v, want some: %v", got, c.want)
			}
		})
	}
}

func TestFenceFaults(t *testing.T) {
	for _, c := range []struct {
		name, dir, imports string
		want               bool
	}{
		{"its room", "server/dialect", "github.com/valyala/fasthttp", false},
		{"a part of it elsewhere", "cmd/dyn", "github.com/valyala/fasthttp/fasthttputil", true},
		{"left out again", "ledger/snapshot", "database/sql", true},
		{"a family", "cmd/dyn", "github.com/charmbracelet/lipgloss", true},
		{"a like name", "cmd/dyn", "github.com/spf13/cobrax", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := fenceFaults(file{path: c.dir + "/x.go", dir: c.dir, imports: []string{c.imports}})
			if (len(got) > 0) != c.want {
				t.Fatalf("faults = %v, want some: %v", got, c.want)
			}
		})
	}
}
