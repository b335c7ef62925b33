package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
)

func main() {
	run := flag.String("run", "", "a case to measure, log2 of the blocks:holders:blocks of an event")
	lines := flag.String("lines", "", "JSON lines of both programs")
	bench := flag.String("go", "", "output of go test -bench")
	peer := flag.String("peer", "", "the peer's name and version; empty where it was not measured")
	commit := flag.String("commit", "", "commit that was measured")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	var err error
	if *run != "" {
		err = try(out, *run)
	} else {
		err = write(out, *lines, *bench, *peer, *commit)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "index:", err)
		os.Exit(1)
	}
}
