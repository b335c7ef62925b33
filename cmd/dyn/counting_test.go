package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/install"
)

// A stage that counts is one line: drawn anew on a terminal, printed once when
// it is over elsewhere.
func TestCounting(t *testing.T) {
	tell := func(json bool) (string, string) {
		var out, err bytes.Buffer
		s := &steps{out: &out, err: &err, json: json, began: time.Now()}
		s.count("fetch", "m.gguf", install.Progress{Bytes: 1e6, OfBytes: 3e6})
		s.count("fetch", "m.gguf", install.Progress{Bytes: 2e6, OfBytes: 3e6})
		s.count("check", "", install.Progress{Packages: 1, OfPackages: 2})
		s.stage("start", "w0", "here")
		return out.String(), err.String()
	}
	t.Setenv("DYN_FORCE_TTY", "")
	if _, got := tell(false); strings.Count(got, "\n") != 3 || strings.Contains(got, "1 MB") || !strings.Contains(got, "m.gguf  2 MB of 3 MB") ||
		!strings.Contains(got, "1 of 2 packages") || !strings.Contains(got, "w0  here") {
		t.Errorf("plain:\n%s", got)
	}
	t.Setenv("DYN_FORCE_TTY", "40")
	t.Setenv("TERM", "xterm")
	_, got := tell(false)
	if strings.Count(got, "\n") != 3 || strings.Count(got, "\r\x1b[K") != 3 || !strings.Contains(got, "1 MB of 3 MB") {
		t.Errorf("on a terminal:\n%q", got)
	}
	for line := range strings.Lines(got) {
		for _, drawn := range strings.Split(line, "\r\x1b[K") {
			if n := len([]rune(strings.TrimRight(drawn, "\n"))); n > 40 {
				t.Errorf("%d columns: %q", n, drawn)
			}
		}
	}
	t.Setenv("TERM", "dumb")
	if _, got := tell(false); strings.Contains(got, "\x1b") {
		t.Errorf("on a dumb terminal: %q", got)
	}
	if out, err := tell(true); err != "" || strings.Count(out, "\n") != 4 || !strings.Contains(out, `"bytes":2000000`) || !strings.Contains(out, `"bytes":1000000,"bytes_total":3000000`) {
		t.Errorf("JSON: %q, %q", out, err)
	}
}
