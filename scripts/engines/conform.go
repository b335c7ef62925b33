package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// verdict is a line of go test about a part of the suite.
var verdict = regexp.MustCompile(`(?m)^ {8}--- (PASS|FAIL|SKIP): \S+/([^/ ]+) `)

// lastWords is how many lines a part that failed is told with.
const lastWords = 4

// wordsOf are the last lines that a part of the suite wrote, of what go test -v
// printed: from the line that says that it runs up to the next such line.
func wordsOf(out, part string) string {
	var lines []string
	own := false
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch name, runs := strings.CutPrefix(line, "=== RUN "); {
		case runs:
			_, name, _ = strings.Cut(strings.TrimSpace(name), "/")
			_, name, _ = strings.Cut(name, "/")
			own = strings.ReplaceAll(name, "_", " ") == part
		case strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- "):
			own = own && !strings.HasPrefix(line, "--- ")
		case own && line != "":
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "it says nothing"
	}
	return strings.Join(lines[max(len(lines)-lastWords, 0):], " ")
}

// conformance applies the suite of all adapters to both engines, one after the
// other.
func conformance(ctx context.Context, l *lab, s *sheet) error {
	test := filepath.Join(l.o.work, "conform.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", test, "./engine/conform")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the suite: %w: %s", err, tail(out))
	}
	ws, err := l.workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range ws {
		key, err := l.secret(w.Name)
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, test, "-test.v", "-test.run", "^TestReal$")
		cmd.Dir = "engine/conform"
		cmd.Env = append(os.Environ(), "DYN_ENGINES="+l.k.name+"="+w.URL+l.k.suite, "DYN_ENGINES_KEY="+key)
		out, err := cmd.CombinedOutput()
		parts := map[string][]string{}
		for _, m := range verdict.FindAllStringSubmatch(string(out), -1) {
			parts[m[1]] = append(parts[m[1]], strings.ReplaceAll(m[2], "_", " "))
		}
		if err := os.WriteFile(filepath.Join(l.dir, "conform-"+w.Name+".txt"), out, 0o600); err != nil {
			return err
		}
		seen := fmt.Sprintf("%d parts pass", len(parts["PASS"]))
		for _, part := range parts["FAIL"] {
			seen += fmt.Sprintf("; failed: %s (%s)", part, wordsOf(string(out), part))
		}
		if err != nil && len(parts["FAIL"]) == 0 {
			seen += fmt.Sprintf("; %v: %s", err, tail(out))
		}
		if n := parts["SKIP"]; len(n) > 0 {
			seen += "; does not apply: " + strings.Join(n, ", ")
		}
		s.check(l.k.name, "the suite of all adapters, at "+w.Name, err == nil && len(parts["PASS"]) > 0, "%s", seen)
	}
	return nil
}
