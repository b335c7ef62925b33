package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	results := flag.String("results", "", "folder with dyn.jsonl, spike.jsonl and peer.jsonl")
	peer := flag.String("peer", "a peer", "name of the peer in peer.jsonl")
	gotest := flag.String("go", "", "output of go test -bench")
	commit := flag.String("commit", "", "commit that was measured")
	hang := flag.String("fin", "", "dyn to measure a client's FIN with, instead of making the page")
	alone := flag.String("ids", "", "address of an engine to measure the cost of ids with, instead of making the page")
	model := flag.String("model", "", "model folder for -fin and -ids")
	flag.Parse()
	if *alone != "" {
		if err := ids(*alone, *model, 200); err != nil {
			fmt.Fprintln(os.Stderr, "bench: ids:", err)
			os.Exit(1)
		}
		return
	}
	if *hang != "" {
		if err := fin(*hang, *model, 50); err != nil {
			fmt.Fprintln(os.Stderr, "bench: fin:", err)
			os.Exit(1)
		}
		return
	}
	p := page{w: bufio.NewWriter(os.Stdout)}
	p.dyn = read(filepath.Join(*results, "dyn.jsonl"))
	p.spike = read(filepath.Join(*results, "spike.jsonl"))
	p.peer, p.name = read(filepath.Join(*results, "peer.jsonl")), *peer
	p.head(*commit)
	p.program()
	p.rooms(*gotest)
	if err := p.w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// record is one line of the load generator.
type record map[string]any

// num digs a number out of a record, by a path of keys.
func (r record) num(path ...string) (float64, bool) {
	var v any = map[string]any(r)
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return 0, false
		}
		v = m[key]
	}
	f, ok := v.(float64)
	return f, ok
}

func (r record) str(key string) string { s, _ := r[key].(string); return s }

// read reads JSON lines; a file that is absent has none.
func read(path string) (rs []record) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for {
		var r record
		if err := d.Decode(&r); err != nil {
			if err != io.EOF {
				fmt.Fprintln(os.Stderr, "bench:", path, err)
			}
			return rs
		}
		rs = append(rs, r)
	}
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
