package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// page writes the document.
type page struct {
	w                *bufio.Writer
	dyn, spike, peer []record
	name             string // of the peer; "" without one
}

func (p *page) put(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p *page) table(head ...string) {
	p.put("| %s |\n|%s", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
}

func (p *page) row(cells ...string) { p.put("| %s |", strings.Join(cells, " | ")) }

func (p *page) head(commit string) {
	p.put("# Measured\n")
	p.put("Written by `make bench`, %s, commit `%s`. %s.", time.Now().UTC().Format(time.DateOnly), commit, machine())
	p.put("All figures are of one run, one program after the other; load generator, frontend and engines share the cores. Only ratios within")
	p.put("a table should be read across machines. The engines of the first part answer at once, so that what is left is the frontend.\n")
	p.put("*Floor* is a frontend of 150 lines that tokenises, without sessions, routing, parsing and ledger. *Peer* is %s: it forwards", p.peerName())
	p.put("text, so it does not tokenise. A figure in bold misses its bar; bars hold for a machine that does nothing else, and were set on one where the floor")
	p.put("did 4,200 turns a second, 37,000 paced tokens and 205,000 in bursts: how far this machine is below that, the floor's column says.\n")
}

func (p *page) peerName() string {
	if len(p.peer) == 0 {
		return "absent in this run"
	}
	return p.name
}

// of picks records of one test.
func of(rs []record, test string) (out []record) {
	for _, r := range rs {
		if r.str("test") == test {
			out = append(out, r)
		}
	}
	return out
}

// twin finds the record of the same case in another's, nil when there is none.
func twin(others []record, r record) record {
	for _, s := range others {
		same := true
		for _, key := range []string{"test", "note", "size", "conc", "stream", "max_tokens", "fresh", "warm", "newconn"} {
			same = same && fmt.Sprint(s[key]) == fmt.Sprint(r[key])
		}
		if same {
			return s
		}
	}
	return nil
}

// bar is what a figure has to reach: at most, or at least when more is set.
// The zero value is none.
type bar struct {
	at   float64
	more bool
}

func (b bar) missed(v float64) bool {
	return b.at > 0 && (b.more && v < b.at || !b.more && v > b.at)
}

// against prints dyn's figure, the floor's, the peer's and the bar.
func (p *page) against(r record, b bar, path ...string) []string {
	text, bound := "–", "–"
	if got, ok := r.num(path...); ok {
		text = figure(got)
		if b.missed(got) {
			text = "**" + text + "**"
		}
	}
	if b.at > 0 {
		bound = figure(b.at)
	}
	return []string{text, other(p.spike, r, path), other(p.peer, r, path), bound}
}

// other prints somebody else's figure of the same case.
func other(rs []record, r record, path []string) string {
	if v, ok := twin(rs, r).num(path...); ok {
		return figure(v)
	}
	return "–"
}

func figure(f float64) string {
	switch {
	case f >= 1000:
		return fmt.Sprintf("%.0f", f)
	case f >= 100:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

func (p *page) program() {
	if len(p.dyn) == 0 {
		p.put("The whole program was not measured: the load generator was not there.\n")
		return
	}
	p.put("## Added time to first token, one client, ms (p50)\n")
	p.table("tokens", "case", "dyn", "floor", "peer", "bar", "dyn p99")
	for _, r := range of(p.dyn, "ttft") {
		size, _ := r.num("size")
		p99, _ := r.num("added_ms", "p99")
		note := r.str("note")
		if note == "" {
			note = "distinct prompts"
		}
		p.row(slices.Concat([]string{figure(size), note}, p.against(r, ttftBar(r), "added_ms", "p50"), []string{figure(p99)})...)
	}
	p.put("\nWhat the engine itself needs for a request is in these figures and is no frontend's. This one parses nothing: it searches bodies for their\n" +
		"fields, and how long that takes depends on how a body is made. The row *engine alone* below is what a request of dyn's costs it above the one that\n" +
		"times are compared with; where that is less than nothing, dyn's own share of a row at 60k is larger by as much. The floor's requests cost this engine\n" +
		"some 0.3 ms more than dyn's at 60k; those that the peer forwards cost what the compared ones do.")
	p.put("\n## Turns per second, 2k-token prompts, one token out\n")
	p.table("clients", "dyn", "floor", "peer", "bar", "CPU ms/turn: dyn", "floor", "peer", "errors")
	for _, r := range of(p.dyn, "rps") {
		conc, _ := r.num("conc")
		errs, _ := r.num("errors")
		b := bar{}
		if conc >= 64 {
			b = bar{at: 4000, more: true}
		}
		p.row(slices.Concat([]string{fmt.Sprint(conc)}, p.against(r, b, "rps"), p.against(r, bar{}, "cpu_ms_per_req_router")[:3], []string{fmt.Sprint(errs)})...)
	}
	p.streams()
	p.rest()
}

// ttftBar is the bar of a row of the first table: with everything switched
// on, for a first turn and for a new last message on a long prefix.
func ttftBar(r record) bar {
	if !strings.HasPrefix(r.str("note"), "client without delayed ACK") {
		return bar{}
	}
	if strings.Contains(r.str("note"), "new last message") {
		return bar{at: 1}
	}
	size, _ := r.num("size")
	return bar{at: map[float64]float64{2000: 0.6, 20000: 1.8, 60000: 4}[size]}
}

func (p *page) streams() {
	p.put("\n## Streams\n")
	p.put("Tokens per CPU second of the frontend; paced is one token per 10 ms and stream.\n")
	p.table("case", "streams", "tokens", "dyn", "floor", "peer", "bar", "gap p50 ms", "gap p99 ms", "errors")
	for _, r := range of(p.dyn, "stream") {
		conc, _ := r.num("conc")
		chunks, _ := r.num("chunks")
		mid, _ := r.num("gap_ms", "p50")
		far, _ := r.num("gap_ms", "p99")
		errs, _ := r.num("errors")
		b := bar{}
		switch {
		case r.str("note") == "burst":
			b = bar{at: 220000, more: true}
		case conc == 64:
			b = bar{at: 40000, more: true}
		}
		p.row(slices.Concat([]string{r.str("note"), fmt.Sprint(conc), figure(chunks)}, p.against(r, b, "chunks_per_cpu_s_router"),
			[]string{figure(mid), figure(far), fmt.Sprint(errs)})...)
	}
}

// rest is what has no floor to compare with.
func (p *page) rest() {
	p.put("\n## Start, memory, faults\n")
	p.table("what", "figure")
	for _, r := range of(p.dyn, "startup") {
		ms, _ := r.num("ms")
		p.row("first answer after the start, engines up, ms", figure(ms))
	}
	for _, r := range of(p.dyn, "rss") {
		mib, _ := r.num("proc", "router", "rss_mib")
		p.row("resident MiB, "+r.str("note"), figure(mib))
	}
	for _, r := range of(p.dyn, "fill") {
		mib, _ := r.num("proc", "router", "peak_rss_mib")
		n, _ := r.num("n")
		p.row(fmt.Sprintf("peak resident MiB, %.0f distinct 2k prompts", n), figure(mib))
	}
	for _, r := range of(p.dyn, "fin") {
		mid, _ := r.num("p50_ms")
		far, _ := r.num("max_ms")
		n, _ := r.num("n")
		p.row("from a client's FIN to the abort at the engine, in "+r.str("note"), fmt.Sprintf("p50 %s ms, max %s ms of %.0f", figure(mid), figure(far), n))
	}
	for _, r := range of(p.dyn, "small") {
		v, _ := r.num("value")
		p.row(r.str("note"), figure(v))
	}
	for _, r := range of(p.dyn, "fault-kill-worker") {
		p.row("engine killed under 16 streams", fmt.Sprintf("streams %v, next 20 turns %v", counts(r["streams"]), counts(r["after_kill_20_requests"])))
	}
	for _, r := range of(p.dyn, "fault-all-down") {
		if ms, ok := r.num("ms"); ok {
			status, _ := r.num("status")
			p.row("turn while all engines are down", fmt.Sprintf("%.0f after %s ms", status, figure(ms)))
		}
	}
	for _, r := range of(p.dyn, "fault-slow-client") {
		before, _ := r.num("proc_during", "router", "rss_before_mib")
		peak, _ := r.num("proc_during", "router", "peak_rss_mib")
		p.row("four clients that stop reading 200k tokens", fmt.Sprintf("%+.1f MiB, engine afterwards %v", peak-before, counts(r["engine_after_disconnect"])))
	}
	p.put("\n## Bad input\n")
	p.table("case", "status", "ms")
	for _, r := range of(p.dyn, "bad") {
		status, _ := r.num("status")
		ms, _ := r.num("ms")
		p.row(r.str("case"), fmt.Sprintf("%.0f", status), figure(ms))
	}
}

// counts prints a map of counts in the order of its keys.
func counts(v any) string {
	m, _ := v.(map[string]any)
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %v", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

// rooms prints the Go benchmarks.
func (p *page) rooms(path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	p.put("\n## Rooms\n\n`go test -bench . -benchmem ./...`\n")
	p.put("```text")
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "Benchmark") || strings.HasPrefix(line, "pkg:") {
			p.put("%s", strings.TrimRight(line, "\n"))
		}
	}
	p.put("```")
}
