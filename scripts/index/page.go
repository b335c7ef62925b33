package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// page writes the document.
type page struct {
	w     io.Writer
	lines []line
	bench benchmarks
	peer  string
}

func write(w io.Writer, lines, bench, peer, commit string) (err error) {
	p := page{w: w, peer: peer}
	if p.bench, err = readBench(bench); err != nil {
		return err
	}
	if p.lines, err = readLines(lines); err != nil {
		return err
	}
	p.put("# The index, measured\n")
	p.put("Written by `make bench-index`, %s, commit `%s`. %s.", time.Now().UTC().Format(time.DateOnly), commit, machine())
	p.put("Medians of the rounds of one run, with the least and the most where they differ. A figure that misses its bar is bold, and so is the")
	p.put("one that loses where two are side by side. Times are this machine's; ratios within a table are what can be carried elsewhere.\n")
	p.bars()
	p.busy()
	p.beside()
	return nil
}

func (p *page) put(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p *page) table(head ...string) {
	p.put("| %s |\n|%s", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
}

func (p *page) row(cells ...string) { p.put("| %s |", strings.Join(cells, " | ")) }

// bar is a figure that has one, or none where at is 0.
type bar struct {
	what, bench, unit string
	at                float64
	more              bool // at least, not at most
}

var bars = []bar{
	{"lookup of 2,048 blocks, the answer for all 64 workers, ns, p50", "Overlap/blocks=2048", "p50-ns", 2000, false},
	{"the same, p99", "Overlap/blocks=2048", "p99-ns", 0, false},
	{"the same of which a random part is known, p50", "Overlap/blocks=2048/partial", "p50-ns", 0, false},
	{"session's next turn, ns, p50", "Overlap/blocks=2048/session", "p50-ns", 700, false},
	{"the same, p99", "Overlap/blocks=2048/session", "p99-ns", 0, false},
	{"stored, keys given, one core, M blocks/s", "Stored/holders=1", "Mblocks/s", 7.5, true},
	{"the same, eight holders each", "Stored/holders=8", "Mblocks/s", 0, false},
	{"stored, 64 token ids a block hashed, one core, M blocks/s", "StoredTokens", "Mblocks/s", 5, true},
	{"1,000 workers × 16,384 blocks, filled, M blocks/s", "ThousandWorkers", "Mblocks/s", 0, false},
	{"the same, bytes for a distinct block", "ThousandWorkers", "B/block", 90, false},
	{"bytes for a distinct block, one holder, tables full", "Bytes/holders=1", "full-B/block", 45, false},
	{"the same, at the worst", "Bytes/holders=1", "worst-B/block", 90, false},
	{"two holders, tables full", "Bytes/holders=2", "full-B/block", 45, false},
	{"the same, at the worst", "Bytes/holders=2", "worst-B/block", 90, false},
	{"eight holders, tables full", "Bytes/holders=8", "full-B/block", 45, false},
	{"the same, at the worst", "Bytes/holders=8", "worst-B/block", 90, false},
	{"64 holders, tables full", "Bytes/holders=64", "full-B/block", 45, false},
	{"the same, at the worst", "Bytes/holders=64", "worst-B/block", 90, false},
	{"64 holders, each to a depth of its own, tables full", "Bytes/depths", "full-B/block", 45, false},
	{"the same, at the worst", "Bytes/depths", "worst-B/block", 90, false},
	{"forks of 20 blocks behind 128 shared ones, tables full", "Bytes/forks", "full-B/block", 0, false},
	{"the same, at the worst", "Bytes/forks", "worst-B/block", 90, false},
	{"names of each worker's own: bytes more for a holder, its table full", "OwnNames", "full-B/holder", 24, false},
	{"the same, at the worst", "OwnNames", "worst-B/holder", 0, false},
}

func (p *page) bars() {
	p.put("## Bars\n")
	p.put("`go test -bench '%s' ./cache`; shared names of engines, except where it says so.\n", "Overlap|Stored|ThousandWorkers|Bytes|OwnNames")
	p.table("what", "bar", "measured", "benchmark")
	for _, b := range bars {
		f := p.bench[b.bench][b.unit]
		bound := "–"
		if b.at > 0 {
			bound = map[bool]string{true: "≥ ", false: "≤ "}[b.more] + figure(b.at)
		}
		p.row(b.what, bound, strong(f.text(), len(f) > 0 && b.at > 0 && (b.more && f.median() < b.at || !b.more && f.median() > b.at)), "`"+b.bench+"`")
	}
	one, two := p.bench["Overlap/readers=1"]["ns/op"], p.bench["Overlap/readers=2"]["ns/op"]
	var times figures
	for i := range min(len(one), len(two)) {
		times = append(times, one[i]/two[i])
	}
	p.row("two readers on two cores, lookups a second of one's, times", "–", times.text(), "`Overlap/readers`")
}

// busy is what readers see while the index grows.
func (p *page) busy() {
	p.put("\n## While it is written\n")
	p.put("One reader and one writer on two cores. The writer works off a queue of events that makes 1 Mi blocks 4 Mi, with all tables growing; the")
	p.put("time ends when the queue is drained. A block operation is a block asked for or stored. *Beside* is the same with the writer at another")
	p.put("index: what the machine takes from a reader without the index having a part in it. Readers take no lock and wait for nobody")
	p.put("(`TestReadersWaitForNobody` asks while the writer is held in the midst of its work), so a question is late only when the machine is.\n")
	p.table("", "questions/s", "M block operations/s", "p50 ns", "p99 ns", "p99.9 ns", "longest ns", "over 1 ms, of a million")
	for _, where := range []string{"here", "beside"} {
		b := p.bench["WhileStoring/"+where]
		p.row(where, b["queries/s"].text(), b["Mblockops/s"].text(), b["p50-ns"].text(), b["p99-ns"].text(), b["p99.9-ns"].text(), b["most-ns"].text(), b["over-1ms-ppm"].text())
	}
}

// text is the median, and the least and the most of several.
func (f figures) text() string {
	if len(f) == 0 {
		return "–"
	}
	least, most := f[0], f[0]
	for _, v := range f {
		least, most = min(least, v), max(most, v)
	}
	if figure(least) == figure(most) {
		return figure(least)
	}
	return fmt.Sprintf("%s (%s–%s)", figure(f.median()), figure(least), figure(most))
}

func figure(f float64) string {
	switch {
	case f >= 100 || f == 0:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

func strong(text string, is bool) string {
	if is {
		return "**" + text + "**"
	}
	return text
}

// machine says what was measured on.
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
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
