package main

import (
	"os"

	_ "github.com/agentinfer/dyn/tui/background" // before Bubble Tea asks the terminal
)

func main() {
	if hooked(os.Args[1:], os.Stdin) {
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
