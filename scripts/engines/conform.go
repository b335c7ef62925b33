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
		if n := parts["FAIL"]; len(n) > 0 {
			seen += "; failed: " + strings.Join(n, ", ")
		}
		if n := parts["SKIP"]; len(n) > 0 {
			seen += "; does not apply: " + strings.Join(n, ", ")
		}
		s.check(l.k.name, "the suite of all adapters, at "+w.Name, err == nil && len(parts["PASS"]) > 0, "%s", seen)
	}
	return nil
}
