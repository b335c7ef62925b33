package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// line is what a program prints of a case.
type line struct {
	Index   string  `json:"index"`
	Blocks  int     `json:"blocks"`
	Holders int     `json:"holders"`
	Event   int     `json:"event_blocks"`
	What    string  `json:"what"`
	Rate    float64 `json:"blocks_per_s"`
	CPU     float64 `json:"cpu_ns_per_block"`
	Bytes   float64 `json:"bytes_per_unique_block"`
	Told    float64 `json:"told_bytes_per_unique_block"`
	P50     float64 `json:"p50_ns"`
	P99     float64 `json:"p99_ns"`
	Match   float64 `json:"mean_match"`
}

// readLines reads what the programs printed, round after round. The peer's lines of questions do
// not tell the size of events: it is that of the store before them.
func readLines(path string) (all []line, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	event := 0
	for d := json.NewDecoder(f); ; {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if l.What == "store" {
			event = l.Event
		}
		l.Event = event
		all = append(all, l)
	}
}

// figures are the values of one metric in several rounds.
type figures []float64

func (f figures) median() float64 {
	s := slices.Sorted(slices.Values(f))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// benchmarks are the metrics of go test -bench by benchmark and unit.
type benchmarks map[string]map[string]figures

// readBench reads what go test printed. The number of processors at the end of
// a name is left out.
func readBench(path string) (benchmarks, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := benchmarks{}
	for text := range strings.Lines(string(b)) {
		fields := strings.Fields(text)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		if all[name] == nil {
			all[name] = map[string]figures{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				all[name][fields[i+1]] = append(all[name][fields[i+1]], v)
			}
		}
	}
	return all, nil
}
