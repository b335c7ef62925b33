package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/agentinfer/dyn/scripts/page"
)

// write puts the table in the page, in place of the one before.
func (s *sheet) write(path, commit string) error {
	return page.Put(path, "make engines", s.table(commit))
}

// table is the table as Markdown.
func (s *sheet) table(commit string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Written by `make engines` on %s at commit `%s`, in %s; not by hand. %s.\n", time.Now().UTC().Format(time.DateOnly),
		commit, s.took.Round(time.Second), machine())
	for _, v := range s.versions {
		fmt.Fprintf(&b, "%s.\n", v)
	}
	last := "none"
	for _, r := range s.rows {
		if r.engine != last {
			title := "dyn"
			if k := kindOf(r.engine); k != nil {
				title = k.title
			}
			fmt.Fprintf(&b, "\n### %s\n\n| what | seen | |\n|---|---|---|\n", title)
			last = r.engine
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.what), cell(r.seen), r.state)
	}
	return b.String()
}

// cell is a text that does not break its row.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", "").Replace(text)
}

// machine says what was run on.
func machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	load := "unknown"
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(b), " ")
	}
	return fmt.Sprintf("%s, %d cores, no GPU, %s/%s, load at the end %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, load)
}
